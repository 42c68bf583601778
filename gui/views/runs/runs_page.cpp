#include "gui/views/runs/runs_page.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QMenu>
#include <algorithm>
#include <utility>

#include "gui/format.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/views/lineage/end_dialog.h"
#include "gui/widgets/dialog.h"
#include "storage/export.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/import.h"
#include "workbench/weights.h"

namespace heddle::gui {
namespace {

constexpr int kTypingMilliseconds = 150;

/// Widths of the table's columns; the name takes what is left.
constexpr int kWidths[] = {28, 88, 0, 112, 112, 58, 64, 80, 104, 86, 80, 100, 84};
constexpr int kLowestName = 150;
/// Columns that go first where there is no room for all; the drawer shows what they show.
constexpr RunsModel::Column kSpared[] = {RunsModel::Target,  RunsModel::Duration, RunsModel::Recipe,
                                         RunsModel::Exposed, RunsModel::Memory,   RunsModel::Curve,
                                         RunsModel::Created};

/// The columns of a filter's keys that the table does not have, by the store's full names. A key
/// may be the last part of a name: "lr" is "recipe.optimizer.lr".
using Columns = std::map<QString, RunsModel::Values>;

Result<Columns> readColumns(storage::Reader& reader, const QStringList& keys) {
  const auto names = reader.columns();
  if (!names) return fail(names);
  Columns columns;
  for (const QString& key : keys) {
    const std::string tail = ("." + key).toStdString();
    for (const std::string& name : *names) {
      if (name != tail.substr(1) && !name.ends_with(tail)) continue;
      auto column = reader.column(name);
      if (!column) return fail(column);
      columns[key].merge(*column);
    }
  }
  return columns;
}

}  // namespace

RunsPage::RunsPage(Session& session, QWidget* parent)
    : Page(session, parent),
      reading_(session.readingThread(), this),
      columns_(session.readingThread(), this),
      importing_(session.workingThreads(), this),
      stopping_(session.workingThreads(), this),
      exporting_(session.workingThreads(), this),
      converting_(session.workingThreads(), this),
      removing_(session.workingThreads(), this) {
  makeActions();
  auto* empty = new EmptyState(
      QStringLiteral("runs"), tr("No runs yet"),
      tr("Runs launched from here, from a shell or imported from a run directory appear in this "
         "table."),
      tr("Compose a recipe"));
  connect(empty, &EmptyState::triggered, this,
          [this] { Q_EMIT this->session().pageRequested(QStringLiteral("compose")); });
  stack_ = new QStackedWidget;
  stack_->addWidget(makeTable());
  stack_->addWidget(empty);
  drawer_ = new RunDrawer(session);
  drawer_->hide();
  connect(drawer_, &RunDrawer::closed, this, &RunsPage::closeDrawer);
  connect(drawer_, &RunDrawer::menuRequested, this, &RunsPage::showMenu);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(stack_, 1);
  layout->addWidget(drawer_);
  typing_.setSingleShot(true);
  typing_.setInterval(kTypingMilliseconds);
  connect(&typing_, &QTimer::timeout, this, &RunsPage::applyFilter);
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
  import_->setToolTip(tr("Take in the directory of a run made elsewhere"));
  compare_ =
      make(QStringLiteral("compareRuns"), tr("Compare"), QStringLiteral("compare"), Tone::onAccent);
  compare_->setProperty("topBar", true);
  compare_->setProperty("role", "primary");
  resume_ = make(QStringLiteral("resumeRun"), tr("Resume"), QStringLiteral("launch"));
  resume_->setToolTip(tr("Go on from its newest checkpoint, as a run of its own"));
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
  remove_ =
      make(QStringLiteral("removeRuns"), tr("Remove run"), QStringLiteral("trash"), Tone::bad);
  remove_->setShortcut(Qt::Key_Delete);
  remove_->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  addAction(remove_);
  connect(import_, &QAction::triggered, this, &RunsPage::importRun);
  connect(compare_, &QAction::triggered, this,
          [this] { Q_EMIT session().compareRequested(selectedRuns()); });
  connect(stop_, &QAction::triggered, this, &RunsPage::stopRuns);
  connect(export_, &QAction::triggered, this, &RunsPage::exportRuns);
  connect(weights_, &QAction::triggered, this, &RunsPage::exportWeights);
  connect(remove_, &QAction::triggered, this, &RunsPage::removeRuns);
}

QWidget* RunsPage::makeTable() {
  auto* whole = new QWidget;
  filter_ = new SearchField(tr("Filter: a word, state:done, lr>1e-4 …"), QStringLiteral("filter"));
  filter_->setObjectName(QStringLiteral("filter"));
  filter_->setProperty("role", "mono");
  filter_->setMaximumWidth(640);
  filterNote_ = muted({});
  connect(filter_, &QLineEdit::textChanged, &typing_, qOverload<>(&QTimer::start));
  auto* top = new QHBoxLayout;
  top->setSpacing(12);
  top->addWidget(filter_, 1);
  top->addWidget(filterNote_);
  top->addStretch(0);

  table_ = new QTableView;
  table_->setObjectName(QStringLiteral("runs"));
  table_->setAccessibleName(tr("Runs"));
  delegate_ = new RunDelegate(table_);
  table_->setModel(&proxy_);
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
  header->setSectionsMovable(true);
  header->setMinimumSectionSize(28);
  for (int column = 0; column < RunsModel::ColumnCount; ++column)
    header->resizeSection(column, kWidths[column]);
  header->setSectionResizeMode(RunsModel::Name, QHeaderView::Stretch);
  header->setSectionResizeMode(RunsModel::Check, QHeaderView::Fixed);
  table_->viewport()->installEventFilter(this);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &RunsPage::selectionChanged);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
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
  connect(table_, &QTableView::customContextMenuRequested, this,
          [this](const QPoint& position) { showMenu(table_->viewport()->mapToGlobal(position)); });

