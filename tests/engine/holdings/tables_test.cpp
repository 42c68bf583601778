// The tables of small models, a case each in tables/*.txt: the keys of a recipe, a rank, and after
// them every row.
#include <QDir>
#include <QFile>
#include <QTest>

#include "engine/holdings/parameters.h"
#include "engine/holdings/states.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const QString kTables = QStringLiteral(HEDDLE_SOURCE_DIR "/tests/engine/holdings/tables/");

constexpr const char* kTablesModel = R"(
[model]
dim = 16
n_layers = 1
n_heads = 2
ffn_dim = 32
vocab_size = 31
[data]
token_ids = "x"
seq_len = 16
[training]
local_batch = 4
)";

QString text_of(const std::vector<int64_t>& sizes) {
  QStringList all;
  for (const int64_t size : sizes) all << QString::number(size);
  return all.isEmpty() ? "1" : all.join('x');
}

QString text_of(recipe::Cut cut) {
  return cut == recipe::Cut::none ? "whole" : cut == recipe::Cut::rows ? "rows" : "columns";
}

QString text_of(holdings::Role role) {
  switch (role) {
    case holdings::Role::parameter:
      return "parameter";
    case holdings::Role::optimizer:
      return "optimizer";
    case holdings::Role::gradient_sum:
      return "sum";
    case holdings::Role::scale:
      return "scale";
    case holdings::Role::table:
      return "table";
  }
  return {};
}

QString row_of(const holdings::Parameter& parameter, const recipe::Mesh& mesh) {
  QStringList cells = {QString::fromStdString(parameter.name()).leftJustified(32),
                       text_of(parameter.shape).leftJustified(5),
                       text_of(parameter.cut).leftJustified(7),
                       text_of(parameter.local).leftJustified(5),
                       text_of(parameter.shard).leftJustified(5),
                       QString("stage %1").arg(parameter.stage)};
  if (const std::string group = mesh.name(parameter.shared_by); !group.empty())
    cells << "shared by " + QString::fromStdString(group);
  for (const std::string& group : parameter.summed_over)
    cells << "summed over " + QString::fromStdString(group);
  if (parameter.rule.weight_decay == 0) cells << "no decay";
  if (parameter.eight_bits) cells << "8 bits";
  if (parameter.head_dim > 0) cells << QString("heads of %1").arg(parameter.head_dim);
  if (!parameter.copy_of.empty()) cells << "copy of " + QString::fromStdString(parameter.copy_of);
  cells << QString::fromStdString(parameter.hugging_face_name);
  return cells.join("  ");
}

QString row_of(const holdings::State& state) {
  QString row = QString::fromStdString(state.name).leftJustified(44) +
                text_of(state.role).leftJustified(11) + text_of(state.shape).leftJustified(7) +
                QString("%1 bytes").arg(state.bytes(), 5);
  if (!state.stored) return row;
  const auto& [part, writes] = *state.stored;
  const holdings::Box& box = part.box;
  row += QString("  %1 rows %2 to %3, columns %4 to %5")
             .arg(writes ? "writes" : "reads ")
             .arg(box.row_begin)
             .arg(box.row_end)
             .arg(box.column_begin)
             .arg(box.column_end);
  if (part.name != state.name) row += " of " + QString::fromStdString(part.name);
  return row;
}

}  // namespace

class TablesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_row_is_as_written_data() {
    QTest::addColumn<QString>("path");
    for (const QFileInfo& file : QDir(kTables).entryInfoList({"*.txt"}))
      QTest::newRow(qPrintable(file.baseName())) << file.filePath();
  }
  void every_row_is_as_written() {
    QFETCH(QString, path);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    std::vector<std::string> keys;
    int64_t rank = 0;
    const QString head = text.section("\n\n", 0, 0).trimmed();
    for (const QString& line : head.split('\n')) {
      if (line.startsWith("set ")) keys.push_back(line.mid(4).toStdString());
      if (line.startsWith("rank ")) rank = line.mid(5).toInt();
    }
    const recipe::Parsed parsed = recipe::resolve(recipe::parse(kTablesModel, "tables.toml", keys));
    QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.faults[0].str().c_str());
    const recipe::Layout layout(parsed.recipe);
    QStringList rows = {head, "", "parameters"};
    for (const holdings::Parameter& parameter : holdings::parameters_of(parsed.recipe, layout))
      rows << row_of(parameter, layout.mesh());
    rows << "" << QString("states of rank %1").arg(rank);
    for (const holdings::State& state : holdings::states_of(parsed.recipe, layout, rank))
      rows << row_of(state);
    const QString found = rows.join('\n') + '\n';
    if (found != text) qWarning().noquote() << found;
    QVERIFY(found == text);
  }
};

HEDDLE_TEST(TablesTest)
#include "tables_test.moc"
