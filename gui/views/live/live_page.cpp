#include "gui/views/live/live_page.h"

#include <QDateTime>
#include <QGridLayout>
#include <QResizeEvent>
#include <algorithm>
#include <utility>

#include "engine/recipe/parse.h"
#include "engine/telemetry/lines.h"
#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/run_ids.h"
#include "gui/models/value.h"
#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/views/lineage/job_dialog.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/why_not.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/place.h"

namespace heddle::gui {
namespace {

/// A rank lags when others ended a step so much earlier.
constexpr double kLagSeconds = 3, kLagSteps = 3;
constexpr int kMinRight = 280, kMaxRight = 560;  // the column of ranks and log
constexpr int kNarrow = 1200;                    // below it the tiles take the whole width
constexpr int kUpper = 40, kLower = 60;          // parts of the height
constexpr QLatin1String kHalvesKey("live/halves");

QDateTime timeOf(double seconds) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000));
}

/// The place of its checkpoints is unknown.
bool wasImported(const storage::RunDetail& run) {
  const auto place = workbench::place_from_json(run.hosts);
  return storage::has_ended(run.summary.state) && (!place || place->shares.empty());
}

}  // namespace

LivePage::LivePage(Session& session, QWidget* parent)
    : Page(session, parent),
      job_(session.readingThread(), this),
      checkpointing_(session.workingThreads(), this),
      leaving_(session.workingThreads(), this) {
  makeActions();
  build();
  asking_ = new RunAsking(session, this);
  connect(asking_, &RunAsking::answered, this, &LivePage::refresh);
  connect(picker_, &RunPicker::picked, this, &LivePage::showRun);
  connect(stepCard_, &StepCard::stepWanted, this, [this](int64_t step) {
    cursor_.wantedStep = step;
    refresh();
  });
  connect(stepCard_, &StepCard::saved, this, [this](const QString& words, bool good) {
    Q_EMIT this->session().message(words, good ? Tone::good : Tone::bad);
  });
  connect(stepCard_, &StepCard::differencesWanted, this, [this] {
    if (run_) Q_EMIT this->session().nodesRequested(run_->summary.id);
  });
  connect(banner_, &RunBanner::recipeWanted, this, [this] {
    if (!run_) return;
    this->session().editAsNew(*run_);
  });
  connect(banner_, &RunBanner::runWanted, this,
          [this](qint64 run) { Q_EMIT this->session().runRequested(QStringLiteral("live"), run); });
  connect(&session, &Session::secondPassed, this, &LivePage::tick);
}

void LivePage::makeActions() {
  stop_ = new QAction(icon(QStringLiteral("stop")), tr("Stop"), this);
  stop_->setObjectName(QStringLiteral("stop"));
  kill_ = new QAction(icon(QStringLiteral("kill"), Tone::bad), tr("Kill"), this);
  kill_->setObjectName(QStringLiteral("kill"));
  kill_->setToolTip(tr("End all ranks at once"));
  kill_->setProperty("role", "danger");
  checkpoint_ = new QAction(icon(QStringLiteral("checkpoint")), tr("Checkpoint now"), this);
  checkpoint_->setObjectName(QStringLiteral("checkpoint"));
  checkpoint_->setToolTip(tr("Write a checkpoint after the next step and continue"));
  jobAction_ = new QAction(icon(QStringLiteral("queue")), tr("Its job …"), this);
  jobAction_->setObjectName(QStringLiteral("job"));
  jobAction_->setToolTip(tr("Hold, release or change its job in the queue"));
  connect(jobAction_, &QAction::triggered, this, [this] {
    if (run_) (new JobDialog(session(), *run_, window()))->open();
  });
  setWhyNot(stop_, tr("the run is being stopped"));
  for (QAction* action : {jobAction_, checkpoint_, stop_, kill_}) {
    action->setProperty("topBar", true);
    action->setVisible(false);
  }
  connect(stop_, &QAction::triggered, this, &LivePage::stop);
  connect(kill_, &QAction::triggered, this, [this] { confirm(EndDialog::How::kill); });
  resume_ = new QAction(icon(QStringLiteral("launch")), tr("Resume"), this);
  resume_->setObjectName(QStringLiteral("resume"));
  resume_->setToolTip(tr("Continue from its newest checkpoint, as a new run"));
  fork_ = new QAction(icon(QStringLiteral("compare")), tr("Fork from step …"), this);
  fork_->setObjectName(QStringLiteral("fork"));
  fork_->setToolTip(tr("Branch off from one of its checkpoints, with another recipe"));
  for (QAction* action : {resume_, fork_}) {
    action->setProperty("topBar", true);
    action->setVisible(false);
    connect(action, &QAction::triggered, this, [this, fork = action == fork_] {
      if (run_) Q_EMIT session().continueRequested(run_->summary.id, fork);
    });
  }
  connect(checkpoint_, &QAction::triggered, this, &LivePage::checkpoint);
}

