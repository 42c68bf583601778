#include "gui/views/compose/recipe_form.h"

#include <QHBoxLayout>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kLeftLabel = 58, kRightLabel = 82;

}  // namespace

RecipeForm::RecipeForm(RecipeDocument& document, QWidget* parent)
    : QWidget(parent), document_(document), column_(new QVBoxLayout(this)) {
  column_->setContentsMargins(16, 14, 16, 16);
  column_->setSpacing(8);
  const auto integer = [&](const char* key, int lowest, const QString& special = {}) {
    return integerField(document_, QLatin1String(key), lowest, special);
  };
  const auto number = [&](const char* key) { return numberField(document_, QLatin1String(key)); };

  beginSection(tr("Model"));
  addWide(tr("preset"), presetField(document_));
  addPair(tr("dim"), integer("model.dim", 1), tr("layers"), integer("model.n_layers", 1));
  addPair(tr("heads"), integer("model.n_heads", 1), tr("kv heads"),
          integer("model.n_kv_heads", 0, tr("all")));
  addPair(tr("ffn"), integer("model.ffn_dim", 1), tr("vocabulary"),
          integer("model.vocab_size", 0, tr("auto")));

  beginSection(tr("Data"));
  addWide(tr("text"), pathField(document_, QStringLiteral("data.text"), true,
                                tr("Text to train on"), tr("Text (*.txt *.jsonl);;All files (*)")));
  addWide(tr("tokenizer"), pathField(document_, QStringLiteral("data.tokenizer"), false,
                                     tr("Tokenizer"), tr("Tokenizer (*.json)")));
  addPair(tr("sequence"), integer("data.seq_len", 1), tr("seed"), integer("data.seed", 0));
  addWide(tr("held out"),
          pathField(document_, QStringLiteral("validation.text"), true, tr("Text to validate on"),
                    tr("Text (*.txt *.jsonl);;All files (*)")));
  addPair(tr("validate"), integer("validation.every", 0, tr("never")), tr("sample tokens"),
          integer("validation.tokens", 0, tr("none")));

  beginSection(tr("Training"));
  addPair(tr("steps"), integer("training.steps", 1), tr("batch a rank"),
          integer("training.local_batch", 1));
  addPair(tr("global"), integer("training.global_batch", 0, tr("auto")), tr("clip to norm"),
          number("training.max_norm"));
  addPair(tr("lr"), number("optimizer.lr"), tr("warm-up"), integer("schedule.warmup_steps", 0));
  addPair(
      tr("decay"),
      choiceField(document_, QStringLiteral("schedule.decay"), {"linear", "sqrt", "cosine", "none"},
                  {tr("linear"), tr("sqrt"), tr("cosine"), tr("none")}),
      tr("weight decay"), number("optimizer.weight_decay"));

  product_ = label({}, "mono");
  product_->setObjectName(QStringLiteral("product"));
  beginSection(tr("Parallelism"), product_);
  addPair(tr("dp_shard"), integer("parallelism.dp_shard", -1, tr("rest")), tr("dp_replicate"),
          integer("parallelism.dp_replicate", 1));
  addPair(tr("tp"), integer("parallelism.tp", 1), tr("pp"), integer("parallelism.pp", 1));
  addPair(tr("cp"), integer("parallelism.cp", 1), tr("ranks"), integer("hardware.ranks", 1));

  addPair(tr("schedule"),
          choiceField(document_, QStringLiteral("parallelism.pp_schedule"),
                      {"1f1b", "gpipe", "interleaved", "zero-bubble"},
                      {tr("1F1B"), tr("GPipe"), tr("interleaved"), tr("zero bubble")}),
          tr("micro-batches"), integer("parallelism.microbatches", 0, tr("as stages")));
  addWide(tr("context"),
          choiceField(document_, QStringLiteral("parallelism.cp_mode"),
                      {"allgather", "ring", "ulysses"},
                      {tr("gather keys and values"), tr("ring"), tr("Ulysses: exchange heads")}));

  meshNote_ = caption({});
  beginSection(tr("Device mesh"), meshNote_);
  mesh_ = new MeshView;
  column_->addWidget(mesh_);
  column_->addStretch(1);
  connect(&document_, &RecipeDocument::changed, this, &RecipeForm::refresh);
  refresh();
}

