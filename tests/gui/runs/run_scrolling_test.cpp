// What the runs table paints when it scrolls: each row is painted once, as it comes into view.
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
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

/// Notes which rows it paints.
class CountingDelegate : public RunDelegate {
 public:
  using RunDelegate::RunDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    rows_.insert(index.row());
    RunDelegate::paint(painter, option, index);
  }
  QSet<int> takeRows() { return std::exchange(rows_, {}); }

 private:
  mutable QSet<int> rows_;
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

  void aWheelStepPaintsTheRowsThatComeIntoView_data() {
    QTest::addColumn<bool>("focus");
    QTest::newRow("without the keyboard") << false;
    QTest::newRow("with the keyboard, which a line around the table shows") << true;
  }

  void aWheelStepPaintsTheRowsThatComeIntoView() {
    QFETCH(bool, focus);
    Session session(path());
    RunsPage page(session);
    page.resize(1400, 700);
    page.show();
    page.activated();
    auto* table = page.findChild<RunsTable*>();
    QTRY_VERIFY(table->model()->rowCount() == kScrolledRuns && page.isReady());
    QVERIFY(QTest::qWaitForWindowActive(&page));
    focus ? table->setFocus() : page.findChild<QLineEdit*>()->setFocus();
    CountingDelegate counting(table);
    table->setItemDelegate(&counting);
    settle(counting);
    for (const int direction : {-1, -1, 1}) {
      const auto [first, last] = seen(table);
      QWheelEvent wheel({200, 200}, table->viewport()->mapToGlobal(QPointF(200, 200)), {},
                        {0, direction * 120}, Qt::NoButton, {}, Qt::NoScrollPhase, false);
      QCoreApplication::sendEvent(table->viewport(), &wheel);
      QVERIFY(seen(table).first != first);
      const QSet<int> painted = settle(counting);
      QVERIFY(!painted.isEmpty());
      // The outermost rows may have been cut.
      for (const int row : painted)
        QVERIFY2(direction < 0 ? row >= last : row <= first, qPrintable(QString::number(row)));
    }
  }

 private:
  QString path() const { return folder_.filePath(QStringLiteral("runs.sqlite")); }

  static std::pair<int, int> seen(const QTableView* table) {
    return {table->rowAt(0), table->rowAt(table->viewport()->height() - 1)};
  }

  /// The rows painted until nothing is painted any more.
  static QSet<int> settle(CountingDelegate& counting) {
    QSet<int> all;
    for (QSet<int> rows;; all += rows) {
      QTest::qWait(50);
      rows = counting.takeRows();
      if (rows.isEmpty()) return all;
    }
  }

  QTemporaryDir folder_;
};

HEDDLE_WIDGET_TEST(RunScrollingTest)
#include "run_scrolling_test.moc"
