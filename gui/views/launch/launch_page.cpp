#include "gui/views/launch/launch_page.h"

#include <QApplication>
#include <QFileInfo>
#include <QPointer>
#include <QSignalBlocker>

#include "gui/format.h"
#include "gui/models/text_file.h"
#include "gui/theme/theme.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/focus_line.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/why_not.h"
#include "workbench/paths.h"

namespace heddle::gui {
namespace {

constexpr int kLow = 740;  // the recipe's text has no room

constexpr int kRanksPauseMilliseconds = 200;
constexpr int kStaleMilliseconds = 10000;  // what is free on a target changes

}  // namespace

LaunchPage::LaunchPage(Session& session, QWidget* parent)
    : Page(session, parent),
      data_(QString::fromStdString(workbench::engine_path())),
      reading_(session.readingThread(), this),
      looking_(session.workingThreads(), this),
      checking_(session.workingThreads(), this),
      probing_(session.workingThreads(), this),
      launching_(session.workingThreads(), this) {
  launch_ = new QAction(icon(QStringLiteral("launch"), Tone::onAccent), tr("Launch"), this);
  launch_->setObjectName(QStringLiteral("launchAction"));
  launch_->setProperty("role", "primary");
  connect(launch_, &QAction::triggered, this, &LaunchPage::launch);
  sweep_ = new QAction(icon(QStringLiteral("plus")), tr("Sweep …"), this);
  sweep_->setObjectName(QStringLiteral("sweepAction"));
  connect(sweep_, &QAction::triggered, this, &LaunchPage::chooseSweep);

  left_ = buildLeft();
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(16, 16, 16, 16);
  grid->setSpacing(8);
  grid->addWidget(left_, 0, 0, 2, 1);
  grid->addWidget(buildTargets(), 0, 1);
  grid->addWidget(buildRun(), 0, 2);
  runs_ = new LaunchedRuns(session);
  grid->addWidget(runs_, 1, 1, 1, 2);
  grid->setColumnStretch(1, 4);
  grid->setColumnStretch(2, 3);
  grid->setRowStretch(0, 3);
  grid->setRowStretch(1, 2);
  pause_.setSingleShot(true);
  pause_.setInterval(kRanksPauseMilliseconds);
  connect(&pause_, &QTimer::timeout, this, &LaunchPage::check);
  for (RecipeChoice& choice : sampleRecipes()) addChoice(choice, choices_.empty());
}

QWidget* LaunchPage::buildLeft() {
  auto* left = new QWidget;
  QVBoxLayout* column = columnOf(left, {}, 8);
  column->addWidget(buildRecipe(), 3);
  column->addWidget(buildData(), 2);
  return left;
}

QWidget* LaunchPage::buildData() {
  auto* card = new Card(tr("Data"));
  dataView_ = new DataView(data_);
  auto* inside = new QWidget;
  columnOf(inside, {0, 0, 4, 0})->addWidget(dataView_);
  card->setBodyMargins(16, 0, 12, 12);  // and 4 within for the scroll bar
  QScrollArea* area = scrolled(inside);
  area->setAccessibleName(tr("Facts of the data"));
  card->body()->addWidget(area, 1);
  return card;
}

QWidget* LaunchPage::buildRecipe() {
  auto* card = new Card(tr("Recipe"));
  recipes_ = new QComboBox;
  recipes_->setProperty("role", "mono");
  recipes_->setObjectName(QStringLiteral("recipe"));
  recipes_->setAccessibleName(tr("Recipe"));
  auto* open = iconButton(QStringLiteral("open"), tr("Open a recipe file"));
  auto* row = new QHBoxLayout;
  row->addWidget(recipes_, 1);
  row->addWidget(open);
  card->body()->addLayout(row);
  facts_ = new QGridLayout;
  facts_->setHorizontalSpacing(12);
  facts_->setVerticalSpacing(6);
  facts_->setColumnStretch(1, 1);
  card->body()->addSpacing(4);
  card->body()->addLayout(facts_);
  faults_ = label({}, "error");
  faults_->setObjectName(QStringLiteral("faults"));
  faults_->setWordWrap(true);
  faults_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  card->body()->addSpacing(4);
  card->body()->addWidget(faults_);
  toml_ = new QPlainTextEdit;
  toml_->setProperty("role", "code");
  toml_->setReadOnly(true);
  toml_->setAccessibleName(tr("The recipe's text"));
  new FocusLine(toml_);
  edit_ = quietButton({}, QStringLiteral("compose"));
  card->body()->addWidget(toml_, 1);
  card->body()->addWidget(edit_, 0, Qt::AlignLeft);

  connect(recipes_, &QComboBox::currentIndexChanged, this, &LaunchPage::recipeChosen);
  connect(open, &QToolButton::clicked, this, [this] {
    const QString samples = QString::fromStdString(workbench::samples_folder());
    const QString path = FileDialog::fileToOpen(
        this, tr("Open a recipe"), FileDialog::lastFolder(samples), tr("Recipes (*.toml)"));
    if (path.isEmpty()) return;
    const Result<QString> text = readText(path);
    if (text) return showRecipe(QFileInfo(path).completeBaseName(), *text, path);
    Q_EMIT session().message(QString::fromStdString(text.error().message), Tone::bad);
  });
  connect(edit_, &QPushButton::clicked, this, [this] {
    const RecipeChoice* choice = recipe();
    if (!choice) return;
    const auto check = check_;  // asking for the page may change what is shown here
    Q_EMIT session().recipeRequested(QStringLiteral("compose"), choice->name, choice->toml,
                                     choice->file);
    if (!check || check->faults.empty() || check->faults.front().line == 0) return;
    Q_EMIT session().placeRequested(check->faults.front().line, check->faults.front().column);
  });
  return card;
}

QWidget* LaunchPage::buildTargets() {
  auto* card = new Card(tr("Target"));
  probeButton_ = quietButton(tr("Probe"), QStringLiteral("refresh"));
  card->addControl(probeButton_);
  card->setBodyMargins(16, 0, 12, 12);  // and 4 within for the scroll bar
  targets_ = new TargetList;
  auto* more = linkButton(tr("Add a host over SSH"));
  findings_ = new FindingsView;
  auto* inside = new QWidget;
  QVBoxLayout* rows = columnOf(inside, {0, 0, 4, 0}, 8);
  rows->addWidget(targets_);
  rows->addWidget(more, 0, Qt::AlignLeft);
  rows->addWidget(line());
  rows->addWidget(findings_);
  rows->addStretch(1);
  targetRows_ = scrolled(inside);
  targetRows_->setAccessibleName(tr("Targets and findings"));
  card->body()->addWidget(targetRows_, 1);
  connect(more, &QPushButton::clicked, this,
          [this] { Q_EMIT session().pageRequested(QStringLiteral("targets")); });
  connect(probeButton_, &QPushButton::clicked, this, &LaunchPage::probe);
  connect(targets_, &TargetList::chosenChanged, this, &LaunchPage::targetChosen);
  return card;
}

QWidget* LaunchPage::buildRun() {
  auto* card = new Card(tr("Run"));
  form_ = new RunForm;
  card->body()->addWidget(form_);
  connect(form_, &RunForm::ranksChanged, this, [this] {
    recipeChanged();
    pause_.start();
  });
  connect(form_, &RunForm::sweepRequested, this, &LaunchPage::chooseSweep);
  connect(form_, &RunForm::changed, this, &LaunchPage::showReadiness);
  card->body()->addSpacing(4);
  card->body()->addWidget(line());
  steps_ = new StepsView;
  auto* inside = new QWidget;
  QVBoxLayout* rows = columnOf(inside, {0, 0, 4, 0});
  rows->addWidget(steps_);
  rows->addStretch(1);
  QScrollArea* area = scrolled(inside);
  area->setAccessibleName(tr("Steps of the launch"));
  card->body()->addWidget(area, 1);
  card->body()->addLayout(buildButtons());
  return card;
}

QLayout* LaunchPage::buildButtons() {
  launchButton_ = primaryButton(tr("Launch"), QStringLiteral("launch"));
  launchButton_->setObjectName(QStringLiteral("launchButton"));
  cancel_ = quietButton(tr("Cancel"), QStringLiteral("close"));
  remedy_ = quietButton({}, {});
  auto* row = new QHBoxLayout;
  row->addWidget(launchButton_);
  row->addWidget(cancel_);
  row->addWidget(remedy_);
  row->addStretch(1);
  cancel_->hide();
  remedy_->hide();
  connect(launchButton_, &QPushButton::clicked, this, &LaunchPage::launch);
  connect(cancel_, &QPushButton::clicked, this, [this] {
    if (progress_) progress_->cancel();
    cancel_->setEnabled(false);
  });
  connect(remedy_, &QPushButton::clicked, this, [this] {
    if (remedyPage_ == QStringLiteral("compose")) return edit_->click();
    Q_EMIT session().pageRequested(remedyPage_);
  });
  return row;
}

void LaunchPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  left_->setFixedWidth(std::clamp(width() * 3 / 10, 330, 720));
  const bool low = height() < kLow;
  toml_->setVisible(!low);
  auto* column = qobject_cast<QBoxLayout*>(left_->layout());
  column->setStretch(0, low ? 0 : 3);
  column->setStretch(1, low ? 1 : 2);
}

void LaunchPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (event->spontaneous()) return;
  settlesFocus_ = true;
  // The page before it has given the focus to whatever came next, the window's menu for instance.
  QTimer::singleShot(0, this, [this] {
    if (!isVisible()) return;
    setFocus();
    settleFocus();
  });
}

void LaunchPage::settleFocus() {
  if (!settlesFocus_ || !check_ || (check_->faults.empty() && check_->findings.empty())) return;
  settlesFocus_ = false;
  const QWidget* at = QApplication::focusWidget();
  if (at && at != this) return;  // somebody is at work already
  QWidget* failing = findings_->firstFailing();
  if (launchButton_->isEnabled()) {
    launchButton_->setFocus();
  } else if (failing) {
    failing->setFocus();
    targetRows_->ensureWidgetVisible(failing);
  } else {
    edit_->setFocus();
  }
}

QString LaunchPage::subtitle() const {
  const TargetEntry* target = targets_->chosen();
  const RecipeChoice* choice = recipe();
  if (!target || !choice) return {};
  return tr("%1 on %2").arg(fileName(*choice), QString::fromStdString(target->target.name));
}

const RecipeChoice* LaunchPage::recipe() const {
  const int index = recipes_->currentIndex();
  return index < 0 ? nullptr : &choices_[static_cast<size_t>(index)];
}