void RecipeForm::beginSection(const QString& title, QWidget* note) {
  if (grid_ != nullptr) column_->addSpacing(10);
  auto* head = new QHBoxLayout;
  head->addWidget(section(title));
  head->addStretch(1);
  if (note != nullptr) head->addWidget(note);
  column_->addLayout(head);
  grid_ = new QGridLayout;
  grid_->setHorizontalSpacing(8);
  grid_->setVerticalSpacing(8);
  grid_->setColumnMinimumWidth(0, kLeftLabel);
  grid_->setColumnMinimumWidth(2, kRightLabel);
  grid_->setColumnStretch(1, 1);
  grid_->setColumnStretch(3, 1);
  column_->addLayout(grid_);
}

void RecipeForm::addWide(const QString& name, KeyField* field) {
  const int row = grid_->rowCount();
  grid_->addWidget(fieldLabel(name, field->editor()), row, 0);
  grid_->addWidget(field->editor(), row, 1, 1, 3);
  field->editor()->setAccessibleName(name);
  addRow({field});
}

void RecipeForm::addPair(const QString& left, KeyField* leftField, const QString& right,
                         KeyField* rightField) {
  const int row = grid_->rowCount();
  grid_->addWidget(fieldLabel(left, leftField->editor()), row, 0);
  grid_->addWidget(leftField->editor(), row, 1);
  grid_->addWidget(fieldLabel(right, rightField->editor()), row, 2);
  grid_->addWidget(rightField->editor(), row, 3);
  for (const auto& [name, field] : {std::pair(left, leftField), std::pair(right, rightField)}) {
    field->editor()->setAccessibleName(name);
    field->editor()->setMinimumWidth(60);
    field->editor()->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  }
  addRow({leftField, rightField});
}

void RecipeForm::addRow(const QList<KeyField*>& fields) {
  QLabel* fault = label({}, "error");
  fault->setFont(font::text(12));
  fault->setWordWrap(true);
  fault->setVisible(false);
  fault->setObjectName(fields.first()->key() + QStringLiteral(".fault"));
  grid_->addWidget(fault, grid_->rowCount(), 0, 1, 4);
  rows_.append({fields, fault});
}

void RecipeForm::refresh() {
  for (const Row& row : rows_) {
    QString fault;
    for (KeyField* field : row.fields) {
      field->refresh();
      field->editor()->setEnabled(document_.isReadable());
      if (fault.isEmpty()) fault = field->fault();
    }
    row.fault->setText(fault);
    row.fault->setVisible(!fault.isEmpty());
  }
  refreshMesh();
}

void RecipeForm::refreshMesh() {
  const recipe::Parallelism& p = document_.resolved().recipe.parallelism;
  const qint64 ranks = document_.resolved().recipe.hardware.ranks;
  const bool rest = p.dp_shard < 1;  // could not be filled in
  const qint64 product = p.dp_replicate * std::max<qint64>(1, p.dp_shard) * p.tp * p.pp * p.cp;
  const bool fits = !rest && product == ranks;
  product_->setText(QStringLiteral("%1·%2·%3·%4·%5 = %6")
                        .arg(p.pp)
                        .arg(p.dp_replicate)
                        .arg(rest ? QStringLiteral("?") : QString::number(p.dp_shard))
                        .arg(p.cp)
                        .arg(p.tp)
                        .arg(rest ? format::plural(ranks, tr("rank")) + QStringLiteral(" ✗")
                                  : format::plural(product, tr("rank")) +
                                        (fits ? QStringLiteral(" ✓") : QStringLiteral(" ✗"))));
  product_->setToolTip(tr("pp × dp_replicate × dp_shard × cp × tp, outermost first; there are %1")
                           .arg(format::plural(ranks, tr("rank"))));
  setTone(product_, fits ? "good" : "bad");
  meshNote_->setText(p.tp * p.pp * p.cp * p.dp_replicate > 1 ? tr("a colour a dp_shard group")
                                                             : tr("one dp_shard group"));
  mesh_->setMesh(p, ranks, fits);
}

}  // namespace heddle::gui