  auto* card = new QFrame;
  card->setProperty("role", "card");
  auto* inner = new QVBoxLayout(card);
  inner->setContentsMargins(1, 1, 1, 1);
  inner->addWidget(table_);
  auto* layout = new QVBoxLayout(whole);
  layout->setContentsMargins(metric::edge, metric::group, metric::edge, metric::group);
  layout->setSpacing(12);
  layout->addLayout(top);
  layout->addWidget(card, 1);
  return whole;
}

QString RunsPage::subtitle() const {
  const int all = model_.rowCount(), shown = proxy_.rowCount();
  QString text = shown == all ? format::plural(all, tr("run"))
                              : tr("%1 of %2").arg(shown).arg(format::plural(all, tr("run")));
  if (const auto chosen = selectedRuns().size(); chosen > 1)
    text += tr(", %1 selected").arg(chosen);
  return text;
}

void RunsPage::activated() {
  if (reading_.running()) return;
  session().read(reading_, readRunRows, [this](Result<std::vector<RunRow>> rows) {
    if (!rows) return say(QString::fromStdString(rows.error().message), Tone::bad);
    setRows(std::move(*rows));
  });
}

void RunsPage::setRows(std::vector<RunRow> rows) {
  model_.setRows(std::move(rows));
  stack_->setCurrentIndex(model_.rowCount() > 0 ? 0 : 1);
  if (!wanted_.isEmpty()) showRuns(std::exchange(wanted_, {}));
  if (!table_->currentIndex().isValid() && !drawerClosed_ && proxy_.rowCount() > 0)
    table_->setCurrentIndex(proxy_.index(0, RunsModel::Name));
  else if (drawer_->isVisible())
    drawer_->showRun(drawer_->run());
  drawer_->setVisible(model_.rowCount() > 0 && !drawerClosed_);
  selectionChanged();
}

void RunsPage::showRun(qint64 run) { showRuns({run}); }

void RunsPage::showRuns(const QList<qint64>& runs) {
  wanted_.clear();
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
  return !reading_.running() && !columns_.running() && !typing_.isActive() && wanted_.isEmpty() &&
         drawer_->isReady();
}

QList<qint64> RunsPage::selectedRuns() const {
  QList<std::pair<int, qint64>> found;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows())
    found.append({index.row(), proxy_.row(index).summary.id});
  std::sort(found.begin(), found.end());
  QList<qint64> runs;
  for (const auto& [row, run] : found) runs.append(run);
  return runs;
}

void RunsPage::selectionChanged() {
  const QList<qint64> runs = selectedRuns();
  QHash<qint64, int> chosen;
  const QList<int> strokes = runSlots(runs);
  for (qsizetype i = 0; i < runs.size() && runs.size() > 1; ++i) chosen.insert(runs[i], strokes[i]);
  delegate_->setSlots(std::move(chosen));
  table_->viewport()->update();
  bool running = false, ended = !runs.isEmpty();
  for (const qint64 run : runs) {
    const int row = model_.indexOf(run);
    const bool over = row >= 0 && storage::has_ended(model_.row(row).summary.state);
    running = running || !over;
    ended = ended && over;
  }
  compare_->setEnabled(runs.size() > 1);
  compare_->setText(runs.size() > 1 ? tr("Compare %1").arg(runs.size()) : tr("Compare"));
  stop_->setEnabled(running);
  export_->setEnabled(!runs.isEmpty());
  weights_->setEnabled(runs.size() == 1);
  remove_->setEnabled(ended);
  resume_->setEnabled(ended && runs.size() == 1);
  fork_->setEnabled(ended && runs.size() == 1);
  Q_EMIT headerChanged();
}

void RunsPage::applyFilter() {
  RunFilter filter(filter_->text());
  QStringList missing;
  for (const QString& key : filter.keys())
    if (!RunsModel::isBuiltIn(key)) missing.append(key);
  const auto apply = [this](const RunFilter& wanted) {
    proxy_.setFilter(wanted);
    Q_EMIT headerChanged();
  };
  filterNote_->clear();
  if (missing.isEmpty()) {
    columns_.drop();
    return apply(filter);
  }
  session().read(
      columns_, [missing](storage::Reader& reader) { return readColumns(reader, missing); },
      [this, filter, missing, apply](Result<Columns> columns) {
        if (!columns) return say(QString::fromStdString(columns.error().message), Tone::bad);
        QStringList unknown;
        for (const QString& key : missing) {
          if (!columns->contains(key)) unknown.append(key);
          model_.setValues(key, (*columns)[key]);
        }
        if (!unknown.isEmpty()) filterNote_->setText(tr("no run has %1").arg(unknown.join(", ")));
        apply(filter);
      });
}