void LaunchPage::addChoice(const RecipeChoice& choice, bool choose) {
  const auto same = std::find_if(choices_.begin(), choices_.end(), [&](const RecipeChoice& c) {
    return c.file == choice.file && c.name == choice.name;
  });
  const auto index = static_cast<int>(same - choices_.begin());
  if (same != choices_.end()) {
    *same = choice;
  } else {
    choices_.push_back(choice);
    const QSignalBlocker quiet(recipes_);
    recipes_->addItem(fileName(choice));
    recipes_->setCurrentIndex(choose ? index : std::max(0, recipes_->currentIndex()));
  }
  if (!choose) return;
  const QSignalBlocker quiet(recipes_);
  recipes_->setCurrentIndex(index);
  recipeChosen();
}

void LaunchPage::showRecipe(const QString& name, const QString& toml, const QString& file) {
  if (isVisible()) setFocus();
  settlesFocus_ = true;
  addChoice({name, toml, file}, true);
}

void LaunchPage::takeCurrent() {
  const CurrentRecipe& current = session().currentRecipe();
  if (current.isNone() || (recipe() && *recipe() == current)) return;
  addChoice(current, true);
}

void LaunchPage::activated() {
  takeCurrent();
  refresh();
  data_.ask(dataQuestion());  // files may have changed, or been tokenized
  const bool stale = !now_ || lookedAt_.elapsed() > kStaleMilliseconds;
  if (stale && !looking_.running() && !launching_.running()) look();
}