void LivePage::build() {
  picker_ = new RunPicker(this);
  picker_->hide();
  auto* content = new QWidget(this);
  auto* empty = new EmptyState(
      QStringLiteral("live"), tr("No run yet"),
      tr("A run's loss, throughput, memory and timelines appear here while it trains."),
      tr("Launch a run"));
  connect(empty, &EmptyState::triggered, this,
          [this] { Q_EMIT session().pageRequested(QStringLiteral("launch")); });
  empty->setMinimumSize(1, 1);  // its text must not set the page's least width
  stack_ = new QStackedLayout(this);
  stack_->addWidget(content);
  stack_->addWidget(empty);

  QVBoxLayout* rows = columnOf(content, {16, 16, 16, 16}, 8);
  banner_ = new RunBanner;
  rows->addWidget(banner_);
  halves_ = new QSplitter(Qt::Vertical);
  rows->addWidget(halves_, 1);
  halves_->setHandleWidth(8);
  halves_->setProperty("role", "gap");
  halves_->setChildrenCollapsible(false);
  for (QGridLayout** grid : {&upper_, &lower_}) {
    auto* half = new QWidget;
    halves_->addWidget(half);
    *grid = new QGridLayout(half);
    (*grid)->setContentsMargins(0, 0, 0, 0);
    (*grid)->setSpacing(8);
    (*grid)->setColumnStretch(0, 1);
  }
  halves_->setStretchFactor(0, kUpper);
  halves_->setStretchFactor(1, kLower);
  tiles_ = new LiveTiles;
  sources_ = new SourceStrip;
  charts_ = new LiveCharts(session(), halves_->widget(0));
  ranks_ = new RankCard;
  upper_->addWidget(charts_, 2, 0);
  upper_->setRowStretch(2, 1);
  stepCard_ = new StepCard(halves_->widget(1));
  lower_->addWidget(stepCard_, 0, 0);
  makeTexts();
  lower_->addWidget(texts_, 0, 1);
  arrange();
}

void LivePage::makeTexts() {
  texts_ = new QStackedWidget(halves_->widget(1));
  log_ = new LogCard(texts_);
  samples_ = new SamplesCard(texts_);
  texts_->addWidget(log_);
  texts_->addWidget(samples_);
  connect(log_, &LogCard::samplesWanted, this, [this] {
    texts_->setCurrentWidget(samples_);
    samples_->takeFocus();
  });
  connect(samples_, &SamplesCard::logWanted, this, [this] {
    texts_->setCurrentWidget(log_);
    log_->takeFocus();
  });
  connect(log_, &LogCard::wideWanted, this, [this](bool wide) {
    stepCard_->setVisible(!wide);
    lower_->removeWidget(texts_);
    lower_->addWidget(texts_, 0, wide ? 0 : 1, 1, wide ? 2 : 1);
  });
}

void LivePage::keepLayout() {
  stepCard_->keepLanes();
  charts_->keepLayout();
  halves_->restoreState(openSettings()->value(kHalvesKey).toByteArray());
  connect(halves_, &QSplitter::splitterMoved, this,
          [this] { openSettings()->setValue(kHalvesKey, halves_->saveState()); });
}

