// From an empty store to a sweep of four with the real engine, grouped in Runs, its best resumed
// and compared with its parent.
#include <QFile>
#include <QPushButton>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "gui/views/runs/run_lines.h"
#include "tests/gui/journeys/person.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class SweepJourneyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(name, folder_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void from_an_empty_store_to_a_resumed_best_next_to_its_parent() {
    QFile recipe(folder_.filePath(QStringLiteral("tiny.toml")));
    QVERIFY(recipe.open(QIODevice::WriteOnly));
    const QByteArray data = HEDDLE_SOURCE_DIR "/resources/data/";
    recipe.write("[model]\npreset = \"llama3-debug\"\ndim = 64\nn_layers = 2\n[data]\ntext = [\"" +
                 data + "tinyshakespeare.txt\"]\ntokenizer = \"" + data +
                 "tokenizer.json\"\nseq_len = 64\n[training]\nsteps = 12\n"
                 "[telemetry]\nprofile_every = 4\n[hardware]\nranks = 1\n");
    recipe.close();
    const QString store = folder_.filePath(QStringLiteral("runs.sqlite"));
    Session session(store);
    session.start();
    MainWindow window(session);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.keepSession();
    window.resize(1900, 1000);  // room for the best loss and the group
    const Person person(window);
    QVERIFY(person.isAt(QStringLiteral("Welcome")));

    // The recipe, as if it were dropped on the window; from Compose to Launch, as a sweep.
    window.openRecipe(recipe.fileName());
    QVERIFY(person.isAt(QStringLiteral("Compose")));
    QVERIFY(person.click(QStringLiteral("Launch")));
    QVERIFY(person.isAt(QStringLiteral("Launch")));
    QVERIFY(person.click(QStringLiteral("Sweep …")));
    QVERIFY(person.type(QStringLiteral("Key 1"), QStringLiteral("optimizer.lr")));
    QVERIFY(
        person.type(QStringLiteral("Values of key 1"), QStringLiteral("1e-4, 3e-4, 1e-3, 3e-3")));
    QVERIFY(person.click(QStringLiteral("Use this sweep")));
    QVERIFY(person.click(QStringLiteral("Launch 4 runs")));

    // All four end; in Runs they are one group.
    person.press(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(person.isAt(QStringLiteral("Runs")));
    auto* table = person.see<QTableView>(QStringLiteral("Runs"));
    QVERIFY(QTest::qWaitFor([&] { return ended(store) == 4; }, 120000));
    QVERIFY(person.choose(QStringLiteral("Group"),
                          QStringLiteral("sweep: runs that were launched together")));
    const QModelIndex head =
        Person::cellThatReads(table, RunsModel::Name, QStringLiteral("group tiny"));
    QVERIFY(head.isValid());
    QTRY_COMPARE(head.data(RunLines::RangeRole).toString(), QStringLiteral("4 runs"));
    QVERIFY(Person::clickHead(table, QStringLiteral("best loss")));
    QTRY_VERIFY(window.isReady());

    // The first of the group is its best: resumed, it trains as many steps again.
    QString best;
    QTRY_VERIFY(!(best = bestOf(store)).isEmpty());
    // The table may read its results a moment after they are written.
    QTRY_COMPARE(
        Person::cellThatReads(table, RunsModel::Name, best).row(),
        Person::cellThatReads(table, RunsModel::Name, QStringLiteral("group tiny")).row() + 1);
    QModelIndex cell = Person::cellThatReads(table, RunsModel::Name, best);
    QVERIFY(cell.isValid());
    // The table may read its row a moment after its end is written.
    QTRY_COMPARE(Person::cellThatReads(table, RunsModel::Name, best)
                     .siblingAtColumn(RunsModel::State)
                     .data()
                     .toString(),
                 QStringLiteral("done"));
    Person::click(table, Person::cellThatReads(table, RunsModel::Name, best));
    QTRY_VERIFY(window.isReady());
    QVERIFY(person.choose(QStringLiteral("More for this run"), QStringLiteral("Resume")));
    auto* start = person.see<QPushButton>(QStringLiteral("Resume"));
    QVERIFY(start);
    QTRY_VERIFY_WITH_TIMEOUT(start->isEnabled(), 20000);
    QTest::mouseClick(start, Qt::LeftButton);
    QVERIFY(person.isAt(QStringLiteral("Live")));
    QVERIFY(QTest::qWaitFor([&] { return ended(store) == 5; }, 120000));

    // Both ticked and compared: the child goes on where its parent ended.
    person.press(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(person.isAt(QStringLiteral("Runs")));
    const QString child = best + QStringLiteral("→24");
    for (const QString& name : {best, child}) {
      cell = Person::cellThatReads(table, RunsModel::Name, name);
      QVERIFY2(cell.isValid(), qPrintable(name));
      Person::click(table, cell.siblingAtColumn(RunsModel::Check));
    }
    QVERIFY(person.click(QStringLiteral("Compare 2")));
    QVERIFY(person.isAt(QStringLiteral("Compare")));
    QTRY_COMPARE(window.currentPage()->subtitle(), QStringLiteral("2 runs"));
    auto* differences = person.see<QTableView>(QStringLiteral("Differences"));
    QVERIFY(differences);
    const QAbstractItemModel& model = *differences->model();
    QCOMPARE(model.headerData(0, Qt::Horizontal).toString(), best);
    QCOMPARE(model.headerData(1, Qt::Horizontal).toString(), child);
    QSet<QString> keys;
    for (int row = 0; row < model.rowCount(); ++row)
      keys << model.headerData(row, Qt::Vertical).toString();
    QVERIFY2(keys.contains(QStringLiteral("training.steps")),
             qPrintable(QStringList(keys.values()).join(' ')));
    QVERIFY2(!keys.contains(QStringLiteral("optimizer.lr")), "both have the same rate");
  }

 private:
  static std::vector<storage::RunSummary> sweep(const QString& store) {
    auto runs = must(must(storage::Reader::open(store.toStdString())).runs());
    std::erase_if(runs, [](const auto& run) { return !run.name.starts_with("tiny"); });
    return runs;
  }
  static qsizetype ended(const QString& store) {
    return std::ranges::count_if(sweep(store), [](const storage::RunSummary& run) {
      return run.state == storage::RunState::done;
    });
  }
  static QString bestOf(const QString& store) {
    const auto summaries =
        must(must(storage::Reader::open(store.toStdString())).metric_summaries("loss"));
    QString best;
    double least = INFINITY;
    for (const storage::RunSummary& run : sweep(store))
      if (const auto found = summaries.find(run.id);
          found != summaries.end() && found->second.min < least) {
        least = found->second.min;
        best = QString::fromStdString(run.name);
      }
    return best;
  }

  QTemporaryDir folder_;
};

HEDDLE_WIDGET_TEST(SweepJourneyTest)
#include "sweep_journey_test.moc"
