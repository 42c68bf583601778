#include "gui/views/compose/model_panel.h"

#include <QCursor>
#include <QHBoxLayout>
#include <QMenu>
#include <QResizeEvent>
#include <algorithm>

#include "engine/recipe/mesh.h"
#include "engine/recipe/modules.h"
#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/bucket_edits.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kRoomForModel = 500;   // for its picture next to the buckets
constexpr int kRoomForLayers = 380;  // for them above the buckets, where there is none for that
constexpr int kLowLayers = 170;      // the most that they take there, or two fifths
constexpr int kRoomForLabels = 640;  // for all words of the head
constexpr int kRoomForCount = 390;   // for how many buckets there are
constexpr int kNarrowBands = 194;    // a name and a time in each, and a scroll bar
constexpr int kModelMargin = 8;

const QStringList& modes() {
  static const QStringList words = {"auto", "layers", "manual", "none"};
  return words;
}

/// Whether the layout is sound: faults of data or training change no size.
bool isLaidOut(const recipe::Recipe& recipe, const std::vector<recipe::Fault>& faults) {
  return recipe.model.vocab_size > 0 &&
         std::ranges::none_of(faults, [](const recipe::Fault& fault) {
           return !fault.key.starts_with("data.") && !fault.key.starts_with("training.") &&
                  !fault.key.starts_with("validation.") && !fault.key.starts_with("schedule.");
         });
}

}  // namespace

ModelPanel::ModelPanel(RecipeDocument& document, RecipePrediction& prediction, QWidget* parent)
    : QWidget(parent), document_(document), prediction_(prediction) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeHead());
  body_ = new QBoxLayout(QBoxLayout::LeftToRight);
  body_->setContentsMargins(kModelMargin, 0, kModelMargin, 12);
  body_->setSpacing(kModelMargin);
  makeModules();
  body_->addWidget(layers_);
  body_->addWidget(makeBuckets());
  column->addLayout(body_, 1);
  hint_ = new EditHint(prediction_, this);
  connect(&document_, &RecipeDocument::changed, this, &ModelPanel::refresh);
  connect(&prediction_, &RecipePrediction::changed, this, &ModelPanel::refreshBuckets);
  refresh();
}

QWidget* ModelPanel::makeHead() {
  auto* head = new QWidget;
  QHBoxLayout* row = headRow(head, kModelMargin);
  parameters_ = new ElidedLabel({}, "mono-muted");
  parameters_->setObjectName(QStringLiteral("parameters"));
  wrapping_ = new Segment(modes());
  wrapping_->setObjectName(QStringLiteral("wrapping"));
  wrapping_->setToolTip(
      tr("Which parameters are gathered together: as the plan decides, a layer at a "
         "time, manually, or each by itself"));
  bucketCount_ = label({}, "mono-muted");
  wrappingLabel_ = muted(tr("wrapping"));
  row->addWidget(heading(tr("Model")));
  row->addWidget(parameters_, 1);
  row->addWidget(wrappingLabel_);
  row->addWidget(wrapping_);
  row->addWidget(bucketCount_);
  connect(wrapping_, &Segment::currentChanged, this, &ModelPanel::chooseWrapping);
  return head;
}

void ModelPanel::makeModules() {
  model_ = new ModelView;
  layers_ = new LayersPanel(document_, model_);
  connect(layers_, &LayersPanel::dragBegun, this, [this] { hint_->begin(); });
  connect(layers_, &LayersPanel::dragged, this,
          [this](const QString& words) { hint_->tell(words, QCursor::pos()); });
  connect(layers_, &LayersPanel::dragEnded, this, [this] { hint_->end(); });
  connect(model_, &ModelView::chosen, layers_, &LayersPanel::choose);
  connect(layers_, &LayersPanel::rangeChanged, model_, &ModelView::setRange);
}