void LivePage::resetLayout() {
  stepCard_->resetLanes();
  charts_->resetLayout();
  openSettings()->remove(kHalvesKey);
  halves_->setSizes({kUpper * height(), kLower * height()});
}

/// Without a timeline, now or to come, the charts have its room, unless a person has moved the
/// edge.
void LivePage::shareHeight() {
  const bool bare = storage::has_ended(run_->summary.state) && stepCard_->step() == 0;
  if (bare == std::exchange(bare_, bare) || openSettings()->contains(kHalvesKey)) return;
  const int upper = bare ? kLower : kUpper;
  halves_->setSizes({upper * height(), (kUpper + kLower - upper) * height()});
}

void LivePage::arrange() {
  const bool narrow = width() < kNarrow;
  for (QWidget* widget : {static_cast<QWidget*>(tiles_), static_cast<QWidget*>(sources_),
                          static_cast<QWidget*>(ranks_)})
    upper_->removeWidget(widget);
  upper_->addWidget(tiles_, 0, 0, 1, narrow ? 2 : 1);
  upper_->addWidget(sources_, 1, 0, 1, narrow ? 2 : 1);
  upper_->addWidget(ranks_, narrow ? 2 : 0, 1, narrow ? 1 : 3, 1);
}

void LivePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  for (QGridLayout* grid : {upper_, lower_})
    grid->setColumnMinimumWidth(1, std::clamp(width() / 4, kMinRight, kMaxRight));
  if (event->oldSize().isValid() && (event->oldSize().width() < kNarrow) == (width() < kNarrow)) {
    return;
  }
  arrange();
}

/// The page's keys go to the timeline. No focus proxy: Tab would skip everything above it.
void LivePage::focusInEvent(QFocusEvent*) { stepCard_->takeFocus(); }

QString LivePage::subtitle() const {
  if (!run_) return {};
  const storage::RunSummary& run = run_->summary;
  QStringList parts{
      tr("%1 on %2").arg(format::shortName(run.recipe_name), format::shortName(run.target))};
  if (!run_->ranks.empty()) {
    parts << format::plural(static_cast<qint64>(run_->ranks.size()), counted::kRank);
  }
  if (run.lineage) parts << format::spelled(storage::words_of(*run.lineage));
  if (const QString asked = session().asked(run.id); !asked.isEmpty()) {
    parts << askedText(asked, lookOf(contact_, unixNow()));
  } else if (run.finished) {
    parts << QString::fromStdString(storage::to_string(run.state)) + QLatin1Char(' ') +
                 format::when(timeOf(*run.finished));
  } else if (run.state == storage::RunState::waiting) {
    parts << QString::fromStdString(storage::to_string(run.state));
  } else if (run.started) {
    parts << tr("started %1").arg(format::when(timeOf(*run.started)));
  } else {
    parts << QString::fromStdString(storage::to_string(run.state));
  }
  return parts.join(QStringLiteral(", "));
}

void LivePage::showRun(qint64 run) {
  picked_ = true;
  if (cursor_.run == run) return refresh();
  restart(run);
}

QJsonObject LivePage::keptState() const {
  // Unless a person has picked one the newest is shown, at the next start too.
  QJsonObject state{{"added", toJson(charts_->added())}};
  if (picked_ && cursor_.run > 0) state["run"] = qint64{cursor_.run};
  return state;
}

void LivePage::restoreState(const QJsonObject& state) {
  charts_->setAdded(runIds(state["added"]));
  const qint64 run = state["run"].toInteger();
  picked_ = run > 0;
  if (picked_) cursor_ = {.run = run};  // read when the page is shown
}

void LivePage::restart(storage::RunId run) {
  job_.drop();
  again_ = false;
  loaded_ = false;
  cursor_ = {.run = run};
  steps_ = {};
  run_.reset();
  gaps_.clear();
  contact_ = {};
  rankWarning_.reset();
  alerts_.clear();
  stepTime_ = 0;
  leaving_.drop();
  left_.clear();
  tiles_->clear();
  charts_->clear();
  stepCard_->clear();
  ranks_->clear();
  sources_->setSources({}, {}, 0);
  log_->clear();
  samples_->clear();
  log_->offerSamples(false);
  texts_->setCurrentWidget(log_);
  refresh();
}