void RunsPage::fitColumns() {
  int needed = kLowestName;
  for (const int width : kWidths) needed += width;
  for (const RunsModel::Column column : kSpared) {
    const bool hide = needed > table_->viewport()->width();
    table_->setColumnHidden(column, hide);
    if (hide) needed -= kWidths[column];
  }
}

bool RunsPage::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) fitColumns();
  return false;
}

void RunsPage::closeDrawer() {
  drawerClosed_ = true;
  drawer_->hide();
  table_->setFocus();
}

void RunsPage::showMenu(const QPoint& globalPosition) {
  QMenu menu(this);
  menu.addActions({compare_, resume_, fork_, stop_, export_, weights_});
  menu.addSeparator();
  menu.addAction(remove_);
  menu.exec(globalPosition);
}

void RunsPage::importRun() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("The run directory to take in"));
  if (folder.isEmpty()) return;
  session().act(
      importing_,
      [folder =
           folder.toStdString()](workbench::Workbench& workbench) -> Result<storage::CreatedRun> {
        if (const auto lease = workbench.writer().take_lease(); !lease) return fail(lease);
        return workbench::import_run(workbench.writer(), folder);
      },
      [this](const Result<storage::CreatedRun>& run) {
        if (!run) return say(QString::fromStdString(run.error().message), Tone::bad);
        say(tr("%1 was imported").arg(QString::fromStdString(run->name)), Tone::good);
        wanted_ = {run->id};
        activated();
      });
}

void RunsPage::stopRuns() {
  session().act(
      stopping_,
      [runs = selectedRuns(), path = session().storePath().toStdString()](
          workbench::Workbench&) -> Result<std::vector<storage::RunDetail>> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        std::vector<storage::RunDetail> lost;
        for (const qint64 id : runs) {
          const auto run = reader->run(id);
          if (!run) return fail(run);
          if (storage::has_ended(run->summary.state)) continue;
          if (!workbench::stop_keeps(*run))
            lost.push_back(*run);
          else if (const auto stopped = workbench::stop(*run); !stopped)
            return fail(stopped);
        }
        return lost;
      },
      [this, count = selectedRuns().size()](const Result<std::vector<storage::RunDetail>>& lost) {
        if (!lost) return say(QString::fromStdString(lost.error().message), Tone::bad);
        for (const storage::RunDetail& run : *lost) confirmStop(run);
        if (static_cast<qsizetype>(lost->size()) < count)
          say(tr("Stopping: the ranks finish the next step and write a checkpoint"), Tone::text);
      });
}

void RunsPage::confirmStop(const storage::RunDetail& run) {
  auto* dialog = new EndDialog(session(), run, EndDialog::How::stop, window());
  connect(dialog, &EndDialog::confirmed, this, [this, run] {
    session().act(
        stopping_, [run](workbench::Workbench&) { return workbench::stop(run); },
        [this](const Result<>& stopped) {
          if (!stopped) say(QString::fromStdString(stopped.error().message), Tone::bad);
        });
  });
  dialog->open();
}

void RunsPage::exportRuns() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("The folder to export into"));
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
  const QString folder = QFileDialog::getExistingDirectory(this, tr("The folder to export into"));
  if (folder.isEmpty()) return;
  session().act(
      converting_,
      [id = selectedRuns().first(), folder = folder.toStdString(),
       path = session().storePath().toStdString()](workbench::Workbench&) -> Result<std::string> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        const auto run = reader->run(id);
        if (!run) return fail(run);
        return workbench::export_weights(*run, folder);
      },
      [this](const Result<std::string>& to) {
        if (!to) return say(QString::fromStdString(to.error().message), Tone::bad);
        say(tr("Exported to %1").arg(QString::fromStdString(*to)), Tone::good);
      });
}

void RunsPage::removeRuns() {
  const QList<qint64> runs = selectedRuns();
  if (runs.isEmpty()) return;
  const QString what = runs.size() == 1 ? model_.row(model_.indexOf(runs.first())).name()
                                        : format::plural(runs.size(), tr("run"));
  if (!confirm(
          this, tr("Remove %1?").arg(what),
          tr("Its curves, timelines and log leave the store, and its run directory is deleted on "
             "the hosts. This cannot be undone."),
          tr("Remove %1").arg(what)))
    return;
  session().act(
      removing_,
      [runs,
       path = session().storePath().toStdString()](workbench::Workbench& workbench) -> Result<> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        for (const qint64 id : runs) {
          const auto run = reader->run(id);
          if (!run) return fail(run);
          if (const auto done = workbench::remove(workbench.writer(), *run); !done)
            return fail(done);
        }
        return {};
      },
      [this](const Result<>& done) {
        if (!done) say(QString::fromStdString(done.error().message), Tone::bad);
        activated();
      });
}

}  // namespace heddle::gui
