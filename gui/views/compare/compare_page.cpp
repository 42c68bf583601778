#include "gui/views/compare/compare_page.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "gui/format.h"
#include "gui/preferences.h"
#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/run_commands.h"
#include "gui/views/compare/run_groups.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/folding_row.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/run_chooser.h"
#include "gui/widgets/why_not.h"
#include "workbench/report/report.h"

namespace heddle::gui {
namespace {

constexpr qsizetype kFew = 4;    // so many runs are columns; of more each is a row
constexpr int kVeryWide = 2000;  // from here on step differences are next to their timelines
constexpr int kStatistics = 400, kWideStatistics = 460;  // widths next to the timelines
constexpr int kRowHeight = 24, kTableAround = 92, kMaxTableRows = 16, kMaxGroupRows = 8;
constexpr int kCharts = 300;  // the least height of the charts below a table
enum OwnGroups { kNoGroups, kSeeds, kRecorded };

}  // namespace

ComparePage::ComparePage(Session& session, QWidget* parent)
    : Page(session, parent),
      newest_(session.readingThread(), this),
      reading_(session.readingThread(), this),
      listing_(session.readingThread(), this),
      reporting_(session.readingThread(), this) {
  others_ = new QAction(icon(QStringLiteral("plus")), tr("From another store"), this);
  others_->setObjectName(QStringLiteral("compareOthers"));
  others_->setProperty("topBar", true);
  others_->setToolTip(
      tr("Compare with runs of another store: copies of them come into this one, the other is only "
         "read"));
  connect(others_, &QAction::triggered, this,
          [this] { Q_EMIT this->session().otherStoreRequested(runs()); });
  report_ = new QAction(icon(QStringLiteral("file")), tr("Report"), this);
  report_->setObjectName(QStringLiteral("compareReport"));
  report_->setProperty("topBar", true);
  report_->setToolTip(
      tr("Write this comparison into one file to send: HTML with its pictures, or "
         "Markdown"));
  report_->setEnabled(false);
  connect(report_, &QAction::triggered, this, &ComparePage::writeReport);
  copy_ = new QAction(icon(QStringLiteral("copy")), tr("Copy table"), this);
  copy_->setObjectName(QStringLiteral("copyTable"));
  copy_->setProperty("topBar", true);
  copy_->setToolTip(tr("Copy the differences, tab-separated"));
  copy_->setEnabled(false);
  for (QAction* action : {report_, copy_}) setWhyNot(action, tr("choose runs to compare first"));
  connect(copy_, &QAction::triggered, this, &ComparePage::copyTable);
  auto* empty = new EmptyState(QStringLiteral("compare"), tr("Nothing to compare yet"),
                               tr("Curves, recipes and timelines of several runs appear side by "
                                  "side here. Choose runs in the "
                                  "table of runs, then press Compare."),
                               tr("Choose runs"));
  connect(empty, &EmptyState::triggered, this,
          [this] { Q_EMIT this->session().pageRequested(QStringLiteral("runs")); });
  stack_ = new QStackedWidget;
  columnOf(this)->addWidget(stack_);
  area_ = scrolled(makeContent(), stack_);
  area_->setAccessibleName(tr("Comparison"));
  stack_->addWidget(area_);
  stack_->addWidget(empty);
  connectChoices();
  connect(&Theme::instance(), &Theme::changed, this, &ComparePage::display);
  connect(&KeptPreferences::instance(), &KeptPreferences::changed, this,
          [this](const Preferences& before) {
            const bool other = before.comparedAtFirst != preferences().comparedAtFirst;
            if (other && !chosen_ && asked_) activated();
          });
}

QWidget* ComparePage::makeContent() {
  auto* content = new QWidget;
  board_ = new ChartBoard(session());
  board_->setDefaults({{.metric = "loss"},
                       {.metric = "loss", .difference = true},
                       {.metric = "tokens_per_second"}});
  board_->setViews(QStringLiteral("compare"));
  upper_ = new QSplitter(Qt::Horizontal);
  upper_->setHandleWidth(8);
  upper_->setProperty("role", "gap");
  upper_->setChildrenCollapsible(false);
  upper_->addWidget(makeDifferences());
  upper_->addWidget(board_);
  connect(upper_, &QSplitter::splitterMoved, this, [this] {
    if (keeping_) openSettings()->setValue(layoutKey(), upper_->saveState());
  });
  memory_ = new MemoryBars;
  relations_ = new Relations(choices_);
  timelines_ = new CompareTimelines;
  connect(timelines_, &CompareTimelines::saved, this, [this](const QString& words, bool good) {
    Q_EMIT this->session().message(words, good ? Tone::good : Tone::bad);
  });
  connect(timelines_, &CompareTimelines::readNeeded, this, [this] { read(); });
  connect(timelines_->chooseButton(), &QPushButton::clicked, this, &ComparePage::offerTimelines);
  nodes_ = new StepDifferences(session().workingThreads());
  connect(nodes_, &StepDifferences::chosenChanged, this,
          [this] { timelines_->highlight(nodes_->chosen()); });
  steps_ = new QBoxLayout(QBoxLayout::TopToBottom);
  steps_->setSpacing(12);
  steps_->addWidget(timelines_, 1);
  steps_->addWidget(nodes_, 1);

  rows_ = new QVBoxLayout(content);
  rows_->setContentsMargins(metric::edge, metric::group, metric::edge, metric::group);
  rows_->setSpacing(12);
  rows_->addWidget(makeTop());
  rows_->addWidget(legend_);
  rows_->addWidget(upper_, 1);
  rows_->addWidget(relations_);
  rows_->addWidget(memory_);
  rows_->addLayout(steps_, 1);
  arrange();
  return content;
}

QWidget* ComparePage::makeTop() {
  chips_ = new RunChips(choices_);
  add_ = quietButton(tr("Add run"), QStringLiteral("plus"));
  add_->setObjectName(QStringLiteral("addRun"));
  connect(add_, &QPushButton::clicked, this, &ComparePage::offerRuns);
  colorBy_ = new KeyBox(tr("Coloured by"), {tr("each run")});
  groupBy_ = new KeyBox(tr("Grouped by"),
                        {tr("nothing"), tr("equal recipes (seeds)"), tr("sweep or group")});
  for (KeyBox* box : {colorBy_, groupBy_})
    connect(box, &QComboBox::currentIndexChanged, this, &ComparePage::display);
  colorBy_->setToolTip(
      tr("Curves, chips and tables in the colours of a key's values, instead of one for each run"));
  groupBy_->setToolTip(tr("Charts draw a group as its mean and its range"));
  showAll_ = linkButton({});
  showAll_->setObjectName(QStringLiteral("showAllRuns"));
  connect(showAll_, &QPushButton::clicked, this, [this] { choices_.setHidden(runs(), false); });
  legend_ = new ColorLegend;
  auto* tools = new QWidget;
  QHBoxLayout* right = rowOf(tools, {}, 8);
  right->addWidget(showAll_);
  for (const auto& [name, box] :
       {std::pair{tr("colour by"), colorBy_}, std::pair{tr("group by"), groupBy_}}) {
    auto* label = muted(name);
    label->setBuddy(box);
    right->addWidget(label);
    right->addWidget(box);
  }
  right->addWidget(add_);
  return new FoldingRow({chips_, tools}, 8, true);
}

Card* ComparePage::makeDifferences() {
  differenceCard_ = new Card(tr("Differences"));
  numbers_ = new Segment({tr("values"), tr("from baseline")});
  numbers_->setObjectName(QStringLiteral("numbers"));
  numbers_->button(1)->setToolTip(
      tr("Every result as its difference from the baseline's. ▲ better, ▼ worse"));
  connect(numbers_, &Segment::currentChanged, this, [this](int choice) {
    differences_.setDifferences(choice == 1);
    table_.setDifferences(choice == 1);
    if (data_.comparison->runs.empty()) return;
    showGroups();
    timelines_->setBaseline(differencesFrom());
  });
  keysShown_ = new Segment({tr("what differs"), tr("all keys")});
  keysShown_->setObjectName(QStringLiteral("keys"));
  keysShown_->button(1)->setToolTip(tr("Every key of recipe and environment"));
  connect(keysShown_, &Segment::currentChanged, this, [this](int choice) {
    differences_.setAllKeys(choice == 1);
    table_.setAllKeys(choice == 1);
  });
  differenceCard_->addControl(numbers_);
  differenceCard_->addControl(keysShown_);
  differenceCard_->setBodyMargins(0, 0, 0, 4);
  tables_ = new QStackedWidget;
  differenceView_ = new DifferenceView(differences_);
  tables_->addWidget(differenceView_);
  tables_->addWidget(new RunTable(table_, choices_));
  differenceCard_->body()->addWidget(tables_, 1);
  groupTable_ = new FigureTable(QStringLiteral("groupTable"), tr("Groups"), groups_);
  groupTable_->setItemDelegate(new ValueDelegate(groupTable_));
  groupTable_->setCornerButtonEnabled(false);
  groupTable_->verticalHeader()->show();
  differenceCard_->body()->addWidget(groupTable_);
  return differenceCard_;
}

void ComparePage::connectChoices() {
  connect(&choices_, &CompareChoices::removeRequested, this, [this](const QList<qint64>& gone) {
    QList<qint64> rest = runs();
    for (const qint64 run : gone) rest.removeAll(run);
    showRuns(rest);
  });
  connect(&choices_, &CompareChoices::baselineChanged, this, &ComparePage::display);
  connect(&choices_, &CompareChoices::timelinesChanged, this, [this] { read(); });
  for (const auto change : {&CompareChoices::hiddenChanged, &CompareChoices::highlightChanged})
    connect(&choices_, change, this, [this] {
      showHidden();
      showCurves();
    });
}

bool ComparePage::isMany() const { return runs().size() > kFew; }

void ComparePage::arrange() {
  const bool many = isMany(), veryWide = width() >= kVeryWide;
  steps_->setDirection(veryWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  steps_->setStretchFactor(timelines_, veryWide ? 3 : 1);
  steps_->setStretchFactor(nodes_, veryWide ? 2 : 1);
  timelines_->setStatisticsWidth(veryWide ? kWideStatistics : kStatistics);
  tables_->setCurrentIndex(many ? 1 : 0);
  chips_->setVisible(!many);
  const int rows = std::min(table_.rowCount(), kMaxTableRows);
  const int groups = groupTable_->isHidden() ? 0 : groupTable_->height();
  differenceCard_->setMinimumHeight(groups + (many ? rows * kRowHeight + kTableAround : 280));
  differenceCard_->setMinimumWidth(
      many ? 0 : std::min(differenceView_->leastWidth() + 2, width() * 3 / 5));
  // Below a long table the charts are as high as next to a short one.
  board_->setLeastHeight(many ? kCharts : 0);
  upper_->setStretchFactor(1, many ? 1 : 0);
  const Qt::Orientation across = many ? Qt::Vertical : Qt::Horizontal;
  if (upper_->orientation() == across) return;
  upper_->setOrientation(across);
  if (keeping_) upper_->restoreState(openSettings()->value(layoutKey()).toByteArray());
}

void ComparePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  arrange();
}

QList<KeyTable> ComparePage::keys() const {
  return {runKeys(),         ParallelPlot::keys(),   ScatterPlot::keys(),
          LineChart::keys(), TimelineWidget::keys(), FigureTable::keys()};
}

QString ComparePage::subtitle() const {
  if (data_.comparison->runs.empty()) return {};
  const auto count = static_cast<qint64>(data_.comparison->runs.size());
  return format::plural(count, data_.hasPlansAlone() ? counted::kPredictedPlan : counted::kRun);
}

void ComparePage::activated() {
  if (chosen_ && !runs().isEmpty()) {
    asked_ = true;
    if (!reading_.running()) read(false);
    return;
  }
  if (newest_.running()) return;
  asked_ = true;
  session().read(
      newest_,
      [count = preferences().comparedAtFirst](storage::Reader& reader) {
        return newestRuns(reader, static_cast<size_t>(count));
      },
      [this](const Result<std::vector<storage::RunId>>& newest) {
        if (chosen_ || !newest) return;
        const bool same = runs() == QList<qint64>(newest->begin(), newest->end());
        if (!same) {
          const QSignalBlocker quiet(choices_);
          choices_.setRuns(QList<qint64>(newest->begin(), newest->end()));
        }
        stack_->setCurrentIndex(runs().isEmpty() ? 1 : 0);
        if (!runs().isEmpty()) read(!same);
      });
}

void ComparePage::showRun(qint64 run) {
  QList<qint64> all = runs();
  if (!all.contains(run)) all.append(run);
  showRuns(all);
}

void ComparePage::showRuns(const QList<qint64>& wanted) {
  chosen_ = !wanted.isEmpty();
  QList<qint64> once;
  QSet<qint64> seen;
  for (const qint64 run : wanted) {
    if (seen.contains(run)) continue;
    seen.insert(run);
    once.append(run);
  }
  std::erase_if(plans_, [&](const auto& plan) { return !seen.contains(plan.first); });
  // The user's zoom stays while the same runs go on.
  if (once != runs())
    for (MetricChart* chart : board_->charts()) chart->showAll();
  {
    const QSignalBlocker quiet(choices_);  // all of it is read and shown below
    choices_.setRuns(once);
  }
  timelines_->reset();
  if (once.isEmpty()) {
    data_ = {};
    reading_.drop();
    stack_->setCurrentIndex(1);
    copy_->setEnabled(false);
    report_->setEnabled(false);
    Q_EMIT headerChanged();
    return;
  }
  stack_->setCurrentIndex(0);
  asked_ = true;
  read();
}

void ComparePage::showNodes(qint64 run) {
  nodesOf_ = run;
  QList<qint64> all = chosen_ ? runs() : QList<qint64>();
  if (!all.contains(run)) all.append(run);
  if (all.size() > CompareChoices::kTimelines) {
    const QSignalBlocker quiet(choices_);
    choices_.setRuns(all);
    choices_.setTimelines({run}, true);
  }
  showRuns(all);
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

void ComparePage::read(bool anyway) {
  const QList<qint64> shown = choices_.timelines();
  CompareQuery query{.runs = {runs().begin(), runs().end()},
                     .plans = plans_,
                     .timelines = {shown.begin(), shown.end()},
                     .step = timelines_->step(),
                     .rank = timelines_->rank(),
                     .anyway = anyway};
  session().read(
      reading_,
      [reader = reader_, query = std::move(query)](storage::Reader& store) {
        return reader->read(store, query);
      },
      [this](Result<CompareAnswer> answer) {
        if (!answer)
          return Q_EMIT session().message(QString::fromStdString(answer.error().message),
                                          Tone::bad);
        take(std::move(*answer));
      });
}

void ComparePage::take(CompareAnswer answer) {
  const QList<qint64> there(answer.present.begin(), answer.present.end());
  // Drops runs that were removed meanwhile or are in the trash.
  if (there != runs()) {
    const QList<qint64> before = choices_.timelines();
    {
      const QSignalBlocker quiet(choices_);
      choices_.setRuns(there);
    }
    if (there.isEmpty()) return showRuns({});
    if (choices_.timelines() != before) read();
  }
  if (!answer.data) return;
  data_ = std::move(*answer.data);
  display();
}

void ComparePage::display() {
  if (data_.comparison->runs.empty()) return;
  const std::vector<ComparedKey>& keys = *data_.keys;
  for (KeyBox* box : {colorBy_, groupBy_}) box->setKeys(keys);
  const Scheme scheme = Theme::instance().scheme();
  QList<qint64> ids;
  for (const storage::RunSummary& run : data_.comparison->runs) ids.append(run.id);
  const auto key = colorBy_->key();
  coloring_ =
      key ? colorByKey(keys[*key], scheme) : colorByRun(session().runSlots().of(ids), scheme);
  legend_->setColoring(key ? keys[*key].name : QString(), coloring_);
  copy_->setEnabled(true);
  report_->setEnabled(!data_.hasPlansAlone());
  showTables();
  showGroups();
  showHidden();
  showCurves();
  relations_->display(*data_.comparison, data_.keys, coloring_.strokes);
  showMemory();
  showSteps();
  arrange();
  Q_EMIT headerChanged();
}

void ComparePage::showTables() {
  const bool many = isMany();
  const size_t runCount = data_.comparison->runs.size();
  const auto leftOut = static_cast<qint64>(data_.leftOut);
  differenceCard_->setNote(
      leftOut == 0 ? QString() : tr("%1 other metrics are in the charts alone").arg(leftOut));
  numbers_->setVisible(runCount > 2);  // two have a column for it
  groupBy_->setEnabled(runCount > 2);
  chips_->setRuns(many ? std::vector<storage::RunSummary>() : data_.comparison->runs,
                  coloring_.strokes);
  if (many)
    table_.setComparison(data_.comparison, data_.keys, coloring_.strokes);
  else
    differences_.setComparison(data_.comparison, coloring_.strokes,
                               data_.indexOf(choices_.baseline()));
}

void ComparePage::showHidden() {
  const auto hidden = choices_.hiddenCount();
  showAll_->setText(tr("%1 hidden: show all").arg(format::plural(hidden, counted::kRun)));
  showAll_->setVisible(hidden > 0);
}

QStringList ComparePage::groupNames() const {
  if (const auto key = groupBy_->key()) return groupsBy((*data_.keys)[*key]);
  switch (groupBy_->ownChoice()) {
    case kSeeds:
      return seedGroups(*data_.comparison, *data_.keys);
    case kRecorded:
      return recordedGroups(*data_.comparison);
    default:
      return {};
  }
}

/// With two runs the differences have a column of their own.
qint64 ComparePage::differencesFrom() const {
  const bool wanted = numbers_->current() == 1 && data_.comparison->runs.size() > 2;
  return wanted ? choices_.baseline() : 0;
}

void ComparePage::showGroups() {
  const QStringList names = groupNames();
  const qint64 from = differencesFrom();
  groups_.setGroups(*data_.keys, names,
                    from != 0 ? std::optional(data_.indexOf(from)) : std::nullopt);
  groupTable_->resizeColumnsToContents();
  const int rows = std::min(groups_.rowCount(), kMaxGroupRows);
  groupTable_->setFixedHeight((rows + 2) * kRowHeight + 8);
  groupTable_->setVisible(rows > 0);
}

void ComparePage::showCurves() {
  const QStringList groups = groupNames();
  std::vector<BoardRun> shown;
  for (size_t i = 0; i < data_.comparison->runs.size(); ++i) {
    const storage::RunSummary& run = data_.comparison->runs[i];
    if (isPlanned(run.id)) continue;
    const auto at = static_cast<qsizetype>(i);
    shown.push_back({run.id, format::spelled(run.name), coloring_.strokes[at], groups.value(at),
                     choices_.isHidden(run.id), choices_.highlighted().contains(run.id)});
  }
  board_->setVisible(!shown.empty());
  board_->setBaseline(choices_.baseline() > 0 ? choices_.baseline() : 0);
  board_->setRuns(std::move(shown));
}

MemoryBars::Run ComparePage::memoryOf(size_t run) const {
  MemoryBars::Run bars;
  bars.name = format::spelled(data_.comparison->runs[run].name);
  bars.stroke = coloring_.strokes[static_cast<qsizetype>(run)];
  for (const storage::Compared& result : data_.comparison->results) {
    const bool measured = result.key == "peak_bytes";
    if (!measured && result.key != "predicted_peak_bytes") continue;
    MemoryBars::Peak& peak = measured ? bars.measured : bars.predicted;
    if (const auto& value = result.values[run]) peak.bytes = storage::number_of(*value);
    const size_t baseline = data_.indexOf(choices_.baseline());
    if (baseline >= result.values.size() || baseline == run) continue;
    if (const auto difference =
            storage::difference_of(result.key, result.values[baseline], result.values[run]))
      peak.difference = QString::fromStdString(storage::difference_text(result.key, *difference));
  }
  bars.predicted.uses = data_.memory[run].predicted;
  bars.measured.uses = data_.memory[run].measured;
  return bars;
}

void ComparePage::showMemory() {
  std::vector<MemoryBars::Run> bars;
  for (size_t run = 0; run < data_.comparison->runs.size(); ++run) bars.push_back(memoryOf(run));
  memory_->display(bars);
}

void ComparePage::showSteps() {
  timelines_->setBaseline(differencesFrom());
  timelines_->display(data_, coloring_.strokes);
  std::vector<std::shared_ptr<const workbench::RunSteps>> steps;
  for (const ShownStep& shown : data_.steps) steps.push_back(shown.facts.steps);
  nodes_->setSteps(std::move(steps), data_.rank, choices_.baseline());
  const bool two = steps_->direction() == QBoxLayout::TopToBottom && !nodes_->isHidden();
  rows_->setStretchFactor(steps_, two ? 2 : 1);
  if (const qint64 run = std::exchange(nodesOf_, 0); run != 0) {
    nodes_->pickPrediction(run);
    // The card gets its place with the layout.
    QTimer::singleShot(0, this, [this] { area_->ensureWidgetVisible(nodes_, 0, metric::group); });
  }
}

void ComparePage::offerRuns() {
  session().read(
      listing_, [](storage::Reader& reader) { return reader.runs(); },
      [this](Result<std::vector<storage::RunSummary>> all) {
        if (!all) return;
        std::erase_if(*all, [](const storage::RunSummary& run) { return run.steps == 0; });
        openChooser(add_, std::move(*all), runs(), [this](qint64 run, bool on) {
          QList<qint64> chosen = runs();
          chosen.removeAll(run);
          if (on) chosen.append(run);
          showRuns(chosen);
        });
      });
}

void ComparePage::offerTimelines() {
  openChooser(timelines_->chooseButton(), data_.comparison->runs, choices_.timelines(),
              [this](qint64 run, bool on) { choices_.setTimelines({run}, on); });
}

void ComparePage::openChooser(QWidget* at, std::vector<storage::RunSummary> all,
                              const QList<qint64>& ticked,
                              const std::function<void(qint64, bool)>& tick) {
  auto* chooser = new RunChooser(this);
  chooser->setRuns(std::move(all), QSet<qint64>(ticked.begin(), ticked.end()));
  connect(chooser, &RunChooser::ticked, this, tick);
  chooser->open(at);
}

/// The page's charts, colours and groups, for white paper.
void ComparePage::describeLook(workbench::ReportQuery& query) const {
  for (const MetricChart* chart : board_->charts()) {
    const ChartSpec& spec = chart->spec();
    workbench::ReportChartQuery of{.metric = spec.metric,
                                   .x = spec.x == ChartX::step     ? ""
                                        : spec.x == ChartX::metric ? spec.xMetric
                                        : spec.x == ChartX::tokens ? "tokens"
                                                                   : "time",
                                   .difference = spec.difference,
                                   .grouped = spec.aggregate,
                                   .smoothing = spec.smoothing};
    if (std::ranges::find(query.charts, of) == query.charts.end())
      query.charts.push_back(std::move(of));
  }
  QList<qint64> ids;
  for (const storage::RunSummary& run : data_.comparison->runs) ids.append(run.id);
  const auto key = colorBy_->key();
  const RunColoring coloring = key ? colorByKey((*data_.keys)[*key], Scheme::light)
                                   : colorByRun(session().runSlots().of(ids), Scheme::light);
  if (key) query.colored_by = (*data_.keys)[*key].name.toStdString();
  const QStringList groups = groupNames();
  for (qsizetype i = 0; i < ids.size(); ++i) {
    query.colors[ids[i]] = coloring.strokes[i].color.name().toStdString();
    if (!groups.value(i).isEmpty()) query.groups[ids[i]] = groups[i].toStdString();
  }
}

/// Hidden runs are left out, and plans: the store does not have them.
void ComparePage::writeReport() {
  workbench::ReportQuery query{
      .baseline = choices_.baseline(), .rank = timelines_->rank(), .step = timelines_->step()};
  for (const storage::RunSummary& run : data_.comparison->runs)
    if (!isPlanned(run.id) && !choices_.isHidden(run.id)) query.runs.push_back(run.id);
  describeLook(query);
  for (const qint64 run : choices_.timelines())
    if (!isPlanned(run)) query.timelines.push_back(run);
  QString file = FileDialog::fileToSave(
      this, tr("Write a report"), QStringLiteral("comparison.html"), tr("Reports (*.html *.md)"));
  if (file.isEmpty()) return;
  if (!workbench::is_report_name(file.toStdString())) file += QStringLiteral(".html");
  session().read(
      reporting_,
      [query, path = file.toStdString()](storage::Reader& reader) {
        return workbench::write_report(reader, query, path);
      },
      [this, file](const Result<>& written) {
        if (!written)
          return Q_EMIT session().message(QString::fromStdString(written.error().message),
                                          Tone::bad);
        Q_EMIT session().message(tr("The report is in %1").arg(file), Tone::good);
      });
}

void ComparePage::copyTable() {
  QGuiApplication::clipboard()->setText(isMany() ? table_.text() : differences_.text());
  Q_EMIT session().message(tr("The table of differences was copied"), Tone::good);
}

}  // namespace heddle::gui
