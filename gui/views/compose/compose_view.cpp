#include "gui/views/compose/compose_view.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/recipe/mesh.h"
#include "engine/recipe/modules.h"
#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/bucket_edits.h"
#include "gui/views/compose/bucket_list.h"
#include "gui/views/compose/layers_panel.h"

namespace heddle::gui {
namespace {

constexpr int kForm = 372;
constexpr int kText = 440;
constexpr int kNarrowPanel = 296, kPanel = 336, kWidePanel = 400;
constexpr int kUsual = 1480,
              kWide = 2200;          // from these widths on the prediction has the wider ones
constexpr int kRoomForModel = 1180;  // and the model's picture has room
constexpr double kBottom = 0.38;     // of the height

const QStringList& modes() {
  static const QStringList words = {"auto", "layers", "manual", "none"};
  return words;
}

/// Whether the layout is sound: what is wrong with data or training changes no size.
bool isLaidOut(const recipe::Recipe& recipe, const std::vector<recipe::Fault>& faults) {
  return recipe.model.vocab_size > 0 &&
         std::ranges::none_of(faults, [](const recipe::Fault& fault) {
           return !fault.key.starts_with("data.") && !fault.key.starts_with("training.") &&
                  !fault.key.starts_with("validation.") && !fault.key.starts_with("schedule.");
         });
}

/// As tall as there is room, no wider than it.
QScrollArea* scrolled(QWidget* widget) {
  auto* area = new QScrollArea;
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  widget->setProperty("role", "page");
  area->setWidget(widget);
  return area;
}

/// A header row of 48 px.
QHBoxLayout* headRow(QVBoxLayout* column, int right) {
  auto* head = new QWidget;
  head->setFixedHeight(48);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(16, 0, right, 0);
  row->setSpacing(12);
  column->addWidget(head);
  return row;
}

}  // namespace

ComposeView::ComposeView(RecipeDocument& document, RecipePrediction& prediction, QWidget* parent)
    : QWidget(parent),
      document_(document),
      prediction_(prediction),
      rows_(new QSplitter(Qt::Vertical)),
      bottom_(new QSplitter(Qt::Horizontal)) {
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->setSizeConstraint(QLayout::SetNoConstraint);
  whole->addWidget(rows_);
  bottom_->addWidget(new StepPanel(prediction_));
  bottom_->addWidget(makeText());
  bottom_->setStretchFactor(0, 1);
  rows_->addWidget(makeTop());
  rows_->addWidget(bottom_);
  rows_->setStretchFactor(0, 62);
  rows_->setStretchFactor(1, 38);
  for (QSplitter* splitter : {rows_, bottom_}) {
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
  }
  connect(&document_, &RecipeDocument::changed, this, &ComposeView::refresh);
  connect(&prediction_, &RecipePrediction::changed, this, &ComposeView::refreshBuckets);
  connect(panel_, &PredictionPanel::hardwareChosen, this, [this](const QString& name) {
    document_.endEdit();
    document_.setKey(QStringLiteral("hardware.name"), QStringLiteral("\"%1\"").arg(name));
    document_.endEdit();
  });
  refresh();
}

QWidget* ComposeView::makeTop() {
  auto* top = new QWidget;
  auto* row = new QHBoxLayout(top);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  panel_ = new PredictionPanel(prediction_);
  row->addWidget(makeForm());
  row->addWidget(line(Qt::Vertical));
  row->addWidget(makeModel(), 1);
  row->addWidget(line(Qt::Vertical));
  row->addWidget(panel_);
  return top;
}

QWidget* ComposeView::makeForm() {
  auto* panel = new QFrame;
  panel->setProperty("role", "panel");
  panel->setFixedWidth(kForm);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(0, 0, 0, 0);
  form_ = new RecipeForm(document_);
  formScroll_ = scrolled(form_);
  layout->addWidget(formScroll_);
  return panel;
}

void ComposeView::focusFirstFault() {
  QWidget* faulty = form_->firstFaulty();
  if (faulty == nullptr) return;
  faulty->setFocus(Qt::OtherFocusReason);
  formScroll_->ensureWidgetVisible(faulty);
}

QWidget* ComposeView::makeModel() {
  auto* panel = new QWidget;
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QHBoxLayout* head = headRow(column, 16);
  parameters_ = new ElidedLabel({}, "mono-muted");
  parameters_->setObjectName(QStringLiteral("parameters"));
  wrapping_ = new Segment(modes());
  wrapping_->setObjectName(QStringLiteral("wrapping"));
  wrapping_->setToolTip(
      tr("Which parameters are gathered together: as the plan decides, a layer at a "
         "time, by hand, or each by itself"));
  bucketCount_ = label({}, "mono-muted");
  head->addWidget(heading(tr("Model")));
  head->addWidget(parameters_, 1);
  wrappingLabel_ = muted(tr("wrapping"));
  head->addWidget(wrappingLabel_);
  head->addWidget(wrapping_);
  head->addWidget(bucketCount_);

  auto* modules = new QWidget;
  auto* left = new QVBoxLayout(modules);
  left->setContentsMargins(0, 0, 0, 0);
  model_ = new ModelView;
  left->addWidget(model_, 1);
  auto* layers = new LayersPanel(document_);
  left->addWidget(layers);
  connect(model_, &ModelView::chosen, layers, &LayersPanel::choose);
  connect(layers, &LayersPanel::rangeChanged, model_, &ModelView::setRange);
  left->addStretch(0);
  auto* right = new QVBoxLayout;
  right->setSpacing(8);
  bands_ = new BucketBands;
  bandsNote_ = caption({});
  bandsNote_->setWordWrap(true);
  bandsNote_->setObjectName(QStringLiteral("bucketsNote"));
  right->addWidget(scrolled(bands_), 1);
  every_ = new QToolButton;
  every_->setObjectName(QStringLiteral("every"));
  every_->setProperty("role", "button");
  every_->setText(tr("Every N layers"));
  every_->setIcon(icon(QStringLiteral("chevron-down"), Tone::muted));
  every_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  every_->setPopupMode(QToolButton::InstantPopup);
  every_->setMenu(new QMenu(every_));
  addEveryActions(*every_->menu(), *bands_);
  right->addWidget(every_, 0, Qt::AlignLeft);
  right->addWidget(bandsNote_);

  auto* body = new QHBoxLayout;
  body->setContentsMargins(16, 0, 16, 16);
  body->setSpacing(20);
  body->addWidget(scrolled(modules), 62);
  body->addLayout(right, 38);
  column->addLayout(body, 1);

  connect(wrapping_, &Segment::currentChanged, this, &ComposeView::chooseWrapping);
  connect(bands_, &BucketBands::firstsChanged, this, [this](const QList<int>& firsts) {
    document_.setKeys(bucketsByHand(document_.resolved().recipe.model, firsts), tr("buckets"));
  });
  connect(bands_, &BucketBands::moved, this, [this] { document_.endEdit(); });
  const auto edit = [this](const KeyValues& keys) {
    document_.endEdit();
    document_.setKeys(keys, tr("buckets"));
    document_.endEdit();
  };
  connect(bands_, &BucketBands::everyRequested, this, [this, edit](int layers) {
    const recipe::Model& model = document_.resolved().recipe.model;
    edit(bucketsByHand(model, everyLayers(model, layers)));
  });
  connect(bandsNote_, &QLabel::linkActivated, this, [this, edit](const QString& link) {
    edit(withAllPlaced(document_.resolved().recipe,
                       link == QLatin1String("own") ? Place::ownBucket : Place::bucketBefore));
  });
  return panel;
}

QWidget* ComposeView::makeText() {
  auto* panel = new QFrame;
  panel->setProperty("role", "panel");
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QHBoxLayout* head = headRow(column, 16);
  fileName_ = new ElidedLabel({}, "mono-muted", Qt::ElideMiddle);
  verdict_ = label({});
  verdict_->setObjectName(QStringLiteral("verdict"));
  head->addWidget(heading(tr("Recipe")));
  head->addWidget(fileName_, 1);
  head->addWidget(verdict_);
  editor_ = new RecipeEditor(document_);
  editor_->setMinimumHeight(120);
  column->addWidget(editor_, 1);
  column->addWidget(line());
  auto* faults = new FaultList(document_);
  column->addWidget(faults);
  connect(faults, &FaultList::placeRequested, editor_, &RecipeEditor::goTo);
  return panel;
}

recipe::Recipe ComposeView::shown() const {
  recipe::Recipe recipe = document_.resolved().recipe;
  if (recipe.model.vocab_size == 0 && !recipe.data.tokenizer.empty()) {
    recipe.model.vocab_size =
        document_.files().vocabulary(QString::fromStdString(recipe.data.tokenizer)).value_or(0);
  }
  return recipe;
}

void ComposeView::refresh() {
  const recipe::Recipe recipe = shown();
  const auto& faults = document_.faults();
  const size_t cannot = document_.unsupported().size();
  const bool counted = recipe.model.vocab_size > 0;
  model_->setModel(recipe.model);
  parameters_->setFullText(
      counted ? tr("%1 parameters").arg(format::count(recipe::parameter_count(recipe.model)))
              : tr("size unknown: no vocabulary"));
  fileName_->setFullText(document_.file().isEmpty() ? document_.name() + QStringLiteral(".toml")
                                                    : QFileInfo(document_.file()).fileName());
  verdict_->setText(!faults.empty()
                        ? format::plural(static_cast<qint64>(faults.size()), tr("fault"))
                    : cannot > 0 ? tr("✓ valid, cannot train yet")
                                 : tr("✓ valid"));
  setTone(verdict_, !faults.empty() ? "bad" : cannot > 0 ? "warn" : "good");
  refreshBuckets();
}

void ComposeView::refreshBuckets() {
  const recipe::Recipe recipe = shown();
  const QSignalBlocker quiet(wrapping_);
  const int mode = static_cast<int>(recipe.wrapping.mode);
  wrapping_->setCurrent(mode);
  wrapping_->setEnabled(document_.isReadable());
  BucketList list = bucketsOf(recipe, isLaidOut(recipe, document_.faults()));
  if (prediction_.shown() && !prediction_.isStale())
    addPredicted(list, prediction_.shown()->document, recipe.model);
  bands_->setBuckets(list);
  every_->setEnabled(document_.isReadable() && recipe.model.n_layers > 0);
  bucketCount_->setText(list.known ? format::plural(list.buckets.size(), tr("bucket")) : QString());
  bandsNote_->setText(bucketsNote(recipe, list));
}

QString ComposeView::bucketsNote(const recipe::Recipe& recipe, const BucketList& list) const {
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
  static const QStringList notes = {
      tr("The plan groups these; drag an edge to group them by hand."), tr("A bucket a layer."),
      tr("Drag an edge to move layers from a bucket to the next. Double-click a bucket to split "
         "it, an edge to join two."),
      tr("Each parameter is gathered by itself.")};
  const bool byHand = recipe.wrapping.mode == recipe::WrappingMode::manual;
  const QString note =
      byHand && !list.movable
          ? tr("These buckets are not runs of whole layers: change them in the text.")
          : notes[static_cast<int>(recipe.wrapping.mode)];
  if (!isLaidOut(recipe, faults)) return note;
  const recipe::Mesh mesh(recipe.parallelism);
  const QString sizes = mesh.size(recipe::kSharing) == 1 ? tr("Nothing is sharded or gathered.")
                        : mesh.size(recipe::kPp) > 1
                            ? tr("Sizes: what a rank of its stage gathers.")
                            : tr("Sizes: what a rank gathers.");
  return note + QChar(' ') + sizes;
}

void ComposeView::chooseWrapping(int mode) {
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

void ComposeView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  panel_->setFixedWidth(width() >= kWide ? kWidePanel : width() >= kUsual ? kPanel : kNarrowPanel);
  const bool roomy = width() >= kRoomForModel;
  for (QWidget* each : {static_cast<QWidget*>(model_), static_cast<QWidget*>(parameters_),
                        static_cast<QWidget*>(wrappingLabel_), static_cast<QWidget*>(bucketCount_)})
    each->setVisible(roomy);
  if (event->oldSize().isValid()) return;
  const int low = static_cast<int>(height() * kBottom);
  rows_->setSizes({height() - low, low});
  bottom_->setSizes({width() - kText, kText});
}

}  // namespace heddle::gui
