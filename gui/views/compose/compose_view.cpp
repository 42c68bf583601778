#include "gui/views/compose/compose_view.h"

#include <QFileInfo>
#include <QResizeEvent>
#include <QScrollBar>

#include "gui/format.h"
#include "gui/settings.h"
#include "gui/views/compose/model_panel.h"
#include "gui/views/compose/neighbours_popup.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kForm = 372;
constexpr int kText = 440, kWideText = 620;
constexpr int kNarrowPanel = 312, kPanel = 352, kWidePanel = 400;
// From these widths on the prediction has the wider ones, and the form a second column.
constexpr int kUsual = 1480, kWide = 2200;
const QString kRowsKey = QStringLiteral("compose/rows"),
              kBottomKey = QStringLiteral("compose/bottom");
constexpr double kBottomShare = 0.38;  // of the height

}  // namespace

ComposeView::ComposeView(RecipeDocument& document, RecipePrediction& prediction, QWidget* parent)
    : QWidget(parent),
      document_(document),
      prediction_(prediction),
      rows_(new QSplitter(Qt::Vertical, this)),
      bottom_(new QSplitter(Qt::Horizontal)) {
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->setSizeConstraint(QLayout::SetNoConstraint);
  whole->addWidget(rows_);
  step_ = new StepPanel(prediction_);
  connect(step_->view(), &TimelineView::saved, this, &ComposeView::saved);
  bottom_->addWidget(step_);
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
  connect(form_, &RecipeForm::neighboursRequested, this,
          [this](const KeyField* field) { showNeighbours(*field); });
  connect(panel_, &PredictionPanel::shortfallClosed, this,
          [this](const KeyValues& pairs, const QString& words) {
            document_.endEdit();
            document_.setKeys(pairs, words);
            document_.endEdit();
          });
  connect(panel_, &PredictionPanel::compareRequested, this, &ComposeView::compareRequested);
  connect(panel_, &PredictionPanel::hardwareChosen, this, [this](const QString& name) {
    document_.endEdit();
    document_.setKey(QStringLiteral("hardware.name"), QStringLiteral("\"%1\"").arg(name));
    document_.endEdit();
  });
  refresh();
}

// Each part is made where it will stand: one that is moved there is styled a second time with all
// that is in it, which is most of what this page takes to open.
QWidget* ComposeView::makeTop() {
  auto* top = new QWidget(rows_);
  QHBoxLayout* row = rowOf(top);
  panel_ = new PredictionPanel(prediction_);
  row->addWidget(makeForm(top));
  row->addWidget(line(Qt::Vertical));
  auto* model = new ModelPanel(document_, prediction_, top);
  connect(model, &ModelPanel::bucketChosen, this,
          [this](const Bucket& bucket) { step_->showGather(bucket.modules); });
  connect(model->layers(), &LayersPanel::neighboursRequested, this,
          [this](const LayerException& exception, const QString& name, const QWidget* at) {
            showNeighbours(exception, name, at);
          });
  row->addWidget(model, 1);
  row->addWidget(line(Qt::Vertical));
  row->addWidget(panel_);
  return top;
}

QWidget* ComposeView::makeForm(QWidget* parent) {
  formFrame_ = new QFrame(parent);
  formFrame_->setProperty("role", "panel");
  form_ = new RecipeForm(document_);
  form_->showBubbleIn(this);
  formScroll_ = scrolled(form_, formFrame_);
  formScroll_->setAccessibleName(tr("Form of the recipe"));
  connect(formScroll_->verticalScrollBar(), &QScrollBar::valueChanged, form_,
          &RecipeForm::placeBubble);
  columnOf(formFrame_)->addWidget(formScroll_);
  return formFrame_;
}

void ComposeView::focusFirstFault() {
  QWidget* faulty = form_->firstFaulty();
  if (faulty == nullptr) return;
  faulty->setFocus(Qt::OtherFocusReason);
  formScroll_->ensureWidgetVisible(faulty);
}

void ComposeView::showNeighbours(const KeyField& field) {
  const QString name = QString::fromStdString(field.info().label);
  openNeighbours(tr("Predictions for other values of %1").arg(name), field.shownValue(),
                 neighboursOf(document_, field), name, field.editor());
}

