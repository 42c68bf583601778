#include "gui/views/runs/runs_page.h"

#include <QDragEnterEvent>
#include <QHeaderView>
#include <QMenu>
#include <utility>

#include "gui/format.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/views/lineage/end_dialog.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/focus_line.h"
#include "storage/export.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/weights.h"

namespace heddle::gui {
namespace {

/// The outcome of a request to stop some runs.
struct Stopping {
  std::vector<storage::RunDetail> lost;   // a stop would lose these: asked first
  std::vector<storage::RunDetail> saved;  // others stop
};

/// An action that cannot be done says why, wherever it is listed.
void allow(QAction* action, const QString& text, const QString& reason) {
  action->setText(reason.isEmpty() ? text : QStringLiteral("%1 – %2").arg(text, reason));
  action->setEnabled(reason.isEmpty());
}

}  // namespace

RunsPage::RunsPage(Session& session, QWidget* parent)
    : Page(session, parent),
      reading_(session.readingThread(), this),
      stopping_(session.workingThreads(), this),
      exporting_(session.workingThreads(), this),
      converting_(session.workingThreads(), this),
      checking_(session.readingThread(), this) {
  asking_ = new RunAsking(session, this);
  makeActions();
  setAcceptDrops(true);
  where_ = new Segment({tr("Runs"), tr("Trash")}, this);
  where_->setObjectName(QStringLiteral("where"));
  where_->hide();  // until the window takes it
  connect(where_, &Segment::currentChanged, this, [this](int index) { showTrash(index == 1); });
  trash_ = new RunTrash(session, this);
  connect(trash_, &RunTrash::changed, this, &RunsPage::activated);
  importing_ = new RunImport(session, this);
  connect(import_, &QAction::triggered, importing_, &RunImport::choose);
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
  nothingTrashed_ = new EmptyState(
      QStringLiteral("trash"), tr("The trash is empty"),
      tr("Runs that you delete stay here until you delete them for good."), QString());
  stack_->addWidget(nothingTrashed_);
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
      tr("Import run directories made elsewhere, or folders of them; you can also drop them here"));
  compare_ =
      make(QStringLiteral("compareRuns"), tr("Compare"), QStringLiteral("compare"), Tone::onAccent);
  compare_->setProperty("topBar", true);
  compare_->setProperty("role", "primary");
  resume_ = make(QStringLiteral("resumeRun"), tr("Resume"), QStringLiteral("launch"));
  resume_->setToolTip(tr("Continue from its newest checkpoint, as a new run"));
  fork_ = make(QStringLiteral("forkRun"), tr("Fork from step …"), QStringLiteral("compare"));
  fork_->setToolTip(tr("Branch off from one of its checkpoints, with another recipe"));
  for (QAction* action : {resume_, fork_})
    connect(action, &QAction::triggered, this, [this, fork = action == fork_] {
      if (const QList<qint64> runs = selectedRuns(); runs.size() == 1)
        Q_EMIT session().continueRequested(runs.first(), fork);
    });
  stop_ = make(QStringLiteral("stopRuns"), tr("Stop run"), QStringLiteral("stop"));
  export_ = make(QStringLiteral("exportRuns"), tr("Export run"), QStringLiteral("download"));
  weights_ =
      make(QStringLiteral("exportWeights"), tr("Export weights"), QStringLiteral("checkpoint"));
  weights_->setToolTip(tr("The newest checkpoint, as a folder that transformers loads"));
  discard_ =
      make(QStringLiteral("discardRuns"), tr("Move to trash"), QStringLiteral("trash"), Tone::bad);
  restore_ = make(QStringLiteral("restoreRuns"), tr("Restore"), QStringLiteral("undo"));
  restore_->setProperty("topBar", true);
  remove_ =
      make(QStringLiteral("removeRuns"), tr("Delete for good"), QStringLiteral("trash"), Tone::bad);
  remove_->setProperty("topBar", true);
  untick_ = make(QStringLiteral("untickRuns"), tr("Untick all"), QStringLiteral("close"));
  untick_->setToolTip(tr("Esc in the table"));
  connect(untick_, &QAction::triggered, this,
          [this] { selection_->select(QItemSelection(), QItemSelectionModel::Clear); });
  connect(compare_, &QAction::triggered, this,
          [this] { Q_EMIT session().compareRequested(selectedRuns()); });
  connect(stop_, &QAction::triggered, this, &RunsPage::stopRuns);
  connect(export_, &QAction::triggered, this, &RunsPage::exportRuns);
  connect(weights_, &QAction::triggered, this, &RunsPage::exportWeights);
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
  spared_ = linkButton({});
  spared_->setObjectName(QStringLiteral("sparedColumns"));
  filter_->addRight(spared_);