void LaunchPage::refresh() {
  session().read(reading_, readLaunchOptions, [this](Result<LaunchOptions> options) {
    loaded_ = true;
    if (!options) {
      Q_EMIT session().message(QString::fromStdString(options.error().message), Tone::bad);
      return;
    }
    for (TargetEntry& entry : options->targets) {
      if (entry.isThisMachine() && here_) entry.report = here_;
      if (now_ && now_->refused && now_->target == entry.target)
        entry.error = QString::fromStdString(now_->error);
    }
    const auto lost = [this] { return targets_->chosen() && !targets_->chosen()->lost.isEmpty(); };
    const bool was = lost();
    targets_->setTargets(std::move(options->targets));
    runs_->setOptions(std::move(*options));
    // A target may be another since it was looked at, or be gone.
    const TargetEntry* chosen = targets_->chosen();
    if (now_ && chosen && !(now_->target == chosen->target)) return targetChosen();
    // Findings hold as long as the connection does.
    if (now_ && lost() != was && !looking_.running() && !launching_.running()) return look();
    showReadiness();
  });
}

void LaunchPage::recipeChosen() {
  const RecipeChoice* choice = recipe();
  if (!choice) return;
  if (isVisible()) session().setCurrentRecipe(*choice);
  const auto fork = forkOf(choice->name, choice->file);
  toml_->setPlainText(choice->toml);
  const recipe::Recipe read =
      recipe::parse(choice->toml.toStdString(), choice->name.toStdString()).recipe;
  form_->begin(fork ? fork->run : runName(*choice), static_cast<int>(read.hardware.ranks));
  form_->setFork(fork.has_value());
  sweep_->setEnabled(!fork);
  setWhyNot(sweep_, tr("a fork is one run"));
  recipeChanged();
  check();
}

/// The findings no longer hold, and the last launch was another one.
void LaunchPage::recipeChanged() {
  checking_.drop();
  check_.reset();
  forgetLaunch();
  showReadiness();
}

void LaunchPage::targetChosen() {
  now_.reset();
  recipeChanged();
  findings_->setHint({});
  look();
}

void LaunchPage::look() {
  const TargetEntry* chosen = targets_->chosen();
  const remote::Target target = chosen ? chosen->target : remote::this_machine();
  if (probeButton_->hasFocus()) targets_->focusChosen();
  probeButton_->setEnabled(false);
  looking_.start([target] { return workbench::look_at(target); },
                 [this](workbench::TargetNow now) { looked(std::move(now)); });
  showReadiness();
}

void LaunchPage::looked(workbench::TargetNow now) {
  probeButton_->setEnabled(!probing_.running());
  lookedAt_.start();
  now_ = std::move(now);
  if (now_->target.name == remote::kThisMachine && !now_->hosts.empty()) {
    here_ = now_->hosts[0].report;
  }
  refresh();
  check();
}

DataQuestion LaunchPage::dataQuestion() const {
  const RecipeChoice* choice = recipe();
  if (!choice) return {};
  return {
      choice->toml, namedFile(*choice), {QStringLiteral("hardware.ranks=%1").arg(form_->ranks())}};
}

void LaunchPage::showPlaceOfData() {
  const TargetEntry* target = targets_->chosen();
  dataView_->setPlace(target && !target->isThisMachine()
                          ? tr("Describes the files on this machine. They are sent to %1, which "
                               "tokenizes them itself.")
                                .arg(QString::fromStdString(target->target.name))
                          : QString());
}

void LaunchPage::check() {
  const RecipeChoice* choice = recipe();
  if (!choice) return;
  showPlaceOfData();
  if (isVisible() && data_.asked() != dataQuestion()) data_.ask(dataQuestion());
  checking_.start(
      [choice = *choice, ranks = form_->ranks(), now = now_, store = session().storePath()] {
        return checkRecipe(choice, ranks, now, store);
      },
      [this](RecipeCheck check) { showCheck(std::move(check)); });
}