QWidget* ModelPanel::makeBuckets() {
  auto* buckets = new QWidget;
  auto* column = new QVBoxLayout(buckets);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  bands_ = new BucketBands;
  bandsNote_ = caption({});
  bandsNote_->setTextFormat(Qt::RichText);
  bandsNote_->setWordWrap(true);
  bandsNote_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  bandsNote_->setObjectName(QStringLiteral("bucketsNote"));
  QScrollArea* bands = scrolled(bands_);
  bands->setAccessibleName(tr("Buckets, scrolled"));
  bands->setMinimumWidth(kNarrowBands);
  column->addWidget(bands, 1);
  every_ = new QToolButton;
  every_->setObjectName(QStringLiteral("every"));
  every_->setProperty("role", "button");
  every_->setText(tr("Every N layers"));
  every_->setIcon(icon(QStringLiteral("chevron-down"), Tone::muted));
  every_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  every_->setPopupMode(QToolButton::InstantPopup);
  every_->setMenu(new QMenu(every_));
  addEveryActions(*every_->menu(), *bands_);
  column->addWidget(every_, 0, Qt::AlignLeft);
  column->addWidget(bandsNote_);
  connect(bands_, &BucketBands::firstsChanged, this, [this](const QList<int>& firsts) {
    document_.setKeys(bucketsByHand(document_.resolved().recipe.model, firsts), tr("buckets"));
  });
  connect(bands_, &BucketBands::moved, this, [this] {
    document_.endEdit();
    hint_->end();
  });
  connect(bands_, &BucketBands::pressed, this, [this] { hint_->begin(); });
  connect(bands_, &BucketBands::dragged, this,
          [this](const QString& words, const QPoint& pointer) { hint_->tell(words, pointer); });
  connect(bands_, &BucketBands::chosen, this, &ModelPanel::bucketChosen);
  connect(bands_, &BucketBands::everyRequested, this, [this](int layers) {
    const recipe::Model& model = document_.resolved().recipe.model;
    setBuckets(bucketsByHand(model, everyLayers(model, layers)));
  });
  connect(bandsNote_, &QLabel::linkActivated, this, [this](const QString& link) {
    setBuckets(withAllPlaced(document_.resolved().recipe, link == QLatin1String("own")
                                                              ? Place::ownBucket
                                                              : Place::bucketBefore));
  });
  return buckets;
}

void ModelPanel::setBuckets(const KeyValues& keys) {
  document_.endEdit();
  document_.setKeys(keys, tr("buckets"));
  document_.endEdit();
}

recipe::Recipe ModelPanel::shown() const {
  recipe::Recipe recipe = document_.resolved().recipe;
  if (recipe.model.vocab_size == 0 && !recipe.data.tokenizer.empty()) {
    recipe.model.vocab_size =
        document_.files().vocabulary(QString::fromStdString(recipe.data.tokenizer)).value_or(0);
  }
  return recipe;
}

void ModelPanel::refresh() {
  model_->setModel(shown().model);
  sayParameters();
  refreshBuckets();
}

void ModelPanel::sayParameters() {
  const recipe::Model model = shown().model;
  const int64_t count = model.vocab_size > 0 ? recipe::parameter_count(model) : 0;
  parameters_->setFullText(count == 0 ? tr("size unknown: no vocabulary")
                           : width() < kRoomForLabels
                               ? tr("%1 parameters").arg(format::shortCount(double(count)))
                               : tr("%1 parameters").arg(format::count(count)));
  parameters_->setToolTip(count == 0 ? QString() : format::count(count));
}

void ModelPanel::refreshBuckets() {
  const recipe::Recipe recipe = shown();
  const QSignalBlocker quiet(wrapping_);
  const int mode = static_cast<int>(recipe.wrapping.mode);
  wrapping_->setCurrent(mode);
  wrapping_->setEnabled(document_.isReadable());
  BucketList list = bucketsOf(recipe, isLaidOut(recipe, document_.faults()));
  const bool planned = prediction_.shown() && !prediction_.isStale();
  // Until a plan has grouped them, the buckets of the one before are not the plan's.
  if (planned && (list.known || prediction_.shownRecipe().wrapping.mode == recipe.wrapping.mode))
    addPredicted(list, prediction_.shown()->document, recipe.model);
  layers_->setNotes(laneNotes());
  model_->setTimes(planned ? prediction_.shown()->moduleSeconds : std::map<std::string, double>(),
                   planned);
  bands_->setBuckets(list);
  every_->setEnabled(document_.isReadable() && recipe.model.n_layers > 0);
  bucketCount_->setText(list.known ? format::plural(list.buckets.size(), counted::kBucket)
                                   : QString());
  bandsNote_->setText(bucketsNote(recipe, list));
}

