// A walk through the whole window by keyboard: every page in several states, and its menus. What
// can be used has a name, Tab reaches it, in reading order and back, and one sees where it is.
#include <QAbstractItemView>
#include <QLabel>
#include <QTimer>

#include "gui/timeline/timeline_widget.h"
#include "tests/gui/shell/walker.h"
#include "tests/support/tab_ring.h"
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

class Paints : public QObject {
 public:
  int count = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    count += event->type() == QEvent::Paint ? 1 : 0;
    return false;
  }
};

}  // namespace

class WalkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { opened_.prepare(); }
  void init() {
    opened_.open();
    walker_.faults.clear();
    walker_.menus = 0;
  }
  void cleanup() { opened_.close(); }

  void scenes_data() {
    QTest::addColumn<QString>("scene");
    for (const QString& scene : Walker::scenes()) QTest::addRow("%s", qPrintable(scene)) << scene;
  }

  void everythingHasAName_data() { scenes_data(); }
  void everythingHasAName() {
    QFETCH(QString, scene);
    walker_.show(scene);
    none(badlyNamed(window()));
  }

  void everyPictureHasWords_data() { scenes_data(); }
  void everyPictureHasWords() {
    QFETCH(QString, scene);
    walker_.show(scene);
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
    walker_.show(scene);
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
    walker_.show(scene);
    none(tabFaults(window()));
  }

  // To look at a stop paints it: this is whether anything else does.
  void theTimelineIsPaintedWhenTheFocusGoes() {
    walker_.show(QStringLiteral("live"));
    auto* timeline = named<TimelineWidget>(window()->currentPage(), QStringLiteral("Timeline"));
    QVERIFY(timeline && timeline->hasFocus());
    QTest::qWait(50);  // what is under way
    Paints paints;
    timeline->viewport()->installEventFilter(&paints);
    QTest::keyClick(timeline, Qt::Key_Tab);
    QVERIFY(!timeline->hasFocus());
    QTRY_VERIFY(paints.count > 0);
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
    walker_.show(scene);
    const auto find = [&]() -> QWidget* {
      for (QWidget* each : interactiveIn(window()->currentPage()))
        if (each->inherits(type.constData()) && each->focusPolicy() & Qt::TabFocus &&
            (name.isEmpty() || nameOf(each) == name))
          return each;
      return nullptr;
    };
    QVERIFY(find());
    for (const QKeySequence& keys :
         {QKeySequence(Qt::Key_Menu), QKeySequence(Qt::SHIFT | Qt::Key_F10)})
      walker_.explore(name + QLatin1Char(' ') + keys.toString(), [&] {
        if (!find()) walker_.show(scene);  // the last entry took it away
        QWidget* widget = find();
        widget->setFocus();
        if (auto* view = qobject_cast<QAbstractItemView*>(widget);
            view && !view->currentIndex().isValid())
          QTest::keyClick(view, Qt::Key_Down);
        QTest::keyClick(widget, keys[0].key(), keys[0].keyboardModifiers());
      });
    QVERIFY2(walker_.menus > 0, "no menu");
    none(walker_.faults);
  }

  // Through the window system, as a mouse does it.
  void aRightClickOnAPlotOpensItsMenu() {
    walker_.show(QStringLiteral("live"));
    QWidget* plot = nullptr;
    for (QWidget* each : window()->currentPage()->findChildren<QWidget*>())
      if (!plot && each->inherits("QCustomPlot") && each->isVisible() && each->height() > 40)
        plot = each;
    QVERIFY(plot);
    walker_.explore(QStringLiteral("plot"), [&] {
      QTest::mouseClick(window()->windowHandle(), Qt::RightButton, {},
                        plot->mapTo(window(), plot->rect().center()));
    });
    QCOMPARE(walker_.menus, 1);
    none(walker_.faults);
  }

 private:
  MainWindow* window() const { return walker_.window(); }

  SampleWindow opened_;
  Walker walker_{opened_};
};

HEDDLE_WIDGET_TEST(WalkTest)
#include "walk_test.moc"
