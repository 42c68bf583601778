#include "gui/views/compose/recipe_form.h"

#include <QApplication>
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
  addModel();
  addData();
  addTraining();
  addParallelism();
  addMemory();
  addCheckpoints();
  column_->addStretch(1);
  bubble_ = new QLabel(this);
  bubble_->setObjectName(QStringLiteral("bubble"));
  bubble_->setProperty("role", "bubble");
  bubble_->setWordWrap(true);
  bubble_->setAttribute(Qt::WA_TransparentForMouseEvents);
  bubble_->hide();
  connect(qApp, &QApplication::focusChanged, this, &RecipeForm::showBubble);
  connect(&document_, &RecipeDocument::changed, this, &RecipeForm::refresh);
  refresh();
}

void RecipeForm::addModel() {
  beginSection(tr("Model"));
  addWide(tr("preset"), presetField(document_));
  addPair(tr("dim"), integer("model.dim", 1), tr("layers"), integer("model.n_layers", 1));
  addPair(tr("heads"), integer("model.n_heads", 1), tr("kv heads"),
          integer("model.n_kv_heads", 0, tr("all")));
  addPair(tr("ffn"), integer("model.ffn_dim", 1), tr("vocabulary"),
          integer("model.vocab_size", 0, tr("auto")));
  addWide(tr("weights"), folderField(document_, QStringLiteral("model.checkpoint"),
                                     tr("Weights to start from"), tr("random, from the seed")));
}

void RecipeForm::addData() {
  beginSection(tr("Data"));
  const QString texts = tr("Text (*.txt *.jsonl);;All files (*)");
  addWide(tr("text"), filesField(document_, QStringLiteral("data.text"), tr("Text to train on"),
                                 texts, tr("files or folders")));
  addWide(tr("tokenizer"), fileField(document_, QStringLiteral("data.tokenizer"), tr("Tokenizer"),
                                     tr("Tokenizer (*.json)"), tr("a tokenizer.json")));
  addPair(tr("sequence"), integer("data.seq_len", 1), tr("seed"), integer("data.seed", 0));
  addWide(tr("held out"), filesField(document_, QStringLiteral("validation.text"),
                                     tr("Text to validate on"), texts, tr("none")));
  addPair(tr("validate"), integer("validation.every", 0, tr("never")), tr("sample tokens"),
          integer("validation.tokens", 0, tr("none")));
}

void RecipeForm::addTraining() {
  beginSection(tr("Training"));
  addPair(tr("steps"), integer("training.steps", 1), tr("batch a rank"),
          integer("training.local_batch", 1));
  addPair(tr("global"), integer("training.global_batch", 0, tr("auto")), tr("clip to norm"),
          number("training.max_norm"));
  addPair(tr("lr"), number("optimizer.lr"), tr("warm-up"), integer("schedule.warmup_steps", 0));
  addPair(tr("decay"),
          choice("schedule.decay", {"linear", "sqrt", "cosine", "none"},
                 {tr("linear"), tr("sqrt"), tr("cosine"), tr("none")}),
          tr("weight decay"), number("optimizer.weight_decay"));
}

void RecipeForm::addParallelism() {
  product_ = label({}, "mono");
  product_->setObjectName(QStringLiteral("product"));
  beginSection(tr("Parallelism"), product_);
  addPair(tr("dp_shard"), integer("parallelism.dp_shard", -1, tr("rest")), tr("dp_replicate"),
          integer("parallelism.dp_replicate", 1));
  addPair(tr("tp"), integer("parallelism.tp", 1), tr("cp"), integer("parallelism.cp", 1));
  addPair(tr("pp"), integer("parallelism.pp", 1), tr("micro-batches"),
          integer("parallelism.microbatches", 0, tr("auto")));
  addWide(tr("schedule"),
          choice("parallelism.pp_schedule", {"1f1b", "gpipe", "interleaved", "zero-bubble"},
                 {tr("1F1B"), tr("GPipe"), tr("interleaved: several stages a rank"),
                  tr("zero bubble")}));
  addWide(tr("context"),
          choice("parallelism.cp_mode", {"allgather", "ring", "ulysses"},
                 {tr("gather keys and values"), tr("ring"), tr("Ulysses: exchange heads")}));
  addPair(tr("ranks"), integer("hardware.ranks", 1), tr("device"),
          choice("hardware.device", {"auto", "cpu", "cuda"},
                 {tr("auto"), QStringLiteral("cpu"), QStringLiteral("cuda")}));
  meshNote_ = caption({});
  meshNote_->setObjectName(QStringLiteral("meshNote"));
  beginSection(tr("Device mesh"), meshNote_);
  mesh_ = new MeshView;
  column_->addWidget(mesh_);
}

void RecipeForm::addMemory() {
  beginSection(tr("Memory"));
  addWide(tr("recompute"), choice("recompute.mode", {"none", "selective", "full", "budget"},
                                  {tr("nothing"), tr("selective: every second product"),
                                   tr("full: all of a layer"), tr("as a budget allows")}));
  addWide(tr("precision"),
          choice("precision.param", {"fp32", "bf16"}, {tr("fp32"), tr("bf16, masters in fp32")}));
}

