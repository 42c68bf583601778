// A board of charts over a real store: what its charts read, and how a person changes them.
#include "gui/charts/chart_board.h"

#include <QClipboard>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTest>

#include "gui/settings.h"
#include "tests/gui/charts/board_store.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

QStringList titles(const ChartBoard& board) {
  QStringList all;
  for (const MetricChart* chart : board.charts()) all << chart->title();
  return all;
}

/// Chooses an entry of the menu that is open.
void choose(const QString& entry) {
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  QVERIFY(menu);
  for (QAction* action : menu->actions()) {
    if (action->text().section(QLatin1Char('\t'), 0, 0) != entry) continue;
    menu->setActiveAction(action);
    QTest::keyClick(menu, Qt::Key_Return);
    return;
  }
  QFAIL(qPrintable(entry));
}

}  // namespace

class ChartBoardTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }
  void init() { openSettings()->clear(); }

  void charts_read_their_runs_and_what_came_since() {
    BoardStore store;
    const auto a = store.run("a"), b = store.run("b");
    store.steps(a, 1, 100);
    store.steps(b, 1, 50, 1);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}, {.metric = "tokens_per_second"}});
    board.setRuns({store.shown(a, "a"), store.shown(b, "b", 1)});
    showBoard(board);
    const auto* loss = board.charts()[0];
    QCOMPARE(loss->curves(), 2);
    QCOMPARE(loss->series(0).size(), size_t(100));
    QCOMPARE(loss->series(1).size(), size_t(50));
    store.steps(b, 51, 80, 1);
    board.refresh();
    QTRY_COMPARE_WITH_TIMEOUT(loss->series(1).size(), size_t(80), 20000);
    QCOMPARE(loss->series(0).size(), size_t(100));
  }

  void a_metric_is_added_by_its_words() {
    BoardStore store;
    const auto a = store.run("a");
    store.steps(a, 1, 20);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}});
    board.setRuns({store.shown(a, "a")});
    showBoard(board);
    for (auto* button : board.findChildren<QPushButton*>())
      if (button->text() == "Add chart") QTest::mouseClick(button, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(QApplication::activePopupWidget(), 20000);
    auto* field = QApplication::activePopupWidget()->findChild<QLineEdit*>();
    QTest::keyClicks(field, "gradient norm");
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(titles(board), (QStringList{"Loss", "Gradient norm"}));
    wait(board);
    QCOMPARE(board.charts()[1]->series(0).size(), size_t(20));
  }

  void cards_are_moved_resized_and_removed_by_keys_and_removal_can_be_undone() {
    BoardStore store;
    const auto a = store.run("a");
    store.steps(a, 1, 20);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}, {.metric = "grad_norm"}});
    board.setRuns({store.shown(a, "a")});
    showBoard(board);
    std::function<void()> undo;
    connect(store.session.get(), &Session::offered, this,
            [&](const QString&, const QString&, const std::function<void()>& act) { undo = act; });
    auto* loss = named<ChartCard>("Loss");
    const int width = loss->width();
    QTest::keyClick(loss, Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(titles(board), (QStringList{"Gradient norm", "Loss"}));
    QVERIFY(loss->x() > named<ChartCard>("Gradient norm")->x());
    QTest::keyClick(loss, Qt::Key_Right, Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY(loss->width() > width);
    const int height = loss->height();
    QTest::keyClick(loss, Qt::Key_Down, Qt::AltModifier);
    QVERIFY(loss->height() > height);
    QTest::keyClick(loss, Qt::Key_Delete);
    QCOMPARE(titles(board), QStringList{"Gradient norm"});
    QVERIFY(undo);
    undo();
    QCOMPARE(titles(board), (QStringList{"Gradient norm", "Loss"}));
    // When none is left, a button brings them back.
    for (const char* title : {"Loss", "Gradient norm"})
      QTest::keyClick(named<ChartCard>(title), Qt::Key_Delete);
    QVERIFY(board.charts().empty());
    auto* reset = board.findChild<QPushButton*>("resetCharts");
    QVERIFY(reset->isVisible());
    QTest::mouseClick(reset, Qt::LeftButton);
    QCOMPARE(titles(board), (QStringList{"Loss", "Gradient norm"}));
    QVERIFY(!reset->isVisible());
  }

  void a_card_is_dragged_by_its_head() {
    BoardStore store;
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}, {.metric = "grad_norm"}});
    showBoard(board);
    auto* loss = named<ChartCard>("Loss");
    const auto* other = named<ChartCard>("Gradient norm");
    const QPoint to = loss->mapFromGlobal(other->mapToGlobal(QPoint(other->width() - 20, 20)));
    QTest::mousePress(loss, Qt::LeftButton, {}, {6, 20});
    QTest::mouseMove(loss, {40, 20});
    QTest::mouseMove(loss, to);
    QTest::mouseRelease(loss, Qt::LeftButton, {}, to);
    QCOMPARE(titles(board), (QStringList{"Gradient norm", "Loss"}));
  }

  void charts_are_kept_for_the_page_and_reset() {
    BoardStore store;
    const auto make = [&](ChartBoard& board) {
      board.setDefaults({{.metric = "loss"}, {.metric = "grad_norm"}});
      board.setViews("live");
      showBoard(board);
    };
    {
      ChartBoard board(*store.session);
      make(board);
      QTest::keyClick(named<ChartCard>("Loss"), Qt::Key_Delete);
    }
    ChartBoard again(*store.session);
    make(again);
    QCOMPARE(titles(again), QStringList{"Gradient norm"});
    ChartBoard other(*store.session);
    other.setDefaults({{.metric = "loss"}});
    other.setViews("compare");
    QCOMPARE(titles(other), QStringList{"Loss"});
    for (auto* button : again.findChildren<QPushButton*>())
      if (button->text() == "Views") QTest::mouseClick(button, Qt::LeftButton);
    choose("Reset the charts");
    QCOMPARE(titles(again), (QStringList{"Loss", "Gradient norm"}));
  }

  void a_named_view_brings_its_charts_back() {
    BoardStore store;
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}, {.metric = "grad_norm"}});
    board.setViews("live");
    showBoard(board);
    const auto openViews = [&] {
      for (auto* button : board.findChildren<QPushButton*>())
        if (button->text() == "Views") QTest::mouseClick(button, Qt::LeftButton);
    };
    openViews();
    choose("Save view as …");
    QTest::keyClicks(named<QLineEdit>("Name of the view"), "both / all");
    QTest::keyClick(named<QLineEdit>("Name of the view"), Qt::Key_Return);
    QTest::keyClick(named<ChartCard>("Loss"), Qt::Key_Delete);
    QCOMPARE(titles(board), QStringList{"Gradient norm"});
    openViews();
    choose("both / all");
    QCOMPARE(titles(board), (QStringList{"Loss", "Gradient norm"}));
  }

  void the_menu_key_copies_the_values_that_are_shown() {
    BoardStore store;
    const auto a = store.run("a"), b = store.run("b, the second");
    store.steps(a, 1, 3);
    store.steps(b, 3, 4);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "tokens_per_second", .smoothing = 0}});
    board.setRuns({store.shown(a, "a"), store.shown(b, "b, the second", 1)});
    showBoard(board);
    auto* card = named<ChartCard>("Tokens per second");
    QContextMenuEvent menu(QContextMenuEvent::Keyboard, card->rect().center(),
                           card->mapToGlobal(card->rect().center()));
    QApplication::sendEvent(card, &menu);
    choose("Copy values");
    QCOMPARE(QApplication::clipboard()->text(),
             QString("step\ta\tb, the second\n1\t500\t\n2\t500\t\n3\t500\t500\n4\t\t500\n"));
  }

  void what_a_settings_file_may_hold_is_no_chart_or_a_sound_one() {
    QVERIFY(!boardLayout("nonsense"));
    QVERIFY(!boardLayout("{}"));
    const auto layout = boardLayout(
        R"({"columns":99,"cards":[{"metric":""},{"metric":"loss","height":-5,"columns":0,"smoothing":-1,"x":"weeks"}]})");
    QVERIFY(layout);
    QCOMPARE(layout->columns, BoardLayout::kMaxColumns);
    QCOMPARE(layout->cards.size(), size_t(1));
    QCOMPARE(layout->cards[0].height, BoardCard::kMinHeight);
    QCOMPARE(layout->cards[0].spec.smoothing, 0.0);
    QVERIFY(layout->cards[0].spec.x == ChartX::step);
    QVERIFY(boardLayout(toJson(*layout)) == layout);
  }
};

HEDDLE_WIDGET_TEST(ChartBoardTest)
#include "chart_board_test.moc"
