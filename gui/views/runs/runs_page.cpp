#include "gui/views/runs/runs_page.h"

#include <QHeaderView>
#include <QMenu>
#include <algorithm>
#include <utility>

#include "gui/format.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/views/lineage/end_dialog.h"
#include "gui/views/lineage/job_dialog.h"
#include "gui/widgets/focus_line.h"
#include "gui/widgets/why_not.h"
#include "workbench/control.h"
#include "workbench/ending.h"

namespace heddle::gui {
namespace {

/// The outcome of a request to stop some runs.
struct Stopping {
  std::vector<storage::RunDetail> lost;   // a stop would lose these: asked first
  std::vector<storage::RunDetail> saved;  // others stop
};

}  // namespace

RunsPage::RunsPage(Session& session, QWidget* parent)
    : Page(session, parent),
      reading_(session.readingThread(), this),
      stopping_(session.workingThreads(), this),
      showing_(session.readingThread(), this) {
  asking_ = new RunAsking(session, this);
  makeActions();
  where_ = new Segment({tr("Runs"), tr("Archive"), tr("Trash")}, this);
  where_->setObjectName(QStringLiteral("where"));
  where_->hide();  // until the window takes it
  connect(where_, &Segment::currentChanged, this,
          [this](int index) { showPlace(static_cast<RunPlace>(index)); });
  trash_ = new RunTrash(session, this);
  connect(trash_, &RunTrash::changed, this, &RunsPage::activated);
  importing_ = new RunImport(session, this);
  connect(import_, &QAction::triggered, importing_, &RunImport::choose);
  connect(&session, &Session::importRequested, this, [this](const QStringList& paths) {
    paths.isEmpty() ? importing_->choose() : importing_->take(paths);
  });
  connect(importing_, &RunImport::imported, this, [this](const QList<qint64>& runs) {
    wanted_ = runs;
    activated();
  });
  empty_ = new EmptyState(
      QStringLiteral("runs"), tr("No runs yet"),
      tr("Runs launched from here, from a shell or imported from a run directory appear in this "
         "table."),
      tr("Compose a recipe"));
  empty_->setObjectName(QStringLiteral("noRuns"));
  connect(empty_, &EmptyState::triggered, this,
          [this] { Q_EMIT this->session().pageRequested(QStringLiteral("compose")); });
  stack_ = new QStackedWidget;
  stack_->addWidget(makeTable());
  stack_->addWidget(empty_);
  nothingArchived_ = new EmptyState(QStringLiteral("folder"), tr("The archive is empty"),
                                    tr("Runs that you archive are kept here, out of the way. Other "
                                       "pages and filters by name still "
                                       "find them."),
                                    tr("Show the runs"));
  nothingTrashed_ = new EmptyState(
      QStringLiteral("trash"), tr("The trash is empty"),
      tr("Runs that you delete stay here until you delete them for good."), tr("Show the runs"));
  for (const EmptyState* nothing : {nothingArchived_, nothingTrashed_})
    connect(nothing, &EmptyState::triggered, this, [this] { showPlace(RunPlace::list); });
  stack_->addWidget(nothingArchived_);
  stack_->addWidget(nothingTrashed_);
  unreadable_ = new EmptyState(QStringLiteral("warning"), tr("The store cannot be read"), {},
                               tr("Read again"));
  unreadable_->setObjectName(QStringLiteral("unreadableStore"));
  connect(unreadable_, &EmptyState::triggered, this, &RunsPage::activated);
  stack_->addWidget(unreadable_);
  drawer_ = new RunDrawer(session);
  drawer_->hide();
  connect(drawer_, &RunDrawer::closed, this, &RunsPage::closeDrawer);
  connect(drawer_, &RunDrawer::menuRequested, this,
          [this](const QPoint& globalPosition) { showMenu(globalPosition, drawer_->run()); });
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(stack_, 1);
  layout->addWidget(drawer_);
  connect(&Theme::instance(), &Theme::changed, this, [this] {
    if (drawer_->run() > 0) drawer_->showRun(drawer_->run());
  });
  selectionChanged();
}

void RunsPage::makeActions() {
  const auto make = [this](const QString& id, const QString& text, const QString& iconName,
                           Tone tone = Tone::text) {
    auto* action = new QAction(icon(iconName, tone), text, this);
    action->setObjectName(id);
    return action;
  };
  train_ = make(QStringLiteral("trainHere"), tr("Train on this machine"), QStringLiteral("launch"));
  train_->setProperty("topBar", true);
  train_->setToolTip(tr("Train the sample recipe for a minute, two ranks"));
  connect(train_, &QAction::triggered, &session(), &Session::trainingRequested);
  import_ = make(QStringLiteral("importRun"), tr("Import"), QStringLiteral("plus"));
  import_->setProperty("topBar", true);
  import_->setToolTip(
      tr("Import run directories, run files, stores and CSV logs made elsewhere; you can also drop "
         "them here"));
  compare_ =
      make(QStringLiteral("compareRuns"), tr("Compare"), QStringLiteral("compare"), Tone::onAccent);
  compare_->setProperty("topBar", true);
  compare_->setProperty("role", "primary");
  resume_ = make(QStringLiteral("resumeRun"), tr("Resume"), QStringLiteral("launch"));
  resume_->setToolTip(tr("Continue from its newest checkpoint, as a new run"));
  fork_ = make(QStringLiteral("forkRun"), tr("Fork from step …"), QStringLiteral("compare"));
  fork_->setToolTip(tr("Branch off from one of its checkpoints, with another recipe"));
  reproduce_ = make(QStringLiteral("reproduceRun"), tr("Reproduce"), QStringLiteral("refresh"));
  reproduce_->setToolTip(
      tr("Launch it again with the same recipe and seeds; says what is not as it was"));
  connect(reproduce_, &QAction::triggered, this, [this] {
    if (const QList<qint64> runs = selectedRuns(); runs.size() == 1)
      Q_EMIT session().reproduceRequested(runs.first());
  });
  for (QAction* action : {resume_, fork_})
    connect(action, &QAction::triggered, this, [this, fork = action == fork_] {
      if (const QList<qint64> runs = selectedRuns(); runs.size() == 1)
        Q_EMIT session().continueRequested(runs.first(), fork);
    });
  stop_ = make(QStringLiteral("stopRuns"), tr("Stop run"), QStringLiteral("stop"));
  job_ = make(QStringLiteral("jobOfRun"), tr("Its job …"), QStringLiteral("queue"));
  job_->setToolTip(tr("Hold, release or change its job in the queue"));
  setWhyNot(job_, tr("choose one run whose job waits"));
  connect(job_, &QAction::triggered, this, &RunsPage::showJob);
  exports_ = new RunExport(session(), this);
  discard_ =
      make(QStringLiteral("discardRuns"), tr("Move to trash"), QStringLiteral("trash"), Tone::bad);
  restore_ = make(QStringLiteral("restoreRuns"), tr("Restore"), QStringLiteral("undo"));
  restore_->setProperty("topBar", true);
  remove_ =
      make(QStringLiteral("removeRuns"), tr("Delete for good"), QStringLiteral("trash"), Tone::bad);
  remove_->setProperty("topBar", true);
  untick_ = make(QStringLiteral("untickRuns"), tr("Untick all"), QStringLiteral("close"));
  untick_->setToolTip(tr("Esc in the table"));
  setWhyNot(compare_, tr("tick two runs or more"));
  setWhyNot(untick_, tr("no run is ticked"));
  setWhyNot(stop_, tr("none of the chosen runs is running"));
  for (QAction* action : {restore_, remove_}) setWhyNot(action, tr("choose a run first"));
  for (QAction* action : {resume_, fork_}) setWhyNot(action, tr("choose one run that has ended"));
  setWhyNot(reproduce_, tr("choose one run"));
  connect(untick_, &QAction::triggered, this,
          [this] { selection_->select(QItemSelection(), QItemSelectionModel::Clear); });
  connect(compare_, &QAction::triggered, this,
          [this] { Q_EMIT session().compareRequested(parentsFirst(selectedRuns())); });
  connect(stop_, &QAction::triggered, this, &RunsPage::stopRuns);
  for (QAction* action : {restore_, remove_}) action->setVisible(false);  // of the trash only
  connect(discard_, &QAction::triggered, this, &RunsPage::discardRuns);
  connect(restore_, &QAction::triggered, this, [this] { trash_->restore(named(selectedRuns())); });
  connect(remove_, &QAction::triggered, this,
          [this] { trash_->removeForGood(named(selectedRuns())); });
}

QWidget* RunsPage::makeTable() {
  auto* whole = new QWidget;
  filter_ = new FilterBar(session(), model_);
  connect(filter_, &FilterBar::wanted, this, &RunsPage::applyFilter);
  table_ = new RunsTable;
  table_->setObjectName(QStringLiteral("runs"));
  table_->setAccessibleName(tr("Runs"));
  new FocusLine(table_);
  noMatch_ = new EmptyState(QStringLiteral("filter"), tr("The filter shows no run"), {},
                            tr("Clear the filter"), table_->viewport());
  noMatch_->setObjectName(QStringLiteral("noMatch"));
  noMatch_->hide();
  connect(noMatch_, &EmptyState::triggered, filter_, &FilterBar::clear);
  connect(&lines_, &RunLines::rearranged, this, &RunsPage::showNoMatch);
  delegate_ = new RunDelegate(table_);
  header_ = new RunHeader(lines_, table_);
  table_->setHorizontalHeader(header_);
  table_->setModel(&lines_);
  selection_ = new RunSelection(lines_, table_);
  table_->setSelectionModel(selection_);
  table_->setItemDelegate(delegate_);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(28);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // RunColumns scrolls
  auto* scroll = new QScrollBar(Qt::Horizontal);
  scroll->setObjectName(QStringLiteral("columnScroll"));
  scroll->setAccessibleName(tr("Columns"));
  arrangement_ = new RunArrangement(session(), model_, lines_, table_, header_, scroll, filter_);
  marks_ = new RunMarks(session(), model_, lines_, table_, arrangement_->columns(),
                        [this] { return selectedRuns(); });
  connect(marks_, &RunMarks::changed, this, &RunsPage::activated);
  connect(header_, &RunHeader::allTicked, this, &RunsPage::tickAll);
  connect(table_, &RunsTable::sortPressed, header_, &RunHeader::sortBy);
  connect(table_, &RunsTable::headerMenuPressed, arrangement_, &RunArrangement::offerAt);
  connect(selection_, &QItemSelectionModel::currentColumnChanged, this,
          [this](const QModelIndex& current) { header_->setCurrent(current.column()); });
  connect(
      table_, &RunsTable::editingEnded, this,
      [this] {
        if (late_) setRows(*std::exchange(late_, {}));
      },
      Qt::QueuedConnection);
  table_->viewport()->installEventFilter(this);
  // The age of a running run's last word.
  connect(&session(), &Session::secondPassed, this, [this] {
    if (isVisible()) table_->viewport()->update();
  });
  connect(table_, &RunsTable::deletePressed, this, [this] {
    if (place_ == RunPlace::trash && remove_->isEnabled()) return remove_->trigger();
    if (place_ != RunPlace::trash) discardRuns();
  });
  connect(table_, &RunsTable::escapePressed, untick_, &QAction::trigger);
  connect(selection_, &RunSelection::chosenChanged, this, &RunsPage::selectionChanged);
  connect(selection_, &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            table_->viewport()->update();
            if (!current.isValid() || selection_->isKeeping() || lines_.isHead(current)) return;
            drawerClosed_ = false;
            drawer_->showRun(lines_.row(current).summary.id);
            drawer_->show();
          });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (!lines_.isHead(index))
      Q_EMIT session().runRequested(QStringLiteral("live"), lines_.row(index).summary.id);
  });
  connect(table_, &QTableView::customContextMenuRequested, this, [this](const QPoint& position) {
    const QModelIndex at = table_->indexAt(position);
    if (at.isValid() && !lines_.isHead(at))
      showMenu(table_->viewport()->mapToGlobal(position), lines_.row(at).summary.id);
  });

  auto* card = new QFrame;
  card->setProperty("role", "card");
  auto* inner = new QVBoxLayout(card);
  inner->setContentsMargins(1, 1, 1, 1);
  inner->setSpacing(0);
  inner->addWidget(table_);
  inner->addWidget(scroll);
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(metric::edge, metric::group, metric::edge, metric::group);
  layout->setSpacing(12);
  layout->addWidget(filter_);
  layout->addWidget(card, 1);
  return whole;
}