  table_ = new RunsTable;
  table_->setObjectName(QStringLiteral("runs"));
  table_->setAccessibleName(tr("Runs"));
  new FocusLine(table_);
  delegate_ = new RunDelegate(table_);
  table_->setModel(&proxy_);
  selection_ = new RunSelection(model_, proxy_, table_);
  table_->setSelectionModel(selection_);
  table_->setItemDelegate(delegate_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(RunsModel::Created, Qt::DescendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(28);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  QHeaderView* header = table_->horizontalHeader();
  header->setFixedHeight(32);
  header->setHighlightSections(false);
  layout_ = new RunColumns(table_);
  connect(layout_, &RunColumns::sparedChanged, this, &RunsPage::showSpared);
  connect(spared_, &QPushButton::clicked, this,
          [this] { layout_->offer(spared_->mapToGlobal(QPoint(0, spared_->height() + 4))); });
  showSpared();
  table_->viewport()->installEventFilter(this);
  // The age of a running run's last word.
  connect(&session(), &Session::secondPassed, this, [this] {
    if (isVisible()) table_->viewport()->update();
  });
  connect(table_, &RunsTable::deletePressed, this, [this] {
    if (inTrash_ && remove_->isEnabled()) return remove_->trigger();
    if (!inTrash_) discardRuns();
  });
  connect(table_, &RunsTable::escapePressed, untick_, &QAction::trigger);
  connect(selection_, &RunSelection::chosenChanged, this, &RunsPage::selectionChanged);
  connect(selection_, &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            table_->viewport()->update();
            if (!current.isValid()) return;
            drawerClosed_ = false;
            drawer_->showRun(proxy_.row(current).summary.id);
            drawer_->show();
          });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT session().runRequested(QStringLiteral("live"), proxy_.row(index).summary.id);
  });
  connect(table_, &QTableView::customContextMenuRequested, this, [this](const QPoint& position) {
    const QModelIndex at = table_->indexAt(position);
    if (!at.isValid()) return;
    showMenu(table_->viewport()->mapToGlobal(position), proxy_.row(at).summary.id);
  });

  auto* card = new QFrame;
  card->setProperty("role", "card");
  auto* inner = new QVBoxLayout(card);
  inner->setContentsMargins(1, 1, 1, 1);
  inner->addWidget(table_);
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(metric::edge, metric::group, metric::edge, metric::group);
  layout->setSpacing(12);
  layout->addWidget(filter_);
  layout->addWidget(card, 1);
  return whole;
}

QString RunsPage::subtitle() const {
  const int all = model_.rowCount(), shown = proxy_.rowCount();
  QString text = shown == all ? format::plural(all, tr("run"))
                              : tr("%1 of %2").arg(shown).arg(format::plural(all, tr("run")));
  if (const auto chosen = selectedRuns().size(); chosen > 1 || selection_->hidden() > 0)
    text += tr(", %1 selected").arg(chosen);
  if (selection_->hidden() > 0)
    text += tr(", %1 of them hidden by the filter").arg(selection_->hidden());
  return text;
}

