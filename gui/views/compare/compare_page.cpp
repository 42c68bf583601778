#include "gui/views/compare/compare_page.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/value.h"
#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_legend.h"
#include "gui/views/compare/run_chooser.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr size_t kShownUnasked = 2;
constexpr int kWide = 1300;      // from here on throughput and memory are next to the loss
constexpr int kVeryWide = 2000;  // and the step differences next to their timelines
constexpr int kStatistics = 400, kWideStatistics = 460;  // widths next to the timelines

bool isRun(const RunFacts& facts) { return !isPlanned(facts.detail.summary.id); }

QList<qint64> drawnRuns(const QList<qint64>& runs) {
  return runs.first(std::min(runs.size(), static_cast<qsizetype>(kMaxCompared)));
}

}  // namespace

ComparePage::ComparePage(Session& session, QWidget* parent)
    : Page(session, parent),
      newest_(session.readingThread(), this),
      reading_(session.readingThread(), this),
      listing_(session.readingThread(), this) {
  copy_ = new QAction(icon(QStringLiteral("copy")), tr("Copy table"), this);
  copy_->setObjectName(QStringLiteral("copyTable"));
  copy_->setProperty("topBar", true);
  copy_->setToolTip(tr("Copy the differences, tab-separated"));
  copy_->setEnabled(false);
  connect(copy_, &QAction::triggered, this, [this] {
    QGuiApplication::clipboard()->setText(differences_.text());
    Q_EMIT this->session().message(tr("The table of differences was copied"), Tone::good);
  });
  auto* empty = new EmptyState(QStringLiteral("compare"), tr("Nothing to compare yet"),
                               tr("Curves, recipes and timelines of several runs appear side by "
                                  "side here. Choose runs in the "
                                  "table of runs, then press Compare."),
                               tr("Choose runs"));
  connect(empty, &EmptyState::triggered, this,
          [this] { Q_EMIT this->session().pageRequested(QStringLiteral("runs")); });
  stack_ = new QStackedWidget;
  area_ = scrolled(makeContent());
  stack_->addWidget(area_);
  stack_->addWidget(empty);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(stack_);
  connect(&Theme::instance(), &Theme::changed, this, [this] {
    if (!data_.runs.empty()) display(std::move(data_));
  });
}

QWidget* ComparePage::makeContent() {
  auto* content = new QWidget;
  chips_ = new RunChips;
  connect(chips_, &RunChips::removed, this, [this](qint64 run) {
    QList<qint64> rest = runs_;
    rest.removeAll(run);
    showRuns(rest);
  });
  connect(chips_->addButton(), &QPushButton::clicked, this, &ComparePage::offerRuns);
  step_ = new QComboBox;
  step_->setProperty("role", "mono");
  step_->setObjectName(QStringLiteral("step"));
  step_->setFixedWidth(120);
  connect(step_, &QComboBox::activated, this, [this] { read(); });
  rank_ = new QComboBox;
  rank_->setProperty("role", "mono");
  rank_->setObjectName(QStringLiteral("rank"));
  rank_->setAccessibleName(tr("Rank"));
  rank_->setToolTip(tr("One rank of each pipeline stage"));
  rank_->hide();
  connect(rank_, &QComboBox::activated, this, [this] { read(); });
  auto* top = new QHBoxLayout;
  top->setSpacing(12);
  top->addWidget(chips_, 1, Qt::AlignTop);
  auto* steps = new QHBoxLayout;
  steps->setSpacing(12);
  timelinesOf_ = fieldLabel(tr("timelines of"), step_);
  steps->addWidget(timelinesOf_);
  steps->addWidget(step_);
  steps->addWidget(rank_);
  auto* right = new QVBoxLayout;
  right->addLayout(steps);
  right->addStretch(1);
  top->addLayout(right);
  tooMany_ = label({});
  setTone(tooMany_, "warn");
  tooMany_->setObjectName(QStringLiteral("tooMany"));
  tooMany_->setWordWrap(true);
  tooMany_->hide();

  loss_ = new LineChart(tr("Loss"), Unit::loss);
  lossDifference_ = new LineChart(tr("Loss difference"), Unit::loss);
  loss_->setMinimumHeight(190);
  lossDifference_->setMinimumHeight(144);
  rate_ = new LineChart(tr("Throughput"), Unit::tokens_per_second);
  rate_->setDetail(tr("a rank"));
  rate_->setWarmUp(telemetry::kWarmUpSteps);
  for (LineChart* chart : {loss_, lossDifference_, rate_}) {
    chart->setEmptyText(tr("No step has finished yet"));
    charts_.add(chart);
  }
  curves_ = new QWidget;
  auto* middle = new QVBoxLayout(curves_);
  middle->setContentsMargins(0, 0, 0, 0);
  middle->setSpacing(8);
  middle->addWidget(loss_, 3);
  middle->addWidget(lossDifference_, 2);
  upper_ = new QSplitter(Qt::Horizontal);
  upper_->setHandleWidth(8);
  upper_->setProperty("role", "gap");
  upper_->setChildrenCollapsible(false);
  upper_->addWidget(makeDifferences());
  upper_->addWidget(curves_);
  connect(upper_, &QSplitter::splitterMoved, this, [this] {
    if (keeping_) openSettings()->setValue(layoutKey(), upper_->saveState());
  });
  memory_ = new MemoryBars;
  rate_->setMinimumHeight(190);
  more_ = new QWidget;
  auto* more = new QBoxLayout(QBoxLayout::TopToBottom, more_);
  more->setContentsMargins(0, 0, 0, 0);
  more->setSpacing(8);
  more->addWidget(rate_, 1);
  more->addWidget(memory_);

  rows_ = new QVBoxLayout(content);
  rows_->setContentsMargins(metric::edge, metric::group, metric::edge, metric::group);
  rows_->setSpacing(12);
  rows_->addLayout(top);
  rows_->addWidget(tooMany_);
  rows_->addWidget(upper_, 1);
  nodes_ = new StepDifferences(session().workingThreads());
  connect(nodes_, &StepDifferences::chosenChanged, this, &ComparePage::highlight);
  steps_ = new QBoxLayout(QBoxLayout::TopToBottom);
  steps_->setSpacing(12);
  steps_->addWidget(makeTimelines(), 1);
  steps_->addWidget(nodes_, 1);
  rows_->addLayout(steps_, 1);
  arrange();
  return content;
}