QString RunsPage::subtitle() const {
  const int all = model_.rowCount(), shown = lines_.runCount();
  QString text = shown == all ? format::plural(all, counted::kRun)
                              : tr("%1 of %2").arg(shown).arg(format::plural(all, counted::kRun));
  if (const auto chosen = selectedRuns().size(); chosen > 1 || selection_->hidden() > 0)
    text += tr(", %1 selected").arg(chosen);
  if (selection_->hidden() > 0) text += tr(", %1 of them hidden").arg(selection_->hidden());
  return text;
}

void RunsPage::activated() {
  if (!restored_.isEmpty()) filter_->setText(restored_["filter"].toString());
  if (reading_.running()) return;
  session().read(
      reading_,
      [place = place_](storage::Reader& reader) -> Result<Rows> {
        auto shown = readRunRows(reader, place);
        if (!shown) return fail(shown);
        const auto trashed = reader.runs(true);
        if (!trashed) return fail(trashed);
        return Rows{std::move(*shown), static_cast<qint64>(trashed->size()), reader.damage()};
      },
      [this](Result<Rows> rows) {
        if (!rows) return showError(QString::fromStdString(rows.error().message));
        if (rows->damage) say(QString::fromStdString(*rows->damage), Tone::bad);
        // An editor that is open over a cell keeps its row.
        if (table_->isEditing())
          late_ = std::move(*rows);
        else
          setRows(std::move(*rows));
      });
}