void RunsPage::activated() {
  if (reading_.running()) return;
  session().read(
      reading_,
      [trash = inTrash_](storage::Reader& reader) -> Result<Rows> {
        auto shown = readRunRows(reader, trash);
        if (!shown) return fail(shown);
        const auto trashed = reader.runs(true);
        if (!trashed) return fail(trashed);
        return Rows{std::move(*shown), static_cast<qint64>(trashed->size())};
      },
      [this](Result<Rows> rows) {
        if (!rows) return say(QString::fromStdString(rows.error().message), Tone::bad);
        setRows(std::move(*rows));
      });
}

void RunsPage::setRows(Rows rows) {
  selection_->keepOver([&] { model_.setRows(std::move(rows.shown)); });
  layout_->measure();
  where_->setText(1,
                  rows.trashed > 0 ? tr("Trash %1").arg(format::count(rows.trashed)) : tr("Trash"));
  stack_->setCurrentIndex(model_.rowCount() > 0 ? 0 : inTrash_ ? 2 : 1);
  if (!wanted_.isEmpty()) showRuns(std::exchange(wanted_, {}));
  if (!table_->currentIndex().isValid() && !drawerClosed_ && proxy_.rowCount() > 0)
    // Looked at in the drawer, and not chosen: nobody has.
    selection_->setCurrentIndex(proxy_.index(0, RunsModel::Name), QItemSelectionModel::NoUpdate);
  else if (drawer_->isVisible())
    drawer_->showRun(drawer_->run());
  drawer_->setVisible(model_.rowCount() > 0 && !drawerClosed_);
  weightsAreOld_ = true;
  selectionChanged();
}

void RunsPage::showTrash(bool trash) {
  if (trash == inTrash_) return;
  inTrash_ = trash;
  where_->setCurrent(trash ? 1 : 0);
  for (QAction* action :
       {train_, import_, compare_, resume_, fork_, stop_, export_, weights_, discard_})
    action->setVisible(!trash);
  for (QAction* action : {restore_, remove_}) action->setVisible(trash);
  reading_.drop();
  selection_->select(QItemSelection(), QItemSelectionModel::Clear);
  activated();
}

void RunsPage::showRun(qint64 run) { showRuns({run}); }

void RunsPage::showRuns(const QList<qint64>& runs) {
  wanted_.clear();
  showTrash(false);
  QItemSelection selection;
  for (const qint64 run : runs) {
    const int row = model_.indexOf(run);
    if (row < 0) {
      wanted_ = runs;
      return;
    }
    const QModelIndex index = proxy_.mapFromSource(model_.index(row, 0));
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
  return !reading_.running() && filter_->isReady() && !checking_.running() && wanted_.isEmpty() &&
         drawer_->isReady();
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
  delegate_->setSlots(std::move(chosen));
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
  const QString several = runs.size() > 1 ? format::plural(runs.size(), tr("run")) : tr("run");
  export_->setEnabled(!runs.isEmpty());
  export_->setText(tr("Export %1").arg(several));
  const QString none = runs.isEmpty() ? tr("no run is selected") : QString();
  QString still;
  if (running.size() == 1)
    still = tr("%1 is running: stop it first").arg(named(running).first().name);
  if (running.size() > 1)
    still = tr("%1 are running: stop them first").arg(format::plural(running.size(), tr("run")));
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
  checkWeights();
  Q_EMIT headerChanged();
}

void RunsPage::checkWeights() {
  const QList<qint64> runs = selectedRuns();
  const QString text = tr("Export weights");
  if (runs.size() != 1) {
    checked_ = 0;
    checking_.drop();
    return allow(weights_, text,
                 runs.isEmpty() ? tr("no run is selected") : tr("one run at a time"));
  }
  if (checked_ == runs.first())
    allow(weights_, text, weightsReason_);
  else
    weights_->setEnabled(false);
  if (checked_ == runs.first() && !std::exchange(weightsAreOld_, false)) return;
  session().read(
      checking_,
      [id = runs.first()](storage::Reader& reader) -> Result<std::string> {
        const auto run = reader.run(id);
        if (!run) return fail(run);
        return workbench::newest_weights(*run);
      },
      [this, id = runs.first(), text](const Result<std::string>& checkpoint) {
        checked_ = id;
        weightsReason_ =
            checkpoint ? QString() : QString::fromStdString(checkpoint.error().message);
        allow(weights_, text, weightsReason_);
      });
}

void RunsPage::applyFilter(const RunFilter& filter) {
  selection_->keepOver([&] { proxy_.setFilter(filter); });
  const auto& problem = filter.problem();
  table_->setEmptyText(
      problem ? tr("The filter is not understood: %1").arg(QString::fromStdString(problem->text))
              : tr("No run matches the filter"));
  Q_EMIT headerChanged();
}

/// That there are columns which the window is too narrow for.
void RunsPage::showSpared() {
  const QStringList names = layout_->spared();
  spared_->setVisible(!names.isEmpty());
  spared_->setText(tr("%1 hidden").arg(format::plural(names.size(), tr("column"))));
  spared_->setToolTip(
      tr("No room for %1. A click lists all columns.").arg(names.join(QStringLiteral(", "))));
}

bool RunsPage::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) layout_->fit();
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
  menu.addActions({resume_, fork_, stop_, export_, weights_});
  menu.addSeparator();
  menu.addActions({discard_, restore_, remove_});
  menu.exec(globalPosition);
  menuOf_.reset();
  describeActions();
}

