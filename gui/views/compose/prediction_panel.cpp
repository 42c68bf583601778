#include "gui/views/compose/prediction_panel.h"

#include <QHBoxLayout>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/why_popup.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kPanelMargin = 16;
constexpr int kSlowMilliseconds = 200;  // shorter waits are not announced
constexpr int kRoomyPanel = 520;        // a column at least this high has its rows further apart
constexpr int kForExposed = 600;        // higher panels list transfers
constexpr int kExposed = 44;            // the height of one

QLabel* wrappedLabel(const char* name, const char* role) {
  QLabel* words = label({}, role);
  words->setObjectName(QLatin1String(name));
  words->setWordWrap(true);
  return words;
}

}  // namespace

PredictionPanel::PredictionPanel(RecipePrediction& prediction, QWidget* parent)
    : QFrame(parent), prediction_(prediction) {
  setObjectName(QStringLiteral("prediction"));
  setProperty("role", "panel");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeHead());
  QScrollArea* numbers = scrolled(makeNumbers());
  numbers->setAccessibleName(tr("Prediction"));
  column->addWidget(numbers, 1);
  slow_.setSingleShot(true);
  slow_.setInterval(kSlowMilliseconds);
  connect(&slow_, &QTimer::timeout, this, [this] { activity_->setText(tr("planning …")); });
  connect(&prediction_, &RecipePrediction::changed, this, &PredictionPanel::refresh);
  connect(&Theme::instance(), &Theme::changed, this, &PredictionPanel::refresh);
  refresh();
}

QWidget* PredictionPanel::makeHead() {
  auto* head = new QWidget;
  auto* column = new QVBoxLayout(head);
  column->setContentsMargins(kPanelMargin, 0, kPanelMargin, 8);
  column->setSpacing(4);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  activity_ = caption({});
  activity_->setObjectName(QStringLiteral("planning"));
  pin_ = iconButton(QStringLiteral("pin"),
                    tr("Pin this prediction to see how later edits differ from it"));
  pin_->setObjectName(QStringLiteral("pin"));
  pin_->setCheckable(true);
  compare_ = quietButton(tr("Compare"), QStringLiteral("compare"));
  compare_->setObjectName(QStringLiteral("comparePlans"));
  connect(compare_, &QPushButton::clicked, this, &PredictionPanel::compareRequested);
  QLabel* title = heading(tr("Prediction"));
  title->setFixedHeight(44);
  row->addWidget(title);
  row->addWidget(activity_, 1);
  row->addWidget(compare_);
  row->addWidget(pin_);
  column->addLayout(row);
  hardware_ = new QComboBox;
  hardware_->setObjectName(QStringLiteral("hardware"));
  hardware_->setAccessibleName(tr("Hardware"));
  hardware_->setToolTip(tr("The hardware that the prediction is for"));
  hardware_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  executor_ = new QComboBox;
  executor_->setObjectName(QStringLiteral("executor"));
  executor_->setAccessibleName(tr("Executor"));
  executor_->setToolTip(
      tr("Which program's step is predicted: Heddle's, FSDP2 with torch.compile, or plain FSDP2. "
         "Heddle trains either way; the recipe does not change."));
  const QStringList words = {tr("Heddle"), tr("torch.compile"), tr("eager FSDP2")};
  for (int i = 0; i < words.size(); ++i)
    executor_->addItem(words[i], RecipePrediction::executors()[i]);
  auto* choices = new QHBoxLayout;
  choices->setSpacing(8);
  choices->addWidget(hardware_, 1);
  choices->addWidget(executor_);
  column->addLayout(choices);
  hardwareWords_ = wrappedLabel("hardwareWords", "caption");
  column->addWidget(hardwareWords_);
  state_ = wrappedLabel("staleReason", "caption");
  pinned_ = wrappedLabel("pinnedName", "caption");
  column->addWidget(state_);
  column->addWidget(pinned_);
  connect(pin_, &QToolButton::clicked, this, [this](bool on) {
    if (on)
      prediction_.pin();
    else
      prediction_.unpin();
  });
  connect(hardware_, &QComboBox::activated, this,
          [this](int index) { Q_EMIT hardwareChosen(hardware_->itemData(index).toString()); });
  connect(executor_, &QComboBox::activated, this,
          [this](int index) { prediction_.setExecutor(executor_->itemData(index).toString()); });
  return head;
}

