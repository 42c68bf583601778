// A walk through the whole window by keyboard: every page in several states, its menus, and every
// action by the palette. What can be used has a name, Tab reaches it, Escape leaves
// it.
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QPointer>
#include <QSignalSpy>
#include <QTableView>
#include <QTimer>

#include "gui/charts/line_chart.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/window/pages.h"
#include "tests/support/by_name.h"
#include "tests/support/sample_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// Painted by Heddle itself: without words nobody who cannot see knows what they show.
const QStringList kCanvases{"TimelineWidget", "LineChart",    "MeshView",    "ModelView",
                            "LayerStrip",     "BucketBands",  "StackedBar",  "ParallelPlot",
                            "ScatterPlot",    "Sparkline",    "SourceStrip", "RankBars",
                            "MemoryCurve",    "TimelineStrip"};

bool isCanvas(const QWidget* widget) {
  return std::ranges::any_of(kCanvases, [&](const QString& name) {
    return widget->inherits(("heddle::gui::" + name).toLatin1().constData());
  });
}

/// These would train, or leave the window.
bool leadsAway(const QString& name) {
  static const QStringList kLeading{"Launch",  "Train",         "Start",      "Open the sample",
                                    "Plan 8B", "Take the tour", "Remove run", "Keep going"};
  return std::ranges::any_of(kLeading, [&](const QString& word) { return name.startsWith(word); });
}

QString plainText(QString text) {
  text.remove(QLatin1Char('&'));
  return text.section(QLatin1Char('\t'), 0, 0);
}

/// The popup, dialog or popup-like frame over the window.
QWidget* openedOver(const QWidget* window) {
  if (QWidget* popup = QApplication::activePopupWidget()) return popup;
  for (QWidget* top : QApplication::topLevelWidgets())
    if (top != window && top->isVisible() && !top->inherits("QTipLabel") &&
        !top->inherits("QRubberBand"))
      return top;
  for (QWidget* child : window->findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
    if (child->isVisible() && child->property("role").toString() == QStringLiteral("popup"))
      return child;
  return nullptr;
}

QWidget* keyboardOf(QWidget* opened) {
  QWidget* focus = QApplication::focusWidget();
  return focus && (focus == opened || opened->isAncestorOf(focus)) ? focus : opened;
}

/// A line for each entry without a text, and for each two of one text.
QStringList faultsOf(const QMenu* menu) {
  QStringList faults, texts;
  for (const QAction* action : menu->actions()) {
    if (action->isSeparator() || !action->isVisible()) continue;
    const QString text = plainText(action->text());
    if (text.isEmpty()) faults << QStringLiteral("menu entry without a text");
    if (texts.contains(text)) faults << QStringLiteral("menu entry twice: ") + text;
    texts << text;
  }
  if (texts.isEmpty()) faults << QStringLiteral("empty menu");
  return faults;
}

}  // namespace

class WalkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { opened_.prepare(); }
  void init() { opened_.open(); }
  void cleanup() { opened_.close(); }

  void scenes_data() {
    QTest::addColumn<QString>("scene");
    for (const PageEntry& entry : pages()) QTest::addRow("%s", entry.name) << entry.name;
    for (const char* scene : {"running", "many", "none"}) QTest::addRow("%s", scene) << scene;
  }

  void everythingHasAName_data() { scenes_data(); }
  void everythingHasAName() {
    QFETCH(QString, scene);
    show(scene);
    none(badlyNamed(window()));
  }

  void everyPictureHasWords_data() { scenes_data(); }
  void everyPictureHasWords() {
    QFETCH(QString, scene);
    show(scene);
    QStringList faults;
    for (const QWidget* widget : window()->findChildren<QWidget*>()) {
      if (!widget->isVisible() || !isCanvas(widget)) continue;
      if (nameOf(widget).isEmpty()) faults << QStringLiteral("no name: ") + describe(widget);
      if (descriptionOf(widget).isEmpty())
        faults << QStringLiteral("no description: ") + describe(widget);
    }
    none(faults);
  }

  void linksAreFollowedByKey_data() { scenes_data(); }
  void linksAreFollowedByKey() {
    QFETCH(QString, scene);
    show(scene);
    QStringList faults;
    for (const QLabel* label : window()->findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(QStringLiteral("<a href")) &&
          !label->textInteractionFlags().testFlag(Qt::LinksAccessibleByKeyboard))
        faults << describe(label);
    none(faults);
  }

  void tabGoesEverywhere_data() { scenes_data(); }
  void tabGoesEverywhere() {
    QFETCH(QString, scene);
    show(scene);
    const bool ofLive = scene == QStringLiteral("live") || scene == QStringLiteral("running") ||
                        scene == QStringLiteral("none");
    if (ofLive)
      QEXPECT_FAIL("", "Live: Tab skips the bar, the head of the timeline and the charts",
                   Continue);
    none(unreachable(window()));
  }

  void theActionsOfAPageAreInThePalette_data() {
    QTest::addColumn<QString>("page");
    for (const char* page : {"compose", "launch"}) QTest::addRow("%s", page) << page;
  }
  // Each does its thing, or says why not.
  void theActionsOfAPageAreInThePalette() {
    QFETCH(QString, page);
    show(page);
    faults_.clear();
    QSignalSpy said(opened_.session.get(),
                    qOverload<const QString&, Tone, const QString&>(&Session::message));
    int tried = 0;
    for (const QPointer<QAction> action : registered(*window()->currentPage())) {
      if (!action->isVisible()) continue;
      ++tried;
      const QString text = action->text();
      const bool possible = action->isEnabled();
      if (!findInPalette(*action)) {
        faults_ << QStringLiteral("not in the palette: ") + text;
        continue;
      }
      QWidget* field = QApplication::focusWidget();
      if (possible && leadsAway(text)) {
        QTest::keyClick(field, Qt::Key_Escape);
        continue;
      }
      said.clear();
      QSignalSpy triggered(action, &QAction::triggered);
      explore(text, [field] { QTest::keyClick(field, Qt::Key_Return); });
      if (possible && triggered.isEmpty()) faults_ << QStringLiteral("nothing happens: ") + text;
      if (!possible &&
          (said.isEmpty() || !said.last().first().toString().contains(QStringLiteral(": "))))
        faults_ << QStringLiteral("does not say why not: ") + text;
      show(page);
    }
    QVERIFY(tried > 0);
    none(faults_);
  }

  void contextMenusOpenByKey_data() {
    QTest::addColumn<QString>("scene");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("type");  // where several have that name
    const auto row = [](const char* scene, const char* name, const char* type) {
      QTest::addRow("%s, %s", scene, name) << scene << name << QByteArray(type);
    };
    row("live", "Timeline", "heddle::gui::TimelineWidget");
    row("live", "", "heddle::gui::ChartCard");
    row("runs", "Runs", "QTableView");
    row("compare", "shakespeare-auto", "QWidget");
    row("many", "Compared runs", "QTableView");
    row("compose", "Layers", "QWidget");
    row("compose", "Buckets", "QWidget");
    row("targets", "Targets", "QListView");
  }
  void contextMenusOpenByKey() {
    QFETCH(QString, scene);
    QFETCH(QString, name);
    QFETCH(QByteArray, type);
    show(scene);
    const auto find = [&]() -> QWidget* {
      for (QWidget* each : interactiveIn(window()->currentPage()))
        if (each->inherits(type.constData()) && each->focusPolicy() & Qt::TabFocus &&
            (name.isEmpty() || nameOf(each) == name))
          return each;
      return nullptr;
    };
    QVERIFY(find());
    faults_.clear();
    menus_ = 0;
    for (const QKeySequence& keys :
         {QKeySequence(Qt::Key_Menu), QKeySequence(Qt::SHIFT | Qt::Key_F10)})
      explore(name + QLatin1Char(' ') + keys.toString(), [&] {
        if (!find()) show(scene);  // the last entry took it away
        QWidget* widget = find();
        widget->setFocus();
        if (auto* view = qobject_cast<QAbstractItemView*>(widget);
            view && !view->currentIndex().isValid())
          QTest::keyClick(view, Qt::Key_Down);
        QTest::keyClick(widget, keys[0].key(), keys[0].keyboardModifiers());
      });
    QVERIFY2(menus_ > 0, "no menu");
    none(faults_);
  }

  // Through the window system, as a mouse does it.
  void aRightClickOnAPlotOpensItsMenu() {
    show(QStringLiteral("live"));
    QWidget* plot = nullptr;
    for (QWidget* each : window()->currentPage()->findChildren<QWidget*>())
      if (!plot && each->inherits("QCustomPlot") && each->isVisible() && each->height() > 40)
        plot = each;
    QVERIFY(plot);
    faults_.clear();
    menus_ = 0;
    QTimer::singleShot(150, window(), [&] { lookAndLeave(QStringLiteral("plot")); });
    QTest::mouseClick(window()->windowHandle(), Qt::RightButton, {},
                      plot->mapTo(window(), plot->rect().center()));
    QTRY_COMPARE(menus_, 1);
    none(faults_);
  }

 private:
  MainWindow* window() const { return opened_.window.get(); }

  static void none(const QStringList& faults) {
    QVERIFY2(faults.isEmpty(), qPrintable('\n' + faults.join('\n')));
  }

  void show(const QString& scene) {
    const samples::Filled& runs = opened_.store.runs;
    if (scene == QStringLiteral("none")) return opened_.show(QStringLiteral("live"));
    const bool many = scene == QStringLiteral("many"), running = scene == QStringLiteral("running");
    opened_.show(many ? QStringLiteral("compare") : running ? QStringLiteral("live") : scene);
    if (many)
      window()->currentPage()->showRuns(
          {runs.whole, runs.unwrapped, runs.running, runs.failed, runs.stopped});
    else if (scene == QStringLiteral("compare"))
      window()->currentPage()->showRuns({runs.unwrapped, runs.whole});
    else
      window()->currentPage()->showRun(running ? runs.running : runs.whole);
    QTRY_VERIFY_WITH_TIMEOUT(window()->isReady(), 30000);
    window()->currentPage()->setFocus();
  }

  /// The registry's actions that belong to the page.
  QList<QAction*> registered(const Page& page) const {
    QList<QAction*> found;
    for (QAction* action : window()->findChildren<QAction*>())
      if (Actions::groupOf(action) == page.title()) found << action;
    return found;
  }

  /// Types the action's text into the palette and goes down to its row.
  bool findInPalette(const QAction& action) {
    QTest::keyClick(window(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = window()->findChild<CommandPalette*>();
    QWidget* field = QApplication::focusWidget();
    if (!palette->isVisible() || !palette->isAncestorOf(field)) return false;
    // Keys are clicked for ASCII alone; the palette finds parts of words.
    QTest::keyClicks(field, action.text()
                                .section(QChar(0x2026), 0, 0)
                                .section(QChar(0x201c), 0, 0)
                                .section(QChar(0x2013), 0, 0));
    const auto* list = named<QListView>(palette, QStringLiteral("Matches"));
    for (int row = 0; list && row < list->model()->rowCount(); ++row) {
      const QModelIndex at = list->currentIndex();
      if (at.data().toString() == action.text() &&
          at.data(PaletteModel::GroupRole).toString() == Actions::groupOf(&action))
        return true;
      QTest::keyClick(field, Qt::Key_Down);
    }
    QTest::keyClick(field, Qt::Key_Escape);
    return false;
  }

  /// Opens something, looks at it, and leaves it by Escape. What opens may have an event loop of
  /// its own, so that it is looked at by a timer.
  void explore(const QString& path, const std::function<void()>& open) {
    auto looked = std::make_shared<bool>(false);
    QTimer::singleShot(150, window(), [this, path, looked] {
      lookAndLeave(path);
      *looked = true;
    });
    open();
    QTRY_VERIFY2_WITH_TIMEOUT(*looked, qPrintable(path), 20000);
  }

  void lookAndLeave(const QString& path) {
    QSet<QWidget*> looked;
    while (QPointer<QWidget> over = openedOver(window())) {
      if (looked.contains(over)) {
        faults_ << path + QStringLiteral(": Escape does not leave ") + describe(over);
        over->close();
        break;
      }
      looked.insert(over);
      QStringList faults;
      if (const auto* menu = qobject_cast<QMenu*>(over.data())) {
        ++menus_;
        faults = faultsOf(menu);
      } else {
        faults = badlyNamed(over);
      }
      for (const QString& fault : std::as_const(faults))
        faults_ << path + QStringLiteral(": ") + fault;
      QTest::keyClick(keyboardOf(over), Qt::Key_Escape);
      QTest::qWait(0);
    }
  }

  SampleWindow opened_;
  QStringList faults_;
  int menus_ = 0;
};

HEDDLE_WIDGET_TEST(WalkTest)
#include "walk_test.moc"
