// The table of operators against LibTorch's schemas, and what happens to an operator without an
// entry.
#include "engine/graph/operators.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include "engine/graph/error_text.h"
#include "tests/support/test_class.h"
#include "toy.h"

using namespace heddle::graph;

namespace {

// The operator takes and makes what its two do.
void check_fused(const c10::FunctionSchema& schema, const Fuses& fuses) {
  const Op first = fuses.first, second = fuses.second;
  QVERIFY(first.has_entry() && second.has_entry());
  const auto &one = find_operator(first)->schema(), &other = find_operator(second)->schema();
  std::vector<c10::Argument> arguments = one.arguments();
  // For a sum without a factor.
  std::erase_if(arguments, [](const auto& argument) { return argument.kwarg_only(); });
  for (size_t i = 0; i < other.arguments().size(); ++i)
    if (i != fuses.argument && !other.arguments()[i].kwarg_only())
      arguments.push_back(other.arguments()[i]);
  // Arguments that the second does not need, such as a copy's type.
  for (const c10::Argument& argument : other.arguments()) {
    const auto own = schema.argumentIndexWithName(argument.name());
    if (!argument.kwarg_only() || !own) continue;
    const c10::Argument& told = schema.arguments()[*own];
    QVERIFY(*argument.type() == *c10::OptionalType::create(told.type()));
    arguments.push_back(told);
  }
  QCOMPARE(schema.arguments().size(), arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    QVERIFY(*schema.arguments()[i].type() == *arguments[i].type());
    QCOMPARE(schema.arguments()[i].alias_info() != nullptr, arguments[i].alias_info() != nullptr);
  }
  const size_t all = one.returns().size() + other.returns().size();
  QVERIFY(schema.returns().size() == all || schema.returns().size() == all - 1);
}

}  // namespace

class OperatorsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The linker takes in all of the kernels, but of the collectives only what is used.
  void initTestCase() { capture_toy(); }

  void every_entry_is_true_of_its_operator_data() {
    QTest::addColumn<QString>("name");
    for (const Op op : all_operators()) QTest::addRow("%s", op.text().c_str()) << op.text().c_str();
  }
  void every_entry_is_true_of_its_operator() {
    QFETCH(QString, name);
    const Op op = name.toStdString();
    QVERIFY(op.has_entry());
    const auto handle = find_operator(op);
    QVERIFY2(handle, "LibTorch knows no such operator");
    const c10::FunctionSchema& schema = handle->schema();

    const auto& returns = schema.returns();
    const bool shares =
        !returns.empty() && returns[0].alias_info() && !returns[0].alias_info()->isWrite();
    // The schemas of these do not tell.
    const bool untold =
        name == "aten._unsafe_view" || name == "heddle.wait" || name == "heddle.join";
    QCOMPARE(op->role == Role::view || op->role == Role::wait, shares || untold);

    QVERIFY(op->takes.size() <= returns.size());
    for (const auto& positions : op->takes)
      for (const size_t position : positions)
        QVERIFY(takes_tensors(schema.arguments().at(position)));
    const bool writes_first = !schema.arguments().empty() && schema.arguments()[0].alias_info() &&
                              schema.arguments()[0].alias_info()->isWrite();
    QVERIFY(op->sum == Sum::none || writes_first);
    if (op->merges) QVERIFY(schema.arguments()[0].type()->kind() == c10::TypeKind::ListType);
    const bool has_group = schema.argumentIndexWithName("group").has_value();
    QCOMPARE(op->role > Role::wait, has_group);
    QCOMPARE(op->flops == nullptr, op->rate_shape == nullptr);
    if (!op->fuses.first.empty()) check_fused(schema, op->fuses);
    QVERIFY(op->arithmetic == Arithmetic::product || op->flops);
    QVERIFY(op->unfused.kernels >= 1 && op->unfused.bytes >= 1);
    if (!op->rate_of.empty()) QVERIFY(Op(op->rate_of).has_entry());
  }

  void an_operator_without_an_entry_is_refused_at_capture() {
    register_trace_kernels();
    Recorder recorder;
    const at::Tensor x = recorder.input("x", {4}, at::kFloat);
    try {
      x.cosh();
    } catch (const c10::Error& error) {
      QVERIFY2(QString(error.what()).contains("aten.cosh is not in the table of operators"),
               error.what());
      return;
    }
    QFAIL("cosh was captured");
  }

  // Everything they need to know of an operator is in the table, so that a new one touches its
  // kernel's file alone.
  void passes_cost_and_executor_compare_no_names() {
    const QRegularExpression compares("\\bop\\s*(==|!=)\\s*\"");
    int files = 0;
    for (const char* folder : {"passes", "cost", "runtime"}) {
      const QDir sources(QString(HEDDLE_SOURCE_DIR) + "/engine/" + folder);
      for (const QString& name : sources.entryList({"*.cpp", "*.h"})) {
        QFile file(sources.filePath(name));
        QVERIFY(file.open(QFile::ReadOnly));
        ++files;
        QVERIFY2(!QString::fromUtf8(file.readAll()).contains(compares), qPrintable(name));
      }
    }
    QVERIFY(files > 50);
  }

  void names_are_one() {
    const Op op = "aten.add.Tensor";
    QVERIFY(op == Op(std::string("aten.add.Tensor")));
    QVERIFY(op == "aten.add.Tensor");
    QVERIFY(!(op == Op("aten.add.Scalar")));
    QVERIFY(!Op("aten.no_such_operator").has_entry());
    QVERIFY(Op().text().empty());
  }
};

HEDDLE_TEST(OperatorsTest)
#include "operators_test.moc"