QWidget* PredictionPanel::makeNumbers() {
  auto* page = new QWidget;
  auto* whole = new QVBoxLayout(page);
  whole->setContentsMargins(kPanelMargin, 4, kPanelMargin, 12);
  empty_ = wrappedLabel("noPrediction", "muted");
  whole->addWidget(empty_);
  numbers_ = new QWidget;
  auto* column = new QVBoxLayout(numbers_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  shortfall_ = new ShortfallView;
  connect(shortfall_, &ShortfallView::taken, this, &PredictionPanel::shortfallClosed);
  memory_ = new MemoryFigures(shortfall_);
  column->addWidget(memory_);
  grid_ = new QGridLayout;
  grid_->setSpacing(8);
  for (size_t i = 0; i < kFigures.size(); ++i) {
    tiles_[i] = new FigureTile;
    tiles_[i]->setProperty("figure", static_cast<int>(kFigures[i]));
    connect(tiles_[i], &FigureTile::clicked, this, [this, i] {
      open(whyOf(kFigures[i], prediction_.shown()->document, prediction_.shownRecipe(),
                 prediction_.convention()),
           tiles_[i]);
    });
  }
  column->addLayout(grid_);
  conventionRow_ = new QWidget;
  auto* convention = new QHBoxLayout(conventionRow_);
  convention->setContentsMargins(0, 0, 0, 0);
  convention->setSpacing(8);
  convention_ = wrappedLabel("convention", "caption");
  QPushButton* next = linkButton(tr("other"));
  next->setObjectName(QStringLiteral("nextConvention"));
  next->setToolTip(tr("Show MFU by the next convention"));
  convention->addWidget(convention_, 1);
  convention->addWidget(next, 0, Qt::AlignTop);
  column->addWidget(conventionRow_);
  certainty_ = wrappedLabel("certainty", "caption");
  remarks_ = wrappedLabel("remarks", "caption");
  published_ = new PublishedLine;
  column->addWidget(certainty_);
  column->addWidget(published_);
  column->addWidget(remarks_);
  exposed_ = new ExposedList;
  column->addWidget(exposed_);
  whole->addWidget(numbers_);
  whole->addStretch(1);
  connect(next, &QPushButton::clicked, &prediction_, &RecipePrediction::nextConvention);
  connect(memory_, &MemoryFigures::whyRequested, this, [this] {
    open(whyMemory(prediction_.shown()->document, prediction_.shownRecipe()), memory_);
  });
  return page;
}

void PredictionPanel::open(const Why& why, const QWidget* at) {
  (new WhyPopup(why, this))->open(at);
}

void PredictionPanel::refresh() {
  refreshHardware();
  refreshState();
  refreshNumbers();
}

void PredictionPanel::refreshHardware() {
  const QString name = QString::fromStdString(recipe().hardware.name);
  std::vector<plan::HardwareEntry> entries = prediction_.catalogue();
  const std::string& named = recipe().hardware.name;
  if (std::ranges::find(entries, named, &plan::HardwareEntry::name) == entries.end())
    entries.insert(entries.begin(), {named, named});  // until it has arrived, or outside it
  // An open list stays open.
  const int count = static_cast<int>(entries.size());
  while (hardware_->count() > count) hardware_->removeItem(hardware_->count() - 1);
  for (int i = 0; i < count; ++i) {
    const QString entry = QString::fromStdString(entries[i].name);
    if (i == hardware_->count()) hardware_->addItem({});
    hardware_->setItemText(i, entry);
    hardware_->setItemData(i, entry);
    hardware_->setItemData(i, QString::fromStdString(entries[i].words), Qt::ToolTipRole);
  }
  const int current = hardware_->findData(name);
  hardware_->setCurrentIndex(current);
  hardware_->setEnabled(prediction_.document().isReadable());
  hardwareWords_->setText(tr("%1 on %2")
                              .arg(format::plural(recipe().hardware.ranks, counted::kRank),
                                   QString::fromStdString(entries[current].words)));
  executor_->setCurrentIndex(executor_->findData(prediction_.executor()));
}

void PredictionPanel::refreshState() {
  if (!prediction_.isBehind()) {
    slow_.stop();
    activity_->clear();
  } else if (!slow_.isActive()) {
    slow_.start();
  }
  QStringList lines;
  if (prediction_.isStale())
    lines << tr("Shows the recipe before the last edit: %1").arg(prediction_.staleReason());
  if (!prediction_.trouble().isEmpty()) lines << prediction_.trouble();
  state_->setText(lines.join(QChar('\n')));
  state_->setVisible(!lines.isEmpty());
  setTone(state_, "warn");
  const bool pinned = prediction_.pinned() != nullptr;
  pin_->setChecked(pinned);
  pin_->setEnabled(prediction_.shown() != nullptr);
  pin_->setIcon(icon(QStringLiteral("pin"), pinned ? Tone::accent : Tone::muted));
  compare_->setVisible(pinned);
  compare_->setEnabled(prediction_.hasTwo());
  compare_->setToolTip(prediction_.hasTwo()
                           ? tr("Both plans side by side, node by node")
                           : tr("Nothing has changed since the pin: edit the recipe first"));
  pinned_->setVisible(pinned);
  pinned_->setText(tr("Differences to %1, as pinned").arg(prediction_.pinnedName()));
}

void PredictionPanel::refreshNumbers() {
  const auto& shown = prediction_.shown();
  numbers_->setVisible(shown != nullptr);
  empty_->setVisible(shown == nullptr);
  const recipe::Fault* model = prediction_.document().faultOf(QStringLiteral("model.preset"));
  empty_->setText(model != nullptr && prediction_.document().isOpen(*model)
                      ? tr("Choose a model to see its memory, throughput and timeline.")
                  : !prediction_.staleReason().isEmpty()
                      ? tr("No prediction: %1").arg(prediction_.staleReason())
                      : tr("Planning the step …"));
  if (!shown) return;
  const plan::Document& d = shown->document;
  memory_->display(d, prediction_.pinned() ? &prediction_.pinned()->document : nullptr,
                   prediction_.isStale());
  shortfall_->display(d, prediction_.shortfall(), prediction_.looksForWhatCloses(),
                      prediction_.isStale());
  refreshTiles();
  refreshExposed();
  certainty_->setText(certaintyOf(d).join(QChar('\n')));
  setTone(certainty_, d.never_measured.empty() && d.busy_now.empty() ? "muted" : "warn");
  published_->display(d);
  QStringList remarks;
  for (const std::string& remark : d.remarks) remarks << QString::fromStdString(remark);
  remarks_->setText(remarks.join(QChar('\n')));
  remarks_->setVisible(!remarks.isEmpty());
}

void PredictionPanel::refreshTiles() {
  const plan::Document& d = prediction_.shown()->document;
  const size_t convention = prediction_.convention();
  std::vector<FigureTile*> known;
  for (size_t i = 0; i < kFigures.size(); ++i) {
    FigureTile* tile = tiles_[i];
    const bool told = isKnown(kFigures[i], d);
    grid_->removeWidget(tile);
    tile->setVisible(told);
    if (!told) continue;
    known.push_back(tile);
    tile->setFigure(textOf(kFigures[i], d, convention));
    tile->setDifference(
        prediction_.pinned()
            ? differenceOf(kFigures[i], d, prediction_.pinned()->document, convention)
            : Difference{});
    tile->setStale(prediction_.isStale());
  }
  for (size_t i = 0; i < known.size(); ++i) {
    const bool alone = i % 2 == 0 && i + 1 == known.size();
    grid_->addWidget(known[i], static_cast<int>(i / 2), static_cast<int>(i % 2), 1, alone ? 2 : 1);
  }
  const bool counted = isKnown(Figure::mfu, d);
  conventionRow_->setVisible(counted);
  if (!counted) return;
  convention_->setText(tr("MFU: %1").arg(
      QString::fromStdString(d.mfu[std::min(convention, d.mfu.size() - 1)].convention)));
}

void PredictionPanel::refreshExposed() {
  const int room = height() - kForExposed;
  exposed_->setVisible(room >= 2 * kExposed);
  if (prediction_.shown() && room >= 2 * kExposed)
    exposed_->display(prediction_.shown()->document, room / kExposed, prediction_.isStale());
}

void PredictionPanel::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  memory_->setCompact(height() < kRoomyPanel);
  refreshExposed();
}

}  // namespace heddle::gui