void LaunchPage::showCheck(RecipeCheck check) {
  check_ = std::move(check);
  clear(facts_);
  int row = 0;
  for (const auto& [name, value] : check_->facts) {
    facts_->addWidget(muted(name), row, 0, Qt::AlignTop);
    QLabel* text = label(value);
    text->setWordWrap(true);
    facts_->addWidget(text, row++, 1);
  }
  QStringList lines;
  for (const recipe::Fault& fault : check_->faults) lines << faultLine(*check_, fault);
  faults_->setText(lines.join(QLatin1Char('\n')));
  faults_->setVisible(!lines.isEmpty());
  edit_->setText(lines.isEmpty() ? tr("Edit in Compose") : tr("Fix in Compose"));
  showReadiness();
  settleFocus();
}

void LaunchPage::chooseSweep() {
  const RecipeChoice* choice = recipe();
  if (!choice) return;
  auto* dialog = new SweepDialog({choice->toml, namedFile(*choice), form_->ranks()},
                                 QString::fromStdString(workbench::engine_path()),
                                 form_->sweep().value_or(SweepChoice{}), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SweepDialog::chosen, this, [this](const SweepChoice& sweep, qsizetype runs) {
    form_->setSweep(sweep, runs);
    launchButton_->setFocus();
  });
  dialog->open();
}

void LaunchPage::probe() {
  const TargetEntry* chosen = targets_->chosen();
  if (!chosen || chosen->target.name == remote::kThisMachine) return look();
  session().work(
      probing_,
      [target = chosen->target](workbench::Workbench& workbench) {
        return workbench::probe_target(workbench.writer(), target);
      },
      [this](const Result<std::vector<probe::Report>>& reports) {
        probeButton_->setEnabled(!looking_.running());
        if (reports) return refresh();
        Q_EMIT session().message(QString::fromStdString(reports.error().message), Tone::bad);
      });
  look();
}

void LaunchPage::launch() {
  const RecipeChoice* choice = recipe();
  const TargetEntry* target = targets_->chosen();
  if (!choice || !target || launching_.running()) return;
  LaunchOrder order;
  order.fork = forkOf(choice->name, choice->file);
  order.sweep = form_->sweep();
  order.queued = form_->isQueued();
  order.ranks = form_->ranks();
  order.request.recipe_text = choice->toml.toStdString();
  order.request.recipe_file = namedFile(*choice).toStdString();
  order.request.target = target->target;
  order.request.name = form_->name().toStdString();
  order.request.mode = form_->mode();
  progress_ = std::make_shared<LaunchSteps>([page = QPointer<LaunchPage>(this)] {
    QMetaObject::invokeMethod(
        qApp,
        [page] {
          if (page) page->showSteps();
        },
        Qt::QueuedConnection);
  });
  progress_->tell(tr("checking the recipe"));
  remedy_->hide();
  session().act(
      launching_,
      [order, progress = progress_](workbench::Workbench& workbench) {
        return carryOut(workbench, order,
                        [&](const std::string& what, uint64_t done, uint64_t total) {
                          return progress->tell(QString::fromStdString(what), done, total);
                        });
      },
      [this, queued = order.queued](const Result<LaunchOutcome>& outcome) {
        // Without a store there is no attempt either.
        ended(outcome ? *outcome
                      : tl::unexpected(workbench::LaunchError{.message = outcome.error().message}),
              queued);
      });
  showReadiness();
}

void LaunchPage::ended(const LaunchOutcome& result, bool queued) {
  if (result && queued) {
    progress_.reset();
    Q_EMIT session().message(
        tr("In the queue: %1")
            .arg(format::plural(static_cast<qint64>(result->size()), counted::kRun)),
        Tone::good);
  } else if (result) {
    progress_.reset();  // Live goes on from here
    Q_EMIT session().runRequested(QStringLiteral("live"), result->front().id);
  } else {
    progress_->fail(QString::fromStdString(result.error().message));
    remedyPage_ = !result.error().faults.empty() ? QStringLiteral("compose")
                  : result.error().connection    ? QStringLiteral("targets")
                                                 : QString();
    remedy_->setText(remedyPage_ == QStringLiteral("compose") ? tr("Fix in Compose")
                                                              : tr("Open Targets"));
    remedy_->setVisible(!remedyPage_.isEmpty());
  }
  showSteps();
  showReadiness();
  refresh();
  look();
}