void LivePage::refresh() {
  if (job_.running()) {
    again_ = true;
    return;
  }
  session().read(
      job_, [cursor = cursor_](storage::Reader& reader) { return readLive(reader, cursor); },
      [this](Result<LiveUpdate> update) {
        if (!update) {
          loaded_ = true;
          Q_EMIT session().message(QString::fromStdString(update.error().message), Tone::bad);
          return;
        }
        take(std::move(*update));
      });
}

void LivePage::take(LiveUpdate update) {
  if (!update.run && cursor_.run != 0) {  // it was removed: the newest is shown
    picked_ = false;
    return restart(0);
  }
  stack_->setCurrentIndex(update.run ? 0 : 1);
  if (isVisible()) picker_->setVisible(update.run.has_value());
  if (update.run) {
    charts_->setRuns(update.runs);
    cursor_.run = update.run->summary.id;
    if (!update.steps.empty()) cursor_.step = update.steps.back().id;
    if (!update.lines.empty()) cursor_.line = update.lines.back().id;
    run_ = std::move(update.run);
    readRecipe();
    pace_ = update.pace;
    exposed_ = update.exposed;
    if (update.ancestors) charts_->setAncestors(std::move(*update.ancestors));
    charts_->setRun(*run_);
    contact_ = std::move(update.contact);
    gaps_ = std::move(update.gaps);
    const bool ended = storage::has_ended(run_->summary.state);
    if (update.before) {
      steps_.begin(*update.before);
      tiles_->begin(*update.before);
    }
    cursor_.departures = update.departures;
    const std::vector<StepPoint> points =
        steps_.take(update.steps, run_->ranks.size(), ended, unixNow());
    takeSteps(points);
    for (const storage::StepRow& row : update.steps) stepTime_ = std::max(stepTime_, row.step.time);
    for (const storage::LogLine& line : update.lines)
      if (line.level == telemetry::Level::warning && telemetry::is_of_process(line.rank, line.text))
        rankWarning_ = line;
    workbench::follow_alerts(alerts_, update.lines);
    log_->append(update.lines, points);
    samples_->append(update.lines, readRecipe().prompt);
    log_->offerSamples(!samples_->isEmpty());
    stepCard_->setProfiled(std::move(update.profiled));
    if (update.timelines) {
      cursor_.shownStep = update.timelines->step;
      cursor_.shownRanks = static_cast<int32_t>(update.timelines->ranks.size());
      stepCard_->setTimelines(*update.timelines);
      charts_->markTimeline(cursor_.wantedStep == 0 ? 0 : cursor_.shownStep);
    }
    shareHeight();
    showRanks();
    showSources();
    if (run_->summary.state == storage::RunState::stopped && left_.isEmpty()) findLeft();
  }
  storage::RunId going = 0;
  for (auto run = update.runs.rbegin(); run != update.runs.rend(); ++run)
    if (storage::is_going(run->state)) going = run->id;
  picker_->setRuns(std::move(update.runs), cursor_.run);
  showState();
  loaded_ = !update.more;
  if (update.more || update.departures.more() || again_) {
    again_ = false;
    refresh();
    return;
  }
  if (picked_ || !run_ || !storage::has_ended(run_->summary.state)) return;
  if (going) restart(going);
}

/// Looks on the run's hosts for what a stop has kept, which may take a while.
void LivePage::findLeft() {
  left_ = tr("after step %1").arg(format::count(run_->summary.steps));
  leaving_.start([run = *run_] { return workbench::describe_stopped(run); },
                 [this](const std::string& words) {
                   left_ = QString::fromStdString(words);
                   showContact();
                 });
}

void LivePage::takeSteps(const std::vector<StepPoint>& points) {
  charts_->setDepartures(cursor_.departures.found());
  tiles_->append(points);
  pace_.ending = !session().asked(run_->summary.id).isEmpty();
  tiles_->show(*run_, steps_, pace_, exposed_);
}

