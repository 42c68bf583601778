// Two recipes compared before either is run, from the pin in Compose to the rows in Compare.
#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "gui/views/compose/compose_page.h"
#include "gui/window/main_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

const QString kText = QStringLiteral(
    "[model]\npreset = \"llama3-debug\"\nn_layers = 4\nvocab_size = 512\n"
    "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\n"
    "[parallelism]\ndp_shard = 8\n"
    "[wrapping]\nmode = \"layers\"\n"
    "[hardware]\nranks = 8\nname = \"h100-sxm\"\n");

}  // namespace

class PlansTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    session_ = std::make_unique<Session>(folder_.filePath(QStringLiteral("store.sqlite")));
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1600, 1000);
    window_->show();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    window_->showPage(QStringLiteral("compose"));
    compose_ = window_->findChild<ComposePage*>();
    compose_->document().load(QStringLiteral("mine"), kText, {});
    settle();
  }

  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void twoPlansAreComparedLikeRuns() {
    auto* pin = compose_->findChild<QToolButton*>(QStringLiteral("pin"));
    auto* compare = compose_->findChild<QPushButton*>(QStringLiteral("comparePlans"));
    QVERIFY(!compare->isVisible());
    click(pin);
    QVERIFY(compare->isVisible());
    QVERIFY(!compare->isEnabled());  // it is the same plan
    compose_->document().setKey(QStringLiteral("wrapping.mode"), QStringLiteral("\"none\""));
    settle();
    QVERIFY(compare->isEnabled());
    const QString edited = compose_->document().text();
    click(compare);
    QCOMPARE(window_->currentPage()->name(), QStringLiteral("compare"));
    settle();
    QCOMPARE(window_->currentPage()->subtitle(), QStringLiteral("2 predicted plans"));

    // The recipes' differences and their effects.
    auto* differences =
        window_->currentPage()->findChild<QTableView*>(QStringLiteral("differences"));
    const QAbstractItemModel& table = *differences->model();
    QCOMPARE(table.headerData(0, Qt::Horizontal).toString(), QStringLiteral("mine"));
    QCOMPARE(table.headerData(1, Qt::Horizontal).toString(), QStringLiteral("mine, edited"));
    QCOMPARE(rowOf(table, QStringLiteral("Recipe")), 0);
    QCOMPARE(cell(table, QStringLiteral("wrapping.mode"), 0), QStringLiteral("layers"));
    QCOMPARE(cell(table, QStringLiteral("wrapping.mode"), 1), QStringLiteral("none"));
    QVERIFY(rowOf(table, QStringLiteral("Predicted")) > 0);
    QCOMPARE(rowOf(table, QStringLiteral("Results")), -1);
    for (const char* figure :
         {"step", "tok/s a rank", "exposed", "MFU", "peak memory", "memory, communication"})
      QVERIFY2(!cell(table, QLatin1String(figure), 2).isEmpty(), figure);
    QVERIFY(!window_->currentPage()->findChild<LineChart*>()->isVisible());

    // One timeline above the other; a row's spans stand out in both.
    auto* timelines = window_->currentPage()->findChild<TimelineWidget*>();
    QCOMPARE(timelines->rows().size(), size_t{2});
    QCOMPARE(
        timelines->rows()[1].timeline,
        compose_->findChild<TimelineWidget*>(QStringLiteral("predictedSteps"))->rows()[0].timeline);
    auto* rows = window_->currentPage()->findChild<QTableView*>(QStringLiteral("stepRows"));
    QVERIFY(rows->isVisible());
    QTRY_VERIFY(rows->model()->rowCount() > 2);
    const auto shown = [rows](int row, int column) {
      return rows->model()->index(row, column).data().toString();
    };
    QCOMPARE(shown(0, StepRows::Left), cell(table, QStringLiteral("step"), 0));
    QCOMPARE(shown(0, StepRows::Right), cell(table, QStringLiteral("step"), 1));
    QScrollArea* page = nullptr;
    for (auto* each : window_->currentPage()->findChildren<QScrollArea*>())
      if (each->isAncestorOf(rows) && !page) page = each;
    page->ensureWidgetVisible(rows);
    QTest::mouseClick(rows->viewport(), Qt::LeftButton, {},
                      rows->visualRect(rows->model()->index(1, 0)).center());
    QVERIFY(timelines->matches() > 0);

    // Compose is as it was.
    window_->showPage(QStringLiteral("compose"));
    settle();
    QCOMPARE(compose_->document().text(), edited);
    QVERIFY(pin->isChecked());
    QVERIFY(compare->isEnabled());
  }

  // By the palette too, which lists the action; a run's place can be taken out like any other.
  void aPlanIsTakenOutLikeARun() {
    auto* action = window_->findChild<QAction*>(QStringLiteral("compareWithPinned"));
    QVERIFY(!action->isEnabled());
    click(compose_->findChild<QToolButton*>(QStringLiteral("pin")));
    compose_->document().setKey(QStringLiteral("training.local_batch"), QStringLiteral("4"));
    settle();
    QVERIFY(action->isEnabled());
    action->trigger();
    settle();
    auto* chips = window_->findChild<RunChips*>();
    QToolButton* takeOut = nullptr;
    for (auto* each : chips->findChildren<QToolButton*>())
      if (each->accessibleName() == QStringLiteral("Remove mine")) takeOut = each;
    QVERIFY(takeOut);
    click(takeOut);
    settle();
    QCOMPARE(window_->currentPage()->subtitle(), QStringLiteral("1 predicted plan"));
  }

 private:
  static void click(QWidget* widget) { QTest::mouseClick(widget, Qt::LeftButton); }

  void settle() { QTRY_VERIFY_WITH_TIMEOUT(window_->isReady(), 60000); }

  static int rowOf(const QAbstractItemModel& table, const QString& key) {
    for (int row = 0; row < table.rowCount(); ++row)
      if (table.headerData(row, Qt::Vertical).toString() == key) return row;
    return -1;
  }

  static QString cell(const QAbstractItemModel& table, const QString& key, int column) {
    const int row = rowOf(table, key);
    return row < 0 ? QString() : table.index(row, column).data().toString();
  }

  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
  ComposePage* compose_ = nullptr;
};

HEDDLE_WIDGET_TEST(PlansTest)
#include "plans_test.moc"