void RunsPage::dragEnterEvent(QDragEnterEvent* event) {
  // A recipe's file is the window's business.
  if (RunImport::pathsIn(event->mimeData()).isEmpty()) return event->ignore();
  event->acceptProposedAction();
}

void RunsPage::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  importing_->take(RunImport::pathsIn(event->mimeData()));
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

void RunsPage::exportRuns() {
  const QString folder = FileDialog::folder(this, tr("The folder to export into"));
  if (folder.isEmpty()) return;
  session().act(
      exporting_,
      [runs = selectedRuns(), folder = folder.toStdString(),
       path = session().storePath().toStdString()](workbench::Workbench&) -> Result<> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        for (const qint64 id : runs) {
          const auto run = reader->run(id);
          if (!run) return fail(run);
          const auto done = storage::export_run(*reader, id, folder + '/' + run->summary.name);
          if (!done) return fail(done);
        }
        return {};
      },
      [this, folder](const Result<>& done) {
        if (!done) return say(QString::fromStdString(done.error().message), Tone::bad);
        say(tr("Exported to %1").arg(folder), Tone::good);
      });
}

void RunsPage::exportWeights() {
  const QString folder = FileDialog::folder(this, tr("The folder to export into"));
  if (folder.isEmpty()) return;
  session().act(
      converting_,
      [id = selectedRuns().first(), folder = folder.toStdString(),
       path = session().storePath().toStdString()](
          workbench::Workbench&) -> Result<workbench::ExportedWeights> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        const auto run = reader->run(id);
        if (!run) return fail(run);
        return workbench::export_weights(*run, folder);
      },
      [this](const Result<workbench::ExportedWeights>& to) {
        if (!to) return say(QString::fromStdString(to.error().message), Tone::bad);
        QString text = tr("Exported to %1").arg(QString::fromStdString(to->folder));
        for (const std::string& note : to->notes) text += "; " + QString::fromStdString(note);
        say(text, to->notes.empty() ? Tone::good : Tone::warn);
      });
}

void RunsPage::discardRuns() {
  const QList<qint64> runs = selectedRuns();
  if (runs.isEmpty()) return;
  if (!discard_->isEnabled()) return say(discard_->text(), Tone::warn);
  trash_->discard(named(runs));
}

}  // namespace heddle::gui