void ComparePage::arrange() {
  const bool wide = width() >= kWide, veryWide = width() >= kVeryWide;
  steps_->setDirection(veryWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  balance();
  steps_->setStretchFactor(timelineCard_, veryWide ? 3 : 1);
  steps_->setStretchFactor(nodes_, veryWide ? 2 : 1);
  statistics_->setFixedWidth(veryWide ? kWideStatistics : kStatistics);
  auto* more = qobject_cast<QBoxLayout*>(more_->layout());
  more->setDirection(wide ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  more->setStretchFactor(memory_, 1);
  const bool placed = wide ? upper_->indexOf(more_) >= 0 : rows_->indexOf(more_) >= 0;
  if (placed) return;
  if (wide) {
    upper_->addWidget(more_);
    for (int i = 0; i < upper_->count(); ++i) upper_->setStretchFactor(i, i < 2 ? 5 : 4);
    upper_->setSizes({500, 500, 400});
  } else {
    rows_->addWidget(more_);
    for (int i = 0; i < upper_->count(); ++i) upper_->setStretchFactor(i, 1);
    upper_->setSizes({500, 500});
  }
  more_->show();
  if (keeping_) upper_->restoreState(openSettings()->value(layoutKey()).toByteArray());
}

/// Cards one above the other share the height.
void ComparePage::balance() {
  const bool two = steps_->direction() == QBoxLayout::TopToBottom && !nodes_->isHidden();
  rows_->setStretchFactor(steps_, two ? 2 : 1);
}

QString ComparePage::layoutKey() const {
  return QStringLiteral("compare/columns-%1").arg(upper_->count());
}

void ComparePage::keepLayout() {
  keeping_ = true;
  upper_->restoreState(openSettings()->value(layoutKey()).toByteArray());
}

void ComparePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  arrange();
}

Card* ComparePage::makeDifferences() {
  auto* card = new Card(tr("Differences"));
  keys_ = new Segment({tr("what differs"), tr("all keys")});
  keys_->setObjectName(QStringLiteral("keys"));
  keys_->button(1)->setToolTip(tr("Every key of recipe and environment"));
  connect(keys_, &Segment::currentChanged, this,
          [this](int choice) { differences_.setAllKeys(choice == 1); });
  card->addControl(keys_);
  card->setBodyMargins(0, 0, 0, 4);
  card->setMinimumHeight(280);
  card->body()->addWidget(new DifferenceView(differences_));
  return card;
}

QWidget* ComparePage::makeTimelines() {
  timelineCard_ = new Card(tr("Timelines"));
  timelineCard_->setMinimumHeight(330);
  timelineCard_->setBodyMargins(0, 0, 0, 0);
  timelineCard_->addControl(new TimelineLegend);
  auto* view = new TimelineView;
  timelines_ = view->timeline();
  timelineCard_->addControl(view->tools());
  timelines_->setEmptyText(tr("None of these runs has a profiled step"));
  connect(timelines_, &TimelineWidget::selectionChanged, this, &ComparePage::showStatistics);
  statistics_ = new StepStatistics;
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  row->addWidget(view, 1);
  row->addWidget(line(Qt::Vertical));
  row->addWidget(statistics_);
  timelineCard_->body()->addLayout(row);
  return timelineCard_;
}

QString ComparePage::subtitle() const {
  if (data_.runs.empty()) return {};
  const auto count = static_cast<qint64>(data_.runs.size());
  if (hasPlansAlone()) return format::plural(count, tr("predicted plan"));
  const QString drawn = format::plural(count, tr("run"));
  return runs_.size() > drawnRuns(runs_).size()
             ? tr("%1 of %2").arg(drawn).arg(format::count(runs_.size()))
             : drawn;
}

void ComparePage::activated() {
  if (chosen_ && !runs_.isEmpty()) {
    if (!reading_.running()) read(false);
    return;
  }
  if (newest_.running()) return;
  asked_ = true;
  session().read(
      newest_, [](storage::Reader& reader) { return newestRuns(reader, kShownUnasked); },
      [this](const Result<std::vector<storage::RunId>>& runs) {
        if (chosen_ || !runs) return;
        setRuns(QList<qint64>(runs->begin(), runs->end()));
        stack_->setCurrentIndex(runs_.isEmpty() ? 1 : 0);
        if (!runs_.isEmpty()) read(false);
      });
}

void ComparePage::showRun(qint64 run) {
  QList<qint64> runs = runs_;
  if (!runs.contains(run)) runs.append(run);
  showRuns(runs);
}

void ComparePage::showRuns(const QList<qint64>& runs) {
  chosen_ = !runs.isEmpty();
  setRuns(runs);
  data_ = {};
  present_ = {};
  step_->clear();
  rank_->clear();
  if (runs.isEmpty()) {
    reading_.drop();
    stack_->setCurrentIndex(1);
    copy_->setEnabled(false);
    Q_EMIT headerChanged();
    return;
  }
  stack_->setCurrentIndex(0);
  asked_ = true;
  read();
}

void ComparePage::showNodes(qint64 run) {
  nodesOf_ = run;
  QList<qint64> runs = chosen_ ? runs_ : QList<qint64>();
  if (const auto drawn = drawnRuns(runs); !drawn.contains(run)) {
    // Only the first of too many are drawn: it has to be among them.
    runs.removeAll(run);
    runs.insert(std::min(drawn.size(), static_cast<qsizetype>(kMaxCompared) - 1), run);
  }
  showRuns(runs);
}

void ComparePage::showPlans(const std::vector<PlannedRecipe>& plans) {
  plans_.clear();
  QList<qint64> ids;
  for (const PlannedRecipe& plan : plans) {
    ids.append(-1 - ids.size());
    plans_[ids.last()] = plan;
  }
  showRuns(ids);
}

void ComparePage::setRuns(const QList<qint64>& runs) {
  const QList<qint64> before = std::exchange(runs_, {});
  for (const qint64 run : runs)
    if (!runs_.contains(run)) runs_.append(run);
  std::erase_if(plans_, [this](const auto& plan) { return !runs_.contains(plan.first); });
  // The user's zoom stays while the same runs go on.
  if (runs_ == before) return;
  for (LineChart* chart : {loss_, lossDifference_, rate_}) chart->showAll();
}

void ComparePage::read(bool anyway) {
  session().read(
      reading_,
      [runs = std::vector<storage::RunId>(runs_.begin(), runs_.end()), plans = plans_,
       before = anyway ? Present() : present_, step = step_->currentData().toLongLong(),
       rank = rank_->currentData().toLongLong()](storage::Reader& reader) -> Result<Answer> {
        auto present = presentRuns(reader, runs);
        if (!present) return fail(present);
        Answer answer{std::move(*present), std::nullopt};
        if (answer.present.runs.empty() || answer.present == before) return answer;
        const auto& there = answer.present.runs;
        const auto count = static_cast<ptrdiff_t>(std::min(there.size(), kMaxCompared));
        const std::vector<storage::RunId> drawn(there.begin(), there.begin() + count);
        auto data = readCompareData(reader, drawn, plans, step, rank);
        if (!data) return fail(data);
        answer.data = std::move(*data);
        return answer;
      },
      [this](Result<Answer> answer) {
        if (!answer)
          return Q_EMIT session().message(QString::fromStdString(answer.error().message),
                                          Tone::bad);
        take(std::move(*answer));
      });
}

void ComparePage::take(Answer answer) {
  const auto& there = answer.present.runs;
  // Drops runs that were removed meanwhile or are in the trash.
  if (there.size() != static_cast<size_t>(runs_.size()))
    setRuns(QList<qint64>(there.begin(), there.end()));
  present_ = std::move(answer.present);
  if (runs_.isEmpty()) return showRuns({});
  if (answer.data) display(std::move(*answer.data));
}

void ComparePage::display(CompareData data) {
  data_ = std::move(data);
  strokes_.clear();
  for (const int slot : session().runSlots().of(drawnRuns(runs_)))
    strokes_.append(runStroke(slot, Theme::instance().scheme()));
  chips_->setRuns(data_.comparison.runs, strokes_);
  tooMany_->setVisible(runs_.size() > drawnRuns(runs_).size());
  tooMany_->setText(tr("%1 are chosen; only the first %2 are drawn. Remove some, untick them under "
                       "Add run, or choose fewer in Runs.")
                        .arg(format::plural(runs_.size(), tr("run")))
                        .arg(kMaxCompared));
  differences_.setComparison(data_.comparison, strokes_);
  copy_->setEnabled(true);
  const qlonglong before = step_->currentData().toLongLong();
  step_->clear();
  step_->addItem(tr("newest"), 0);
  for (auto step = data_.commonSteps.rbegin(); step != data_.commonSteps.rend(); ++step)
    step_->addItem(tr("step %1").arg(format::count(*step)), QVariant::fromValue<qlonglong>(*step));
  step_->setCurrentIndex(std::max(0, step_->findData(before)));
  rank_->clear();
  for (const int64_t rank : data_.ranks)
    rank_->addItem(tr("rank %1").arg(rank), QVariant::fromValue<qlonglong>(rank));
  rank_->setCurrentIndex(std::max(0, rank_->findData(QVariant::fromValue<qlonglong>(data_.rank))));
  showControls();
  showCurves(data_);
  showMemory();
  showTimelines();
  showSteps();
  Q_EMIT headerChanged();
}

bool ComparePage::hasPlansAlone() const {
  return !data_.runs.empty() && std::ranges::none_of(data_.runs, isRun);
}

/// Plans have no steps to choose from, and no curves.
void ComparePage::showControls() {
  const bool plans = hasPlansAlone();
  rank_->setVisible(data_.ranks.size() > 1);
  step_->setVisible(!plans);
  timelinesOf_->setVisible(!plans || data_.ranks.size() > 1);
  curves_->setVisible(!plans);
  rate_->setVisible(!plans);
}

void ComparePage::showCurves(const CompareData& data) {
  for (LineChart* chart : {loss_, lossDifference_, rate_}) chart->clearCurves();
  for (size_t i = 0; i < data.runs.size(); ++i) {
    if (!isRun(data.runs[i])) continue;
    const RunStroke& stroke = strokes_[static_cast<qsizetype>(i)];
    const QString name = format::spelled(data.runs[i].detail.summary.name);
    loss_->setSeries(loss_->addCurve(name, stroke.color, stroke.marker), data.runs[i].loss);
    rate_->setSeries(rate_->addCurve(name, stroke.color, stroke.marker), data.runs[i].rate);
  }
  // A resumed run and its parent have no step in common.
  const bool two = !data.lossDifference.empty();
  lossDifference_->setVisible(two);
  if (two) {
    lossDifference_->setDetail(
        QStringLiteral("%1 − %2").arg(format::shortName(data.runs[1].detail.summary.name),
                                      format::shortName(data.runs[0].detail.summary.name)));
    lossDifference_->setSeries(lossDifference_->addCurve(tr("difference"), colors().text),
                               data.lossDifference);
  }
  for (LineChart* chart : {loss_, lossDifference_, rate_}) chart->flush();
}

void ComparePage::showMemory() {
  std::vector<MemoryBars::Run> runs;
  for (size_t i = 0; i < data_.runs.size(); ++i) {
    const storage::RunDetail& run = data_.runs[i].detail;
    runs.push_back({format::spelled(run.summary.name), strokes_[static_cast<qsizetype>(i)],
                    resultOf(run, "peak_bytes"), resultOf(run, "predicted_peak_bytes")});
  }
  memory_->display(runs);
}

void ComparePage::showTimelines() {
  std::vector<TimelineRow> rows;
  drawn_.clear();
  for (size_t i = 0; i < data_.runs.size(); ++i) {
    const RunFacts& run = data_.runs[i];
    const RunStroke& stroke = strokes_[static_cast<qsizetype>(i)];
    TimelineRow row;
    row.title = format::spelled(run.detail.summary.name);
    if (run.timeline) row.subtitle = format::seconds(double(run.timeline->lengthUs()) / 1e6);
    row.color = stroke.color;
    row.marker = stroke.marker;
    row.timeline = run.timeline;
    if (run.steps) row.plan = run.steps->plan;
    if (showsMeasured(i)) {
      rows.push_back(row);
      drawn_.push_back({run.detail.summary.id, workbench::Kind::measured});
    }
    if (!showsPredicted(i)) continue;
    drawn_.push_back({run.detail.summary.id, workbench::Kind::predicted});
    if (showsMeasured(i)) row.title = tr("predicted");
    row.subtitle = format::seconds(double(run.predicted->lengthUs()) / 1e6);
    row.timeline = run.predicted;
    rows.push_back(std::move(row));
  }
  timelines_->setRows(std::move(rows));
  timelineCard_->setNote(
      hasPlansAlone() ? tr("as predicted, rank %1, aligned at their start").arg(data_.rank)
      : data_.commonSteps.empty()
          ? tr("the newest profiled step of each, rank %1, aligned at its start").arg(data_.rank)
          : tr("step %1, rank %2, aligned at its start")
                .arg(format::count(std::ranges::find_if(data_.runs, isRun)->steps->step))
                .arg(data_.rank));
  showStatistics();
}

bool ComparePage::showsPredicted(size_t run) const {
  constexpr size_t kMaxRuns = 4;
  const RunFacts& of = data_.runs[run];
  if (!showsMeasured(run)) return of.predicted != nullptr;
  return of.timeline && of.predicted && data_.runs.size() <= kMaxRuns;
}

void ComparePage::showStatistics() {
  std::vector<StepStatistics::Run> runs;
  size_t row = 0;
  for (size_t i = 0; i < data_.runs.size(); ++i) {
    const RunStroke& stroke = strokes_[static_cast<qsizetype>(i)];
    const QString name = format::spelled(data_.runs[i].detail.summary.name);
    const bool measured = showsMeasured(i), predicted = showsPredicted(i);
    const size_t at = row;
    row += measured + predicted;
    // A prediction comes first, as in the steps below: differences are of the measured from it.
    if (predicted)
      runs.push_back(
          {measured ? tr("pred.") : name, stroke, timelines_->statistics(at + measured)});
    if (measured && data_.runs[i].timeline)
      runs.push_back({name, stroke, timelines_->statistics(at)});
  }
  const auto selection = timelines_->selection();
  statistics_->setVisible(!runs.empty());
  statistics_->display(runs, selection ? std::optional(selection->length()) : std::nullopt);
}

void ComparePage::showSteps() {
  std::vector<std::shared_ptr<const workbench::RunSteps>> steps;
  for (const RunFacts& run : data_.runs) steps.push_back(run.steps);
  nodes_->setSteps(std::move(steps), data_.rank);
  balance();
  if (const qint64 run = std::exchange(nodesOf_, 0); run != 0) {
    nodes_->pickPrediction(run);
    // The card gets its place with the layout.
    QTimer::singleShot(0, this, [this] { area_->ensureWidgetVisible(nodes_, 0, metric::group); });
  }
}

void ComparePage::highlight() {
  const auto& chosen = nodes_->chosen();
  if (!chosen) {
    timelines_->setHighlight({});
    return timelines_->fit();
  }
  timelines_->setHighlight([chosen = *chosen, drawn = drawn_](size_t row, const auto& span) {
    return row < drawn.size() && chosen.has(drawn[row], span);
  });
  timelines_->showFound();
}

void ComparePage::offerRuns() {
  session().read(
      listing_, [](storage::Reader& reader) { return reader.runs(); },
      [this](Result<std::vector<storage::RunSummary>> runs) {
        if (!runs) return;
        std::erase_if(*runs, [](const storage::RunSummary& run) { return run.steps == 0; });
        auto* chooser = new RunChooser(this);
        chooser->setRuns(std::move(*runs), QSet<qint64>(runs_.begin(), runs_.end()));
        connect(chooser, &RunChooser::ticked, this, [this](qint64 run, bool on) {
          QList<qint64> chosen = runs_;
          chosen.removeAll(run);
          if (on) chosen.append(run);
          showRuns(chosen);
        });
        const QPushButton* button = chips_->addButton();
        chooser->popup(button->mapToGlobal(QPoint(0, button->height() + 4)));
      });
}

}  // namespace heddle::gui