/// Rows that are there stay.
void RunsPage::showError(const QString& error) {
  say(error, Tone::bad);
  if (model_.rowCount() > 0) return;
  unreadable_->setText(error);
  stack_->setCurrentWidget(unreadable_);
}

void RunsPage::setRows(Rows rows) {
  model_.setRows(std::move(rows.shown));
  arrangement_->refresh();
  where_->setText(2,
                  rows.trashed > 0 ? tr("Trash %1").arg(format::count(rows.trashed)) : tr("Trash"));
  stack_->setCurrentIndex(model_.rowCount() > 0 ? 0 : 1 + static_cast<int>(place_));
  if (!wanted_.isEmpty()) showRuns(std::exchange(wanted_, {}));
  if (!table_->currentIndex().isValid() && !drawerClosed_ && lines_.rowCount() > 0)
    // Looked at in the drawer, and not chosen: nobody has.
    selection_->setCurrentIndex(lines_.index(0, RunsModel::Name), QItemSelectionModel::NoUpdate);
  else if (drawer_->isVisible())
    drawer_->showRun(drawer_->run());
  drawer_->setVisible(model_.rowCount() > 0 && !drawerClosed_);
  if (!restored_.isEmpty()) restoring_.start();
  exports_->renew();
  selectionChanged();
}