QList<LaneNote> ModelPanel::laneNotes() const {
  QList<LaneNote> notes;
  if (!prediction_.shown() || prediction_.isStale()) return notes;
  const plan::Document& d = prediction_.shown()->document;
  for (const plan::RankFigures& rank : d.ranks_shown) {
    const QString memory = format::bytes(static_cast<double>(rank.peak_bytes));
    const double bubble = d.step_seconds > 0 ? rank.bubble_seconds / d.step_seconds : 0;
    while (notes.size() <= rank.stage) notes << LaneNote();
    notes[static_cast<qsizetype>(rank.stage)] = {
        tr("%1, bubble %2").arg(memory, format::percent(bubble)), memory,
        d.limit_bytes > 0 && rank.peak_bytes > d.limit_bytes};
  }
  return notes;
}

QString ModelPanel::bucketsNote(const recipe::Recipe& recipe, const BucketList& list) const {
  const auto& faults = document_.faults();
  QStringList wrong;
  for (const recipe::Fault& fault : faults)
    if (fault.key.starts_with("wrapping."))
      wrong << QString::fromStdString(fault.what).toHtmlEscaped();
  setTone(bandsNote_, wrong.isEmpty() ? "muted" : "bad");
  if (!wrong.isEmpty()) {
    if (!std::ranges::any_of(faults, [](const recipe::Fault& fault) {
          return fault.what.starts_with("in no bucket");
        }))
      return wrong.join(QStringLiteral("<br>"));
    const QString link = QStringLiteral("<a href=\"%1\" style=\"color:%2\">%3</a>");
    const QString color = colors().accentText.name();
    return wrong.join(QStringLiteral("<br>")) + QStringLiteral("<br>") +
           link.arg(QStringLiteral("own"), color, tr("Give each a bucket")) +
           QStringLiteral(" · ") +
           link.arg(QStringLiteral("before"), color, tr("put each into the bucket before it"));
  }
  const QString note = groupingWords(recipe.wrapping.mode, list);
  if (!isLaidOut(recipe, faults)) return note;
  const recipe::Mesh mesh(recipe.parallelism);
  const QString sizes = mesh.size(recipe::kSharing) == 1 ? tr("Nothing is sharded or gathered.")
                        : mesh.size(recipe::kPp) > 1
                            ? tr("Sizes: what a rank of its stage gathers.")
                            : tr("Sizes: what a rank gathers.");
  return note + QChar(' ') + sizes;
}

void ModelPanel::chooseWrapping(int mode) {
  const recipe::Model& model = document_.resolved().recipe.model;
  document_.endEdit();
  if (modes()[mode] == QLatin1String("manual")) {
    document_.setKeys(bucketsByHand(model, everyLayers(model, 1)), tr("wrapping"));
  } else {
    document_.setKeys(
        {{QStringLiteral("wrapping.mode"), QStringLiteral("\"%1\"").arg(modes()[mode])},
         {QStringLiteral("wrapping.buckets"), {}}},
        tr("wrapping"));
  }
  document_.endEdit();
}

void ModelPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool narrow = width() < kRoomForModel;
  model_->setVisible(!narrow);
  layers_->setVisible(!narrow || height() >= kRoomForLayers);
  layers_->setMaximumHeight(narrow ? std::max(kLowLayers, height() * 2 / 5) : QWIDGETSIZE_MAX);
  body_->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  body_->setStretch(0, narrow ? 0 : 62);
  body_->setStretch(1, narrow ? 1 : 38);
  parameters_->setVisible(width() >= kRoomForModel);
  wrappingLabel_->setVisible(width() >= kRoomForLabels);
  bucketCount_->setVisible(width() >= kRoomForCount);
  sayParameters();
}

}  // namespace heddle::gui
