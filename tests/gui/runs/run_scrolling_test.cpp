// The runs table paints rows as they come into view, and each cell once.
#include <QMenu>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <map>
#include <memory>
#include <utility>

#include "gui/theme/theme.h"
#include "gui/views/runs/runs_page.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kScrolledRuns = 120;

/// Counts how often it paints each cell.
class CountingDelegate : public RunDelegate {
 public:
  using RunDelegate::RunDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    ++cells_[{index.row(), index.column()}];
    RunDelegate::paint(painter, option, index);
  }
  using Cells = std::map<std::pair<int, int>, int>;  // by row and column
  Cells takeCells() { return std::exchange(cells_, {}); }

 private:
  mutable Cells cells_;
};

}  // namespace

class RunScrollingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", folder_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
    const auto writer = must(storage::Writer::open(path().toStdString()));
    must(writer->take_lease());
    for (int i = 0; i < kScrolledRuns; ++i) {
      storage::NewRun run;
      run.name = "run-" + std::to_string(i);
      run.created = 1.7e9 + i;
      must(writer->create_run(std::move(run)));
    }
  }

  void init() {
    session_ = std::make_unique<Session>(path());
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(1400, 700);
    page_->show();
    page_->activated();
    auto* table = page_->findChild<RunsTable*>();
    QTRY_VERIFY(table->model()->rowCount() == kScrolledRuns && page_->isReady());
    QVERIFY(QTest::qWaitForWindowActive(page_.get()));
    counting_ = new CountingDelegate(table);
    table->setItemDelegate(counting_);
  }

  void cleanup() {
    page_.reset();
    session_.reset();
  }

  void aWheelStepPaintsTheRowsThatComeIntoView_data() {
    QTest::addColumn<bool>("focus");
    QTest::newRow("without the keyboard") << false;
    QTest::newRow("with the keyboard, which a line around the table shows") << true;
  }

  void aWheelStepPaintsTheRowsThatComeIntoView() {
    QFETCH(bool, focus);
    auto* table = page_->findChild<RunsTable*>();
    focus ? table->setFocus() : filter()->setFocus();
    settle();
    for (const int direction : {-1, -1, 1}) {
      const auto [first, last] = seen(table);
      QWheelEvent wheel({200, 200}, table->viewport()->mapToGlobal(QPointF(200, 200)), {},
                        {0, direction * 120}, Qt::NoButton, {}, Qt::NoScrollPhase, false);
      QCoreApplication::sendEvent(table->viewport(), &wheel);
      QVERIFY(seen(table).first != first);
      const auto painted = settle();
      QVERIFY(!painted.empty());
      // The outermost rows may have been cut.
      for (const auto& [cell, times] : painted)
        QVERIFY2(direction < 0 ? cell.first >= last : cell.first <= first,
                 qPrintable(QString::number(cell.first)));
    }
  }

  void aFilterPaintsEachCellOnce() {
    for (const char* text : {"run-1", "run-11", ""}) {
      settle();
      filter()->setText(QString::fromLatin1(text));
      QTRY_VERIFY(page_->isReady());
      onlyOnce(text);
    }
  }

  void aGroupPaintsEachCellOnce() {
    auto* button = page_->findChild<QPushButton*>(QStringLiteral("groupRuns"));
    for (const char* by : {"recipe", "No groups"}) {
      settle();
      Q_EMIT button->menu()->aboutToShow();
      for (QAction* action : button->menu()->actions())
        if (action->text() == QLatin1String(by)) {
          action->trigger();
          break;
        }
      onlyOnce(by);
    }
  }

 private:
  QLineEdit* filter() const { return page_->findChild<QLineEdit*>(QStringLiteral("filter")); }

  void onlyOnce(const char* what) {
    const auto painted = settle();
    QVERIFY2(!painted.empty(), what);
    for (const auto& [cell, times] : painted)
      QVERIFY2(times == 1, qPrintable(QStringLiteral("%1: row %2, column %3, %4 times")
                                          .arg(what)
                                          .arg(cell.first)
                                          .arg(cell.second)
                                          .arg(times)));
  }

  QString path() const { return folder_.filePath(QStringLiteral("runs.sqlite")); }

  static std::pair<int, int> seen(const QTableView* table) {
    return {table->rowAt(0), table->rowAt(table->viewport()->height() - 1)};
  }

  /// The cells that are painted until painting stops.
  CountingDelegate::Cells settle() {
    CountingDelegate::Cells all;
    for (;;) {
      QTest::qWait(50);
      const CountingDelegate::Cells more = counting_->takeCells();
      if (more.empty()) return all;
      for (const auto& [cell, times] : more) all[cell] += times;
    }
  }

  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RunsPage> page_;
  CountingDelegate* counting_ = nullptr;
};

HEDDLE_WIDGET_TEST(RunScrollingTest)
#include "run_scrolling_test.moc"