void RunsPage::showPlace(RunPlace place) {
  if (place == place_) return;
  place_ = place;
  where_->setCurrent(static_cast<int>(place));
  const bool trash = place == RunPlace::trash;
  for (QAction* action :
       {train_, import_, compare_, resume_, fork_, reproduce_, stop_, job_, exports_->runsAction(),
        exports_->fileAction(), exports_->weightsAction(), discard_})
    action->setVisible(!trash);
  for (QAction* action : marks_->actions()) action->setVisible(!trash);
  for (QAction* action : {restore_, remove_}) action->setVisible(trash);
  reading_.drop();
  late_.reset();
  selection_->select(QItemSelection(), QItemSelectionModel::Clear);
  activated();
}

void RunsPage::tickAll(bool ticked) {
  selection_->tick(ticked ? lines_.shownRuns() : selection_->runs(), ticked);
}

void RunsPage::showRun(qint64 run) { showRuns({run}); }

void RunsPage::showRuns(const QList<qint64>& runs) {
  wanted_.clear();
  showPlace(RunPlace::list);
  QItemSelection selection;
  for (const qint64 run : runs) {
    const int row = model_.indexOf(run);
    if (row < 0) {
      wanted_ = runs;
      return;
    }
    const QModelIndex index = lines_.index(lines_.lineOf(run), 0);
    if (index.isValid()) selection.select(index, index);
  }
  if (selection.isEmpty()) return;
  table_->selectionModel()->select(selection,
                                   QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  table_->selectionModel()->setCurrentIndex(selection.indexes().first(),
                                            QItemSelectionModel::NoUpdate);
  table_->scrollTo(selection.indexes().first());
}

bool RunsPage::isReady() const {
  return !reading_.running() && filter_->isReady() && exports_->isReady() &&
         arrangement_->isReady() && wanted_.isEmpty() && drawer_->isReady();
}

/// A run after the one that it goes on from: the first is what Compare compares with.
QList<qint64> RunsPage::parentsFirst(QList<qint64> runs) const {
  const auto depth = [&](qint64 run) {
    int ancestors = 0;
    for (int row = model_.indexOf(run); row >= 0 && ancestors < model_.rowCount(); ++ancestors) {
      const auto& lineage = model_.row(row).summary.lineage;
      if (!lineage) break;
      row = model_.indexOf(lineage->parent);
    }
    return ancestors;
  };
  QHash<qint64, int> depths;
  for (const qint64 run : runs) depths.insert(run, depth(run));
  std::ranges::stable_sort(runs, {}, [&](qint64 run) { return depths.value(run); });
  return runs;
}

QList<NamedRun> RunsPage::named(const QList<qint64>& runs) const {
  QList<NamedRun> found;
  for (const qint64 run : runs)
    if (const int row = model_.indexOf(run); row >= 0)
      found.append({run, format::shortName(model_.row(row).summary.name)});
  return found;
}

void RunsPage::selectionChanged() {
  const QList<qint64> runs = selectedRuns();
  QHash<qint64, int> chosen;
  if (runs.size() > 1) {
    const QList<int> strokes = session().runSlots().of(runs);
    for (qsizetype i = 0; i < runs.size(); ++i) chosen.insert(runs[i], strokes[i]);
  }
  QHash<qint64, int> own;
  for (const qint64 run : session().runSlots().own().keys())
    own.insert(run, *session().runSlots().ownSlotOf(run));
  delegate_->setSlots(std::move(chosen), std::move(own));
  const auto ticked = selection_->ticks() ? lines_.countShown(runs) : 0;
  header_->setTicks(ticked == 0                   ? Qt::Unchecked
                    : ticked >= lines_.runCount() ? Qt::Checked
                                                  : Qt::PartiallyChecked);
  table_->viewport()->update();
  describeActions();
}

void RunsPage::describeActions() {
  const QList<qint64> runs = selectedRuns();
  QList<qint64> running;
  for (const qint64 run : runs)
    if (const int row = model_.indexOf(run);
        row >= 0 && !storage::has_ended(model_.row(row).summary.state))
      running.append(run);
  untick_->setEnabled(selection_->ticks());
  compare_->setEnabled(runs.size() > 1);
  compare_->setText(runs.size() > 1 ? tr("Compare %1").arg(runs.size()) : tr("Compare"));
  stop_->setEnabled(!running.isEmpty());
  stop_->setText(running.size() > 1 ? tr("Stop %1 runs").arg(running.size()) : tr("Stop run"));
  const int only = runs.size() == 1 ? model_.indexOf(runs.first()) : -1;
  job_->setEnabled(only >= 0 && model_.row(only).summary.state == storage::RunState::waiting);
  const QString several = runs.size() > 1 ? format::plural(runs.size(), counted::kRun) : tr("run");
  const QString none = runs.isEmpty() ? tr("no run is selected") : QString();
  QString still;
  if (running.size() == 1)
    still = tr("%1 is running: stop it first").arg(named(running).first().name);
  if (running.size() > 1)
    still =
        tr("%1 are running: stop them first").arg(format::plural(running.size(), counted::kRun));
  allow(discard_,
        runs.size() > 1 ? tr("Move %1 to the trash").arg(several) : tr("Move to the trash"),
        runs.isEmpty() ? none : still);
  restore_->setEnabled(!runs.isEmpty());
  restore_->setText(runs.size() > 1 ? tr("Restore %1").arg(several) : tr("Restore"));
  remove_->setEnabled(!runs.isEmpty());
  remove_->setText(runs.size() > 1 ? tr("Delete %1 for good").arg(several) : tr("Delete for good"));
  const bool oneEnded = runs.size() == 1 && running.isEmpty();
  resume_->setEnabled(oneEnded);
  fork_->setEnabled(oneEnded);
  reproduce_->setEnabled(runs.size() == 1);
  exports_->describe(runs);
  marks_->describe(runs, place_ == RunPlace::archive);
  Q_EMIT headerChanged();
}

void RunsPage::showNoMatch() {
  noMatch_->setGeometry(table_->viewport()->rect());
  noMatch_->setVisible(lines_.rowCount() == 0 && model_.rowCount() > 0);
}

void RunsPage::applyFilter(const RunFilter& filter) {
  lines_.setFilter(filter);
  const auto& problem = filter.problem();
  noMatch_->setText(
      problem ? tr("The filter is not understood: %1").arg(QString::fromStdString(problem->text))
              : tr("It hides %1.").arg(format::plural(model_.rowCount(), counted::kRun)));
  showNoMatch();
  Q_EMIT headerChanged();
}

bool RunsPage::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) {
    arrangement_->columns().fit();
    noMatch_->setGeometry(table_->viewport()->rect());
  }
  return false;
}

void RunsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  drawer_->setFixedWidth(std::clamp(width() / 4, RunDrawer::kMinWidth, RunDrawer::kMaxWidth));
}

void RunsPage::closeDrawer() {
  drawerClosed_ = true;
  drawer_->hide();
  table_->setFocus();
}

void RunsPage::showMenu(const QPoint& globalPosition, qint64 run) {
  if (!selection_->runs().contains(run)) menuOf_ = run;
  describeActions();
  QMenu menu(this);
  menu.setObjectName(QStringLiteral("runMenu"));
  // The action's own icon is drawn for its button, which has the accent's colour.
  QAction* compare = menu.addAction(icon(QStringLiteral("compare")), compare_->text());
  compare->setObjectName(QStringLiteral("menuCompare"));
  compare->setEnabled(compare_->isEnabled());
  compare->setVisible(compare_->isVisible());
  connect(compare, &QAction::triggered, compare_, &QAction::trigger);
  if (untick_->isEnabled()) menu.addAction(untick_);
  menu.addActions({resume_, fork_, reproduce_, stop_, exports_->runsAction(),
                   exports_->fileAction(), exports_->weightsAction()});
  if (job_->isEnabled()) menu.addAction(job_);
  menu.addSeparator();
  if (place_ != RunPlace::trash) {
    marks_->addTo(menu);
    menu.addSeparator();
  }
  menu.addActions({discard_, restore_, remove_});
  menu.exec(globalPosition);
  menuOf_.reset();
  describeActions();
}

