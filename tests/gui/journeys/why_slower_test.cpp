// Why is this run slower than that one: both ticked, compared, the step's difference by bucket, and
// the bucket's spans on the timelines.
#include "gui/timeline/timeline_widget.h"
#include "gui/views/compare/step_rows.h"
#include "gui/views/runs/runs_model.h"
#include "tests/gui/journeys/person.h"
#include "tests/support/sample_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// Milliseconds of a difference as the table writes it.
double milliseconds(const QModelIndex& cell) {
  QString text = cell.data().toString().remove(QChar('+'));
  text.replace(QChar(0x2212), QChar('-'));
  const QStringList parts = text.split(QChar(' '));
  const double value = parts.value(0).toDouble();
  return parts.value(1) == QStringLiteral("s")    ? value * 1000
         : parts.value(1) == QStringLiteral("µs") ? value / 1000
                                                  : value;
}

}  // namespace

class WhySlowerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { shown_.prepare(); }
  void cleanup() { shown_.close(); }

  void a_slower_run_is_explained_by_its_buckets() {
    shown_.open({1600, 1000});
    MainWindow& window = *shown_.window;
    const Person person(window);
    person.press(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(person.isAt(QStringLiteral("Runs")));
    auto* table = person.see<QTableView>(QStringLiteral("Runs"));
    for (const char* name : {"shakespeare-auto", "shakespeare-none"}) {
      const QModelIndex cell =
          Person::cellThatReads(table, RunsModel::Name, QString::fromLatin1(name));
      QVERIFY(cell.isValid());
      Person::click(table, cell.siblingAtColumn(RunsModel::Check));
    }
    QVERIFY(person.click(QStringLiteral("Compare 2")));
    QVERIFY(person.isAt(QStringLiteral("Compare")));

    // Buckets are what is shown first, the largest difference on top.
    auto* rows = person.see<QTableView>(QStringLiteral("Where the step differs"));
    QVERIFY(rows);
    const QAbstractItemModel* model = rows->model();
    QTRY_VERIFY(model->rowCount() > 3);
    QVERIFY(person.see<QAbstractButton>(QStringLiteral("bucket"))->isChecked());
    double sum = 0, largest = 0;
    for (int row = 1; row < model->rowCount(); ++row) {
      const double each = milliseconds(model->index(row, StepRows::Difference));
      sum += each;
      largest = std::max(largest, std::abs(each));
    }
    const double whole = milliseconds(model->index(0, StepRows::Difference));
    QVERIFY2(std::abs(sum - whole) <= 0.02 * std::abs(whole),
             qPrintable(QStringLiteral("%1 of %2").arg(sum).arg(whole)));
    QCOMPARE(std::abs(milliseconds(model->index(1, StepRows::Difference))), largest);

    // A bucket's row shows its spans in both timelines.
    Person::click(rows, model->index(1, 0));
    auto* timeline = person.see<TimelineWidget>(QStringLiteral("Timeline"));
    QVERIFY(timeline);
    QCOMPARE(timeline->rows().size(), size_t(2));
    QTRY_VERIFY(timeline->matches() > 0);
  }

 private:
  SampleWindow shown_;
};

HEDDLE_WIDGET_TEST(WhySlowerTest)
#include "why_slower_test.moc"