void LaunchPage::forgetLaunch() {
  if (launching_.running()) return;
  progress_.reset();
  remedy_->hide();
}

void LaunchPage::showSteps() {
  if (progress_) steps_->setSteps(progress_->steps());
}

/// Why nothing can be launched now; empty: it can.
QString LaunchPage::obstacle() const {
  const TargetEntry* target = targets_->chosen();
  if (!recipe()) return tr("Choose a recipe");
  if (!target) return tr("Choose a target");
  const QString name = QString::fromStdString(target->target.name);
  if (!check_) return tr("Checking %1 …").arg(fileName(*recipe()));
  if (!check_->faults.empty()) {
    const recipe::Fault& first = check_->faults.front();
    const QString what = first.key.empty() ? QString::fromStdString(first.what)
                                           : tr("%1: %2").arg(QString::fromStdString(first.key),
                                                              QString::fromStdString(first.what));
    const auto more = static_cast<qint64>(check_->faults.size()) - 1;
    return more == 0 ? what : tr("%1; and %2").arg(what, format::plural(more, counted::kMoreFault));
  }
  if (check_->findings.empty()) return tr("Looking at %1 …").arg(name);
  return whyNotOn(name, check_->findings);
}

void LaunchPage::showReadiness() {
  const TargetEntry* target = targets_->chosen();
  const bool busy = launching_.running();
  const QString why = obstacle();
  const bool ready = why.isEmpty() && !busy;
  if (check_ && !check_->findings.empty()) {
    findings_->setFindings(check_->findings);
  } else if (check_ || !now_) {
    findings_->setHint(why);
  }
  // A button that cannot be pressed gives the focus to whatever comes next; it gets it back.
  if (!ready && launchButton_->hasFocus()) {
    setFocus();
    settlesFocus_ = true;
  }
  const QString words = form_->sweep()
                            ? tr("Launch %1").arg(format::plural(form_->runs(), counted::kRun))
                            : tr("Launch");
  launch_->setText(words);
  launchButton_->setText(words);
  launch_->setEnabled(ready);
  launchButton_->setEnabled(ready);
  if (target) form_->setTarget(QString::fromStdString(target->target.name));
  setWhyNot(launch_, why);
  launch_->setToolTip(why.isEmpty() ? launch_->text() : why);
  launchButton_->setToolTip(why);
  cancel_->setVisible(busy);
  cancel_->setEnabled(busy);
  const auto fork = recipe() ? forkOf(recipe()->name, recipe()->file) : std::nullopt;
  if (!progress_ && fork && why.isEmpty()) {
    steps_->setHint(
        tr("This forks %1: it continues after step %2 with the recipe as it is now, on the "
           "target where %1 ran. Save the recipe as a file to start from the beginning instead.")
            .arg(fork->run, fork->checkpoint));
  } else if (!progress_ && why.isEmpty() && form_->isQueued()) {
    steps_->setHint(
        tr("Launch puts %1 into the queue of %2. Each starts when there is room, one "
           "after another, for as long as a Heddle has this store open; what waits "
           "survives a restart.")
            .arg(form_->sweep() ? format::plural(form_->runs(), counted::kRun) : tr("the run"),
                 QString::fromStdString(target->target.name)));
  } else if (!progress_) {
    steps_->setHint(
        why.isEmpty()
            ? tr("Launch copies the engine and the data to %1 unless they are there already, and "
                 "starts the ranks. Live opens when the first one runs.")
                  .arg(QString::fromStdString(target->target.name))
            : why);
  }
  Q_EMIT headerChanged();
}

}  // namespace heddle::gui