void RunsPage::stopRuns() {
  session().act(
      stopping_,
      [runs = selectedRuns(),
       path = session().storePath().toStdString()](workbench::Workbench&) -> Result<Stopping> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        Stopping stopping;
        for (const qint64 id : runs) {
          const auto run = reader->run(id);
          if (!run) return fail(run);
          if (storage::has_ended(run->summary.state)) continue;
          (workbench::stop_keeps(*run) ? stopping.saved : stopping.lost).push_back(*run);
        }
        return stopping;
      },
      [this](const Result<Stopping>& stopping) {
        if (!stopping) return say(QString::fromStdString(stopping.error().message), Tone::bad);
        for (const storage::RunDetail& run : stopping->lost) confirmStop(run);
        bool reached = false;
        for (const storage::RunDetail& run : stopping->saved) reached |= stopNow(run);
        if (reached)
          say(tr("Stopping: the ranks finish the next step and write a checkpoint"), Tone::text);
      });
}

void RunsPage::showJob() {
  const QList<qint64> runs = selectedRuns();
  if (runs.size() != 1) return;
  session().read(
      showing_, [id = runs.first()](storage::Reader& reader) { return reader.run(id); },
      [this](const Result<storage::RunDetail>& run) {
        if (!run) return say(QString::fromStdString(run.error().message), Tone::bad);
        (new JobDialog(session(), *run, window()))->open();
      });
}

/// False: its connection is lost, so that it waits.
bool RunsPage::stopNow(const storage::RunDetail& run) {
  asking_->ask(tr("stopping"), run, &workbench::stop);
  const int row = model_.indexOf(run.summary.id);
  if (row < 0 || model_.row(row).contactLook().word != ContactLook::Word::lost) return true;
  say(tr("The connection to %1 is lost: the run is stopped once it is back")
          .arg(format::shortName(run.summary.name)),
      Tone::warn);
  return false;
}

void RunsPage::confirmStop(const storage::RunDetail& run) {
  auto* dialog = new EndDialog(session(), run, EndDialog::How::stop, window());
  connect(dialog, &EndDialog::confirmed, this, [this, run] { stopNow(run); });
  dialog->open();
}

void RunsPage::discardRuns() {
  const QList<qint64> runs = selectedRuns();
  if (runs.isEmpty()) return;
  if (!discard_->isEnabled()) return say(discard_->text(), Tone::warn);
  trash_->discard(named(runs));
}

}  // namespace heddle::gui