void LivePage::showRanks() {
  if (stepCard_->step() > 0) {
    ranks_->setBars(tr("compute in step %1").arg(format::count(stepCard_->step())),
                    stepCard_->ranks(), stepCard_->computeSeconds(),
                    stepCard_->stagesOf(stepCard_->ranks()));
  } else {
    std::vector<int32_t> ranks;
    std::vector<double> seconds;
    for (const auto& [rank, of] : steps_.stepSecondsByRank()) {
      ranks.push_back(rank);
      seconds.push_back(of);
    }
    ranks_->setBars(ranks.empty() ? QString() : tr("newest step"), ranks, seconds);
  }
  QVector<QPair<QString, QString>> facts;
  if (pace_.stepSeconds > 0) {
    facts.append({tr("step, recent median"), format::seconds(pace_.stepSeconds)});
  }
  const auto data = steps_.latest("data_seconds");
  const auto step = steps_.latest("step_seconds");
  if (data && step && *step > 0) {
    facts.append({tr("data loading"), tr("%1 of a step").arg(format::percent(*data / *step))});
  }
  for (const telemetry::Metric& metric : telemetry::metrics()) {
    if (!metric.live) continue;
    const std::string name(metric.name);
    const auto value =
        metric.reporter == telemetry::Reporter::step ? steps_.latest(name) : resultOf(*run_, name);
    if (value) facts.append({keyText(name), format::withUnit(metric.unit, *value)});
  }
  ranks_->setFacts(facts);
}

void LivePage::showSources() {
  const std::vector<recipe::DataSource>& sources = readRecipe().sources;
  std::vector<double> tokens;
  double before = steps_.latest("tokens_seen").value_or(0);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto seen = steps_.latest(recipe::tokens_seen_of(i));
    if (!seen) return sources_->setSources(sources, {}, 0);  // by an older engine, or no step yet
    tokens.push_back(*seen);
    before -= *seen;
  }
  sources_->setSources(sources, std::move(tokens), before);
}

void LivePage::showState() {
  const bool going = run_ && !storage::has_ended(run_->summary.state);
  if (run_ && !going) session().setAsked(run_->summary.id, {});
  // A run that has ended needs no message "It cannot be stopped".
  if (run_ && !going) Q_EMIT session().messageSettled(subjectOf(run_->summary.id));
  const bool saves = run_ && readRecipe().saves;
  stepCard_->setEmptyText(
      going || !run_
          ? tr("No step has been profiled yet. The recipe's telemetry.profile_every says "
               "how often one is.")
          : tr("No step was profiled until the run ended at step %1. The recipe's "
               "telemetry.profile_every says how often one is.")
                .arg(format::count(run_->summary.steps)));
  const bool waits = run_ && run_->summary.state == storage::RunState::waiting;
  jobAction_->setVisible(waits);
  checkpoint_->setVisible(going && saves && !waits);
  stop_->setVisible(going);
  kill_->setVisible(going);
  const bool ended = run_ && !going;
  resume_->setVisible(ended && saves);
  fork_->setVisible(ended && saves);
  if (going) stop_->setToolTip(stopTip());
  stop_->setEnabled(going && session().asked(run_->summary.id).isEmpty());
  showContact();
  Q_EMIT headerChanged();
}

QString LivePage::stopTip() const {
  const QString does = QString::fromStdString(workbench::describe_stop(*run_));
  return lookOf(contact_, unixNow()).word == ContactLook::Word::lost
             ? tr("The connection is lost: the run is asked once it is back. %1").arg(does)
             : does;
}

/// Shows the run's contact; also called as time passes without a word.
void LivePage::showContact() {
  if (!run_) return banner_->hide();
  const ContactLook look = lookOf(contact_, unixNow());
  const bool banner = banner_->isVisible();
  banner_->setRun(*run_, gaps_, contact_, look,
                  {.heldUp = heldUp(),
                   .left = left_,
                   .restarts = QString::fromStdString(workbench::describe_restarts(*run_)),
                   .asked = askedText(session().asked(run_->summary.id), look),
                   .alerts = alertWords()});
  // All below it moves, and nobody else paints the gaps between the cards.
  if (banner_->isVisible() != banner) banner_->parentWidget()->update();
  tiles_->setStale(!look.fresh());
  ranks_->setStale(!look.fresh());
  sources_->setStale(!look.fresh());
  stepCard_->setStale(!look.fresh());
  picker_->setLook(lookOf(run_->summary.state, look));
}

