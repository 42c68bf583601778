#include "gui/window/main_window.h"

#include <QActionGroup>
#include <QFileInfo>
#include <QGuiApplication>
#include <QProcess>
#include <QScreen>

#include "gui/actions/enter_key.h"
#include "gui/actions/menu_key.h"
#include "gui/actions/shortcuts.h"
#include "gui/models/text_file.h"
#include "gui/preferences.h"
#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/views/lineage/continue_dialog.h"
#include "gui/views/lineage/reproduce_dialog.h"
#include "gui/views/targets/questions_dialog.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/tab_order.h"
#include "gui/widgets/toast.h"
#include "gui/window/drop_area.h"
#include "gui/window/dropped.h"
#include "gui/window/help_dialog.h"
#include "gui/window/pages.h"
#include "gui/window/preferences_dialog.h"
#include "gui/window/tour.h"
#include "workbench/launch.h"
#include "workbench/paths.h"

namespace heddle::gui {
namespace {

const QString kComposePage = QStringLiteral("compose"), kRunsPage = QStringLiteral("runs"),
              kWelcomePage = QStringLiteral("welcome");
const QString kGeometry = QStringLiteral("geometry"), kShownPage = QStringLiteral("page");
constexpr int kKeepMilliseconds = 1000;

}  // namespace

MainWindow::MainWindow(Session& session)
    : session_(session),
      training_(session.workingThreads(), this),
      looking_(session.workingThreads(), this) {
  setWindowTitle(QStringLiteral("Heddle"));
  setMinimumSize(960, 600);
  rail_ = new Rail;
  top_ = new TopBar;
  pages_ = new PageStack(session);
  status_ = new StatusBar(session);
  messages_ = new MessageList(this);
  notifier_ = new Notifier(session, this);
  new Questioner(this);

  auto* centre = new QWidget;
  QVBoxLayout* whole = columnOf(centre);
  auto* upper = new QHBoxLayout;
  upper->setSpacing(0);
  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  right->addWidget(top_);
  right->addWidget(pages_, 1);
  upper->addWidget(rail_);
  upper->addLayout(right, 1);
  whole->addLayout(upper, 1);
  whole->addWidget(status_);
  setCentralWidget(centre);

  addPages();
  addActions();
  addMenu();
  palette_ = new CommandPalette(registry_, session, this);
  auto* drops = new DropArea(session, this, [this](const QString& file) { openRecipe(file); });
  connect(drops, &DropArea::storeWanted, this, &MainWindow::openStore);
  new MenuKey(this);
  new EnterKey(this);
  connectSession();
  connect(top_->search(), &QAbstractButton::clicked, this, &MainWindow::togglePalette);
  saving_.setInterval(kKeepMilliseconds);
  connect(&saving_, &QTimer::timeout, this, &MainWindow::save);
  switchTo(page(kRunsPage));
}

MainWindow::~MainWindow() { save(); }

void MainWindow::addPages() {
  auto* group = new QActionGroup(this);
  for (const PageEntry& entry : pages()) {
    const QString name = QLatin1String(entry.name);
    QAction* action = registry_.add(tr("Go to"), entry.shownTitle(), QLatin1String(entry.icon),
                                    QKeySequence(Qt::CTRL | entry.key));
    action->setObjectName(name);
    action->setCheckable(true);
    group->addAction(action);
    addAction(action);
    if (entry.inRail) rail_->add(action);
    goTo_.insert(name, action);
    connect(action, &QAction::triggered, this, [this, name] { showPage(name); });
  }
}

void MainWindow::addActions() {
  QAction* palette = registry_.add(tr("Window"), tr("Command palette"), QStringLiteral("search"),
                                   Qt::CTRL | Qt::SHIFT | Qt::Key_P);
  connect(palette, &QAction::triggered, this, &MainWindow::togglePalette);
  QAction* find = registry_.add(tr("Window"), tr("Find on this page"), QStringLiteral("search"),
                                QKeySequence::Find);
  connect(find, &QAction::triggered, this, [this] {
    if (!currentPage()->find()) togglePalette();
  });
  help_ = registry_.add(tr("Window"), tr("Help and keys"), QStringLiteral("info"));
  help_->setShortcuts({Qt::Key_F1, Qt::Key_Question});
  connect(help_, &QAction::triggered, this, &MainWindow::showHelp);
  tour_ = registry_.add(tr("Window"), tr("Take the tour"), QStringLiteral("flag"));
  connect(tour_, &QAction::triggered, this, &MainWindow::startTour);
  preferences_ = registry_.add(tr("Window"), tr("Preferences …"), QStringLiteral("settings"),
                               Qt::CTRL | Qt::Key_Comma);
  preferences_->setObjectName(QStringLiteral("showPreferences"));
  connect(preferences_, &QAction::triggered, this, &MainWindow::showPreferences);
  store_ = registry_.add(tr("Window"), tr("Open another store …"), QStringLiteral("folder"));
  store_->setObjectName(QStringLiteral("openAnotherStore"));
  store_->setToolTip(
      tr("In a window of its own; a store that somebody else made is only read until you trust "
         "it"));
  connect(store_, &QAction::triggered, this, &MainWindow::chooseStore);
  QAction* messages = registry_.add(tr("Messages"), tr("Show messages"), QStringLiteral("info"),
                                    Qt::CTRL | Qt::SHIFT | Qt::Key_M);
  connect(messages, &QAction::triggered, this, [this] { messages_->open(status_); });
  QAction* dismiss = registry_.add(tr("Messages"), tr("Dismiss message"), QStringLiteral("close"),
                                   Qt::SHIFT | Qt::Key_Escape);
  connect(dismiss, &QAction::triggered, this, [this] { dismissToast(this); });
  addKeys(registry_.all());
  connect(pages_, &PageStack::made, this, [this](Page* page) {
    registry_.add(page->title(), page->pageActions());
    addKeys(page->pageActions());
  });
  // Compose has keys that work on every page, and brings back what was not saved; Runs takes what
  // is dropped on any page.
  for (const QString& name : {kComposePage, kRunsPage}) page(name);
}

void MainWindow::addKeys(const QList<QAction*>& actions) {
  for (QAction* action : actions)
    if (!action->shortcut().isEmpty() && action->shortcutContext() == Qt::WindowShortcut)
      addAction(action);
}

void MainWindow::addMenu() {
  QMenu* menu = rail_->menu();
  auto* themes = new QActionGroup(this);
  const auto add = [&](const QString& text, Theme::Mode mode) {
    QAction* action = registry_.add(tr("Theme"), text);
    action->setCheckable(true);
    action->setChecked(Theme::instance().mode() == mode);
    themes->addAction(action);
    menu->addAction(action);
    connect(action, &QAction::triggered, this, [mode] {
      Preferences chosen = preferences();
      chosen.theme = mode;
      KeptPreferences::instance().set(chosen);
    });
    connect(&Theme::instance(), &Theme::changed, action, [action, mode] {
      if (Theme::instance().mode() == mode) action->setChecked(true);
    });
  };
  add(tr("Theme of the system"), Theme::Mode::system);
  add(tr("Dark theme"), Theme::Mode::dark);
  add(tr("Light theme"), Theme::Mode::light);
  menu->addSeparator();
  menu->addActions({store_, preferences_, help_, goTo_.value(kWelcomePage), tour_});
}

/// It lists the actions of all pages.
void MainWindow::togglePalette() {
  pages_->all();
  palette_->toggle();
}

void MainWindow::showPreferences() {
  auto* dialog = new PreferencesDialog(session_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &PreferencesDialog::welcomeWanted, this, [this] { showPage(kWelcomePage); });
  connect(dialog, &PreferencesDialog::tourWanted, this, &MainWindow::startTour);
  connect(dialog, &PreferencesDialog::layoutResetWanted, this, &MainWindow::resetLayouts);
  dialog->open();
}

void MainWindow::resetLayouts() {
  for (Page* page : pages_->all()) page->resetLayout();
  say(tr("All layouts are as on the first day"));
}

void MainWindow::showHelp() {
  const QList<Page*> all = pages_->all();
  const Page& shown = *currentPage();
  auto* dialog =
      new HelpDialog(shown.title(), shown.help(), keyTables(registry_, all, shown), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void MainWindow::startTour() {
  if (findChild<Tour*>() != nullptr) return;
  auto* tour = new Tour(
      this,
      {{QStringLiteral("compose"), QStringLiteral("prediction"), tr("Plan before you train"),
        tr("Memory, speed and a timeline, predicted while you change the recipe. Red-orange is "
           "time that ranks wait for the network.")},
       {QStringLiteral("runs"), QStringLiteral("runs"), tr("Every run, in one table"),
        tr("Filter, sort and group runs. Enter opens one in Live, with its curves, timeline and "
           "log. Tick some and compare them.")},
       {QStringLiteral("runs"), QStringLiteral("search"), tr("Anything, by its name"),
        tr("Ctrl+Shift+P finds runs, pages and commands. F1 shows the help of the page that you "
           "are on, and all keys.")}},
      [this](const QString& name) { showPage(name); });
  connect(tour, &Tour::ended, this, [this] { currentPage()->setFocus(Qt::OtherFocusReason); });
}

void MainWindow::connectSession() {
  connect(&session_, &Session::tourRequested, this, &MainWindow::startTour);
  connect(&session_, &Session::pageRequested, this, &MainWindow::showPage);
  connect(&session_, &Session::runRequested, this, [this](const QString& name, qint64 run) {
    if (Page* wanted = page(name)) {
      switchTo(wanted);
      wanted->showRun(run);
      // The focus was on another run's widget, and may go with it.
      wanted->setFocus(Qt::OtherFocusReason);
    }
  });
  connect(&session_, &Session::compareRequested, this, [this](const QList<qint64>& runs) {
    Page* compare = page(QStringLiteral("compare"));
    switchTo(compare);
    compare->showRuns(runs);
  });
  connect(&session_, &Session::nodesRequested, this, [this](qint64 run) {
    Page* compare = page(QStringLiteral("compare"));
    switchTo(compare);
    compare->showNodes(run);
  });
  connect(&session_, &Session::plansRequested, this,
          [this](const std::vector<PlannedRecipe>& plans) {
            Page* compare = page(QStringLiteral("compare"));
            switchTo(compare);
            compare->showPlans(plans);
          });
  connect(
      &session_, &Session::recipeRequested, this,
      [this](const QString& name, const QString& recipe, const QString& toml, const QString& file) {
        if (Page* wanted = page(name)) {
          switchTo(wanted);
          wanted->showRecipe(recipe, toml, file);
        }
      });
  connect(&session_, &Session::placeRequested, this,
          [this](int line, int column) { page(kComposePage)->showPlace(line, column); });
  connect(&session_, &Session::continueRequested, this, [this](qint64 run, bool fork) {
    auto* dialog = new ContinueDialog(
        session_, run, fork ? storage::Lineage::Kind::fork : storage::Lineage::Kind::resume, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
  });
  connect(&session_, &Session::reproduceRequested, this, [this](qint64 run) {
    auto* dialog = new ReproduceDialog(session_, run, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
  });
  connect(&session_, &Session::trainingRequested, this, &MainWindow::trainHere);
  connect(&session_, &Session::message, this, &MainWindow::say);
  connect(&session_, &Session::messageSettled, this,
          [this](const QString& subject) { settleToasts(this, subject); });
  connect(status_, &StatusBar::messagesClicked, this, [this] { messages_->open(status_); });
  connect(messages_, &MessageList::countChanged, status_, &StatusBar::setMessages);
  connect(&session_, &Session::offered, this,
          [this](const QString& text, const QString& button, const std::function<void()>& act) {
            messages_->add({.text = text});
            showToast(this, text, button, act);
          });
  connect(&session_, &Session::storeChanged, this, [this] { currentPage()->activated(); });
  connect(&KeptPreferences::instance(), &KeptPreferences::changed, this,
          [this](const Preferences& before) {
            if (before.dates == preferences().dates) return;
            currentPage()->activated();
            for (QWidget* widget : findChildren<QWidget*>()) widget->update();
          });
  connect(status_, &StatusBar::runClicked, this,
          [this](qint64 run) { Q_EMIT session_.runRequested(QStringLiteral("live"), run); });
  connect(status_, &StatusBar::runningChanged, this, [this](std::optional<Tone> tone) {
    rail_->setLive(goTo_.value(QStringLiteral("live")), tone);
  });
}

void MainWindow::showPage(const QString& name) {
  if (Page* wanted = page(name)) switchTo(wanted);
}

void MainWindow::say(const QString& text, Tone tone, const QString& subject) {
  const Message message{text, tone, subject};
  messages_->add(message);
  showToast(this, message);
}

void MainWindow::switchTo(Page* page) {
  const bool arrives = page != currentPage();
  if (arrives) leaveToasts(this);
  pages_->setCurrentWidget(page);
  // Not its first field or button, as Qt would: keys meant for the page before do nothing here.
  if (arrives) page->setFocus(Qt::OtherFocusReason);
  goTo_.value(page->name())->setChecked(true);
  top_->showPage(page);
  status_->refresh();
  page->activated();
}

bool MainWindow::focusNextPrevChild(bool next) { return moveFocus(*this, next); }

bool MainWindow::isReady() const { return currentPage()->isReady() && status_->isReady(); }

void MainWindow::openRecipe(const QString& file) {
  const Result<QString> text = readText(file);
  if (!text) return say(QString::fromStdString(text.error().message), Tone::bad);
  Page* compose = page(kComposePage);
  switchTo(compose);
  compose->showRecipe(QFileInfo(file).completeBaseName(), *text,
                      QFileInfo(file).absoluteFilePath());
}

void MainWindow::chooseStore() {
  const QString file =
      FileDialog::fileToOpen(this, tr("A store to open in a window of its own"), {},
                             tr("Stores (*.sqlite *.db *.heddle);;All files (*)"));
  if (file.isEmpty()) return;
  looking_.start([file, own = session_.storePath()] { return lookAtDropped({file}, own); },
                 [this](const std::vector<Dropped>& all) {
                   const Dropped& one = all.front();
                   if (one.kind == Dropped::Kind::store) return openStore(one.path);
                   const bool refused = one.kind == Dropped::Kind::refused;
                   say(tr("%1: %2").arg(QFileInfo(one.path).fileName(),
                                        refused ? one.words : tr("is no store")),
                       Tone::bad);
                 });
}

void MainWindow::openStore(const QString& file) {
  if (QProcess::startDetached(QString::fromStdString(workbench::program_to_start()),
                              {QStringLiteral("--store"), file}))
    return say(tr("%1 opens in a window of its own").arg(QFileInfo(file).fileName()));
  say(tr("No window could be started for %1").arg(QFileInfo(file).fileName()), Tone::bad);
}

void MainWindow::trainHere() {
  if (training_.running()) return;
  say(tr("Starting the sample recipe on this machine …"));
  session_.act(
      training_,
      [](workbench::Workbench& workbench) -> Result<storage::RunId> {
        auto request = workbench::request_from_file(workbench::samples_folder() + "/debug.toml");
        if (!request) return fail(request);
        auto run = workbench::launch(workbench.writer(), *request);
        if (!run) return fail("{}", run.error().message);
        return run->id;
      },
      [this](const Result<storage::RunId>& run) {
        if (!run) return say(QString::fromStdString(run.error().message), Tone::bad);
        Q_EMIT session_.runRequested(QStringLiteral("live"), *run);
      });
}

void MainWindow::keepSession() {
  geometry_ = openSettings()->value(kGeometry).toByteArray();
  if (!restoreGeometry(geometry_)) {
    const QSize room = QGuiApplication::primaryScreen()->availableSize();
    resize(QSize(1600, 1000).boundedTo(room * 0.92));
  }
  kept_ = std::make_unique<KeptSession>(session_.storePath());
  const QJsonObject last = kept_->read();
  pages_->restore(last);
  shownPage_ = last[kShownPage].toString();
  showPage(session_.isNew() ? kWelcomePage : shownPage_);
  saving_.start();
}

void MainWindow::save() {
  if (!kept_) return;
  // The first start after this one may be with another store.
  if (const QByteArray geometry = saveGeometry(); geometry != geometry_) {
    geometry_ = geometry;
    openSettings()->setValue(kGeometry, geometry);
  }
  QJsonObject state = pages_->keptState();
  if (currentPage()->name() != kWelcomePage) shownPage_ = currentPage()->name();
  state[kShownPage] = shownPage_;
  kept_->write(state);
}

}  // namespace heddle::gui