void RecipeForm::addCheckpoints() {
  beginSection(tr("Checkpoints"));
  addWide(tr("save"), yesNoField(document_, QStringLiteral("checkpoint.enabled"),
                                 tr("when a run stops and at its end"), tr("never")));
  addPair(tr("keep"), integer("checkpoint.keep", 1), tr("every, steps"),
          integer("checkpoint.every", 0, tr("off")));
  addWide(tr("folder"), folderField(document_, QStringLiteral("checkpoint.folder"),
                                    tr("Folder of checkpoints"), tr("in the run's own directory")));
  checkpoints_ = caption({});
  checkpoints_->setObjectName(QStringLiteral("checkpointsNote"));
  column_->addWidget(checkpoints_);
}

KeyField* RecipeForm::integer(const char* key, int lowest, const QString& special) {
  return integerField(document_, QLatin1String(key), lowest, special);
}

KeyField* RecipeForm::number(const char* key) { return numberField(document_, QLatin1String(key)); }

KeyField* RecipeForm::choice(const char* key, const QStringList& words, const QStringList& labels) {
  return choiceField(document_, QLatin1String(key), words, labels);
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
  add(field, name);
}

void RecipeForm::addPair(const QString& left, KeyField* leftField, const QString& right,
                         KeyField* rightField) {
  const int row = grid_->rowCount();
  grid_->addWidget(fieldLabel(left, leftField->editor()), row, 0);
  grid_->addWidget(leftField->editor(), row, 1);
  grid_->addWidget(fieldLabel(right, rightField->editor()), row, 2);
  grid_->addWidget(rightField->editor(), row, 3);
  for (const auto& [name, field] : {std::pair(left, leftField), std::pair(right, rightField)}) {
    field->editor()->setMinimumWidth(60);
    field->editor()->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    add(field, name);
  }
}

void RecipeForm::add(KeyField* field, const QString& name) {
  field->editor()->setAccessibleName(name);
  field->editor()->installEventFilter(this);
  fields_ << field;
}

void RecipeForm::refresh() {
  const bool saves = document_.value(QStringLiteral("checkpoint.enabled")) == QLatin1String("true");
  for (KeyField* field : fields_) {
    field->refresh();
    const QString& key = field->key();
    const bool idle = !saves && key.startsWith(QLatin1String("checkpoint.")) &&
                      key != QLatin1String("checkpoint.enabled");
    field->editor()->setEnabled(document_.isReadable() && !idle);
  }
  checkpoints_->setText(saves ? tr("What a stopped run is resumed from.")
                              : tr("A run that stops loses what it has trained."));
  setTone(checkpoints_, saves ? "muted" : "warn");
  refreshMesh();
  showBubble();
}

QWidget* RecipeForm::firstFaulty() const {
  const auto wrong = std::ranges::find_if(
      fields_, [](const KeyField* field) { return !field->fault().isEmpty(); });
  return wrong == fields_.end() ? nullptr : (*wrong)->editor();
}

void RecipeForm::showBubble() {
  const QWidget* focused = QApplication::focusWidget();
  const KeyField* shown = nullptr;
  for (const KeyField* field : fields_) {
    const bool edited = focused != nullptr &&
                        (field->editor() == focused || field->editor()->isAncestorOf(focused));
    if (!edited && (shown != nullptr || field->editor() != pointed_)) continue;
    if (!field->fault().isEmpty()) shown = field;
    if (shown == field && edited) break;
  }
  bubble_->setVisible(shown != nullptr);
  if (shown == nullptr) return;
  const int side = column_->contentsMargins().left();
  const int room = width() - 2 * side;
  bubble_->setText(shown->fault());
  const QPoint below = shown->editor()->mapTo(this, QPoint(0, shown->editor()->height() + 4));
  bubble_->setGeometry(side, below.y(), room, bubble_->heightForWidth(room));
  bubble_->raise();
}

bool RecipeForm::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Enter || event->type() == QEvent::Leave) {
    pointed_ = event->type() == QEvent::Enter ? static_cast<QWidget*>(watched) : nullptr;
    showBubble();
  }
  return QWidget::eventFilter(watched, event);
}

void RecipeForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showBubble();
}

void RecipeForm::refreshMesh() {
  const recipe::Parallelism& p = document_.resolved().recipe.parallelism;
  const qint64 ranks = document_.resolved().recipe.hardware.ranks;
  const bool rest = p.dp_shard < 1;  // could not be filled in
  recipe::Parallelism degrees = p;
  degrees.dp_shard = std::max<int64_t>(1, p.dp_shard);
  const recipe::Mesh mesh(degrees);
  const qint64 product = mesh.size();
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
  const qint64 sharing = mesh.size(recipe::kSharing);
  meshNote_->setText(!fits          ? QString()
                     : sharing == 1 ? tr("nothing is sharded")
                     : sharing == ranks
                         ? tr("one group of %1 shards").arg(format::count(sharing))
                         : tr("one colour to a group of %1 shards").arg(format::count(sharing)));
  mesh_->setMesh(mesh, ranks, fits);
}

}  // namespace heddle::gui