void ComposeView::showNeighbours(const LayerException& exception, const QString& name,
                                 const QWidget* at) {
  openNeighbours(tr("Predictions for %1 with other modes").arg(name),
                 tr("recompute %1").arg(wordOf(exception.mode)), neighboursOf(document_, exception),
                 tr("exceptions"), at);
}

void ComposeView::openNeighbours(const QString& title, const QString& now,
                                 const QList<Neighbour>& neighbours, const QString& edit,
                                 const QWidget* at) {
  if (!document_.isReadable() || neighbours.isEmpty()) return;
  auto* popup = new NeighboursPopup(prediction_, title, now, neighbours, this);
  connect(popup, &NeighboursPopup::taken, this,
          [this, edit](const Neighbour& neighbour) { take(document_, neighbour, edit); });
  popup->open(at);
}

QWidget* ComposeView::makeText() {
  auto* panel = new QFrame;
  panel->setProperty("role", "panel");
  QVBoxLayout* column = columnOf(panel);
  auto* head = new QWidget;
  QHBoxLayout* row = headRow(head, 16);
  column->addWidget(head);
  fileName_ = new ElidedLabel({}, "mono-muted", Qt::ElideMiddle);
  verdict_ = label({});
  verdict_->setObjectName(QStringLiteral("verdict"));
  row->addWidget(heading(tr("Recipe")));
  row->addWidget(fileName_, 1);
  row->addWidget(verdict_);
  editor_ = new RecipeEditor(document_);
  editor_->setMinimumHeight(120);
  column->addWidget(editor_, 1);
  column->addWidget(line());
  auto* faults = new FaultList(document_);
  column->addWidget(faults);
  connect(faults, &FaultList::placeRequested, editor_, &RecipeEditor::goTo);
  return panel;
}

void ComposeView::refresh() {
  const qint64 mistakes = document_.mistakes();
  const auto open = static_cast<qint64>(document_.faults().size()) - mistakes;
  const size_t cannot = document_.unsupported().size();
  fileName_->setFullText(document_.file().isEmpty() ? document_.name() + QStringLiteral(".toml")
                                                    : QFileInfo(document_.file()).fileName());
  verdict_->setText(mistakes > 0 ? format::plural(mistakes, counted::kFault)
                    : open > 0   ? tr("%1 to fill in").arg(format::plural(open, counted::kKey))
                    : cannot > 0 ? tr("✓ valid, cannot train yet")
                                 : tr("✓ valid"));
  setTone(verdict_, mistakes > 0 ? "bad" : open > 0 ? "muted" : cannot > 0 ? "warn" : "good");
}

void ComposeView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool wide = width() >= kWide;
  panel_->setFixedWidth(wide ? kWidePanel : width() >= kUsual ? kPanel : kNarrowPanel);
  formFrame_->setFixedWidth(wide ? 2 * kForm : kForm);
  form_->setColumns(wide ? 2 : 1);
  if (event->oldSize().isValid()) return;
  divide();
  if (!keeps_) return;
  const auto settings = openSettings();
  rows_->restoreState(settings->value(kRowsKey).toByteArray());
  bottom_->restoreState(settings->value(kBottomKey).toByteArray());
}

void ComposeView::divide() {
  const int low = static_cast<int>(height() * kBottomShare);
  rows_->setSizes({height() - low, low});
  const int text = width() >= kWide ? kWideText : kText;
  bottom_->setSizes({width() - text, text});
}

void ComposeView::keepLayout() {
  keeps_ = true;
  for (const auto& [splitter, key] : {std::pair(rows_, kRowsKey), {bottom_, kBottomKey}})
    connect(splitter, &QSplitter::splitterMoved, this,
            [splitter, key] { openSettings()->setValue(key, splitter->saveState()); });
}

void ComposeView::resetLayout() {
  const auto settings = openSettings();
  for (const QString& key : {kRowsKey, kBottomKey}) settings->remove(key);
  divide();
}

}  // namespace heddle::gui