/// The supervisor's warning about a rank holds until a step ends; a rank may lag without one, too.
QString LivePage::heldUp() const {
  if (storage::has_ended(run_->summary.state)) return {};
  if (rankWarning_ && rankWarning_->time > stepTime_)
    return QString::fromStdString(rankWarning_->text);
  const auto lag = steps_.lag();
  if (!lag) return {};
  const double seconds = unixNow() - lag->since;
  if (seconds < std::max(kLagSeconds, kLagSteps * pace_.stepSeconds)) return {};
  QStringList ranks;
  for (const int32_t rank : lag->ranks) ranks << QString::number(rank);
  return tr("rank %1 has not finished step %2; the others finished it %3 ago")
      .arg(ranks.join(QStringLiteral(", ")), format::count(lag->step), ageText(seconds));
}

QStringList LivePage::alertWords() const {
  QStringList words;
  if (storage::has_ended(run_->summary.state)) return words;
  for (const auto& [kind, alert] : alerts_)
    words << QString::fromStdString(workbench::name_of(kind) + ": " + alert.words);
  return words;
}

/// Out of contact, a run may gain or lose its follower without a change of the store.
void LivePage::tick() {
  if (!isVisible() || !run_) return;
  Q_EMIT headerChanged();  // "4 min ago"
  if (storage::has_ended(run_->summary.state)) return;
  showContact();
  if (!lookOf(contact_, unixNow()).fresh()) refresh();
}

const LivePage::ReadRecipe& LivePage::readRecipe() {
  if (read_.run == run_->summary.id) return read_;
  const recipe::Recipe recipe = recipe::resolve(recipe::parse(run_->recipe, "recipe")).recipe;
  read_ = {run_->summary.id,
           recipe.checkpoint.enabled && !wasImported(*run_),
           {},
           recipe::sources_of(recipe.data),
           QString::fromStdString(recipe.validation.prompt)};
  if (recipe.parallelism.*recipe::kRest.degree > 0) read_.mesh = recipe::Mesh(recipe.parallelism);
  stepCard_->setMesh(read_.mesh);
  return read_;
}

void LivePage::checkpoint() {
  if (!run_) return;
  session().act(
      checkpointing_, [run = *run_](workbench::Workbench&) { return workbench::checkpoint(run); },
      [this, subject = subjectOf(run_->summary.id)](const Result<>& done) {
        Q_EMIT session().message(done ? tr("A checkpoint is written after the next step")
                                      : QString::fromStdString(done.error().message),
                                 done ? Tone::good : Tone::bad, subject);
      });
}

void LivePage::stop() {
  if (!run_) return;
  if (!workbench::stop_keeps(*run_)) return confirm(EndDialog::How::stop);
  control(tr("stopping"), *run_, &workbench::stop);
}

void LivePage::confirm(EndDialog::How how) {
  if (!run_) return;
  auto* dialog = new EndDialog(session(), *run_, how, window());
  // The page may show another run by the time of the answer.
  connect(dialog, &EndDialog::confirmed, this, [this, run = *run_, how] {
    if (how == EndDialog::How::kill)
      control(tr("killing"), run, &workbench::kill);
    else
      control(tr("stopping"), run, &workbench::stop);
  });
  dialog->open();
}

void LivePage::control(const QString& asked, const storage::RunDetail& run, RunAsking::Ask ask) {
  // The button goes, and Kill would be the next to have it.
  if (texts_->currentWidget() == log_)
    log_->takeFocus();
  else
    samples_->takeFocus();
  asking_->ask(asked, run, ask);
  showState();
}

}  // namespace heddle::gui
