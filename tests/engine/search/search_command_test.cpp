// `heddle-engine search`, and searches of `plan --serve`: answers, bad input, being cancelled.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

const QString kRecipes = QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/";
const QString kLarge = kRecipes + "llama3-8b-8xh100.toml";
const QStringList kVocabulary = {"--set", "model.vocab_size=128256"};
// Leaves few layouts, for cases that are about what is said of them: search_test searches them all.
const QStringList kFewLayouts = {"--fix", "parallelism.tp=1", "--fix", "parallelism.cp=1",
                                 "--fix", "parallelism.pp=1", "--fix", "recompute.mode=\"full\""};

struct Ended {
  int code = 0;
  QByteArray out, err;
};

Ended run_search(const QStringList& arguments) {
  QProcess process;
  process.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine",
                QStringList{"search"} + arguments + kVocabulary);
  process.waitForFinished(-1);
  return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

}  // namespace

class SearchCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qputenv("XDG_CACHE_HOME", cache_.path().toUtf8()); }

  void tells_one_document() {
    const Ended ended = run_search({kLarge, "--json"});
    QCOMPARE(ended.code, 0);
    QCOMPARE(ended.out.count('\n'), 1);
    QCOMPARE(ended.err, QByteArray());
    const QJsonObject result = QJsonDocument::fromJson(ended.out).object();
    QVERIFY(result["complete"].toBool());
    const QJsonArray front = result["front"].toArray();
    QVERIFY(!front.isEmpty());
    QVERIFY(front[0].toObject()["peak_bytes"].toDouble() <= result["limit_bytes"].toDouble());
    QVERIFY(!result["given_why"].toString().isEmpty());
  }

  // On a terminal: one line that is written over, and nothing of it spelled out.
  void progress_is_for_terminals() {
    QProcess process;
    process.start("script", {"--quiet", "--return", "--command",
                             QString(HEDDLE_BINARY_DIR) + "/heddle-engine search " + kLarge + " '" +
                                 (kVocabulary + kFewLayouts).join("' '") + "'",
                             "/dev/null"});
    QVERIFY(process.waitForFinished(-1));
    const QByteArray shown = process.readAllStandardOutput();
    QVERIFY2(shown.contains(" planned") && shown.contains("\x1b[K\r"), shown.constData());
    QVERIFY2(!shown.contains("\\u000d"), shown.constData());
  }

  void several_numbers_of_ranks() {
    const Ended ended = run_search(
        QStringList{kLarge, "--ranks", "8,11,16", "--tokens", "1T", "--json"} + kFewLayouts);
    QCOMPARE(ended.code, 0);
    const QJsonObject all = QJsonDocument::fromJson(ended.out).object();
    QVERIFY(all["complete"].toBool());
    QVERIFY(all["usd_per_rank_hour"].toDouble() > 0);
    QVERIFY(!all["price_source"].toString().isEmpty());
    const QJsonArray counts = all["counts"].toArray();
    QCOMPARE(counts.size(), 3);
    QVERIFY(!counts[1].toObject().contains("best"));
    QVERIFY(counts[1]["why"].toString().contains("11 ranks do not fill nodes of 8"));
    QCOMPARE(counts[0]["ranks"].toInt(), 8);
    const double few = counts[0]["best"]["tokens_per_second"].toDouble(),
                 many = counts[2]["best"]["tokens_per_second"].toDouble();
    QVERIFY(few > 0 && many > few);
    QCOMPARE(counts[2]["training_seconds"].toDouble(), 1e12 / many);
    QVERIFY(counts[2]["usd_per_million_tokens"].toDouble() > 0);
    QVERIFY(counts[2]["efficiency"].toDouble() < 1.2);
    // Each is what a search of it alone gives.
    const Ended alone = run_search(QStringList{kLarge, "--ranks", "16", "--json"} + kFewLayouts);
    QCOMPARE(QJsonDocument::fromJson(alone.out)["front"][0].toObject(),
             counts[2]["best"].toObject());
    QVERIFY(QJsonDocument::fromJson(alone.out)["front"].toArray().size() >
            1);  // else any is the best
  }

  void bad_input_is_told_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("said");
    QTest::newRow("an unknown key")
        << QStringList{kLarge, "--fix", "parallelism.tq=2"} << "parallelism.tp";
    QTest::newRow("no value") << QStringList{kLarge, "--fix", "parallelism.tp"} << "parallelism.tp";
    QTest::newRow("a value that divides nothing")
        << QStringList{kLarge, "--fix", "parallelism.tp=3"}
        << "no layout of 8 ranks has parallelism.tp=3";
    QTest::newRow("two that contradict each other")
        << QStringList{kLarge,  "--fix",           "parallelism.cp=2", "--fix", "parallelism.tp=4",
                       "--fix", "parallelism.pp=4"}
        << "parallelism.tp=4 and parallelism.pp=4 contradict each other";
    QTest::newRow("ranks without divisors")
        << QStringList{kLarge, "--ranks", "8191"} << "8191 ranks";
    QTest::newRow("no numbers of ranks")
        << QStringList{kLarge, "--ranks", "8,many"} << "--ranks: \"many\" is no number of ranks";
    QTest::newRow("numbers of ranks none of which has a layout")
        << QStringList{kLarge, "--ranks", "8191,8209"} << "8191 ranks";
    QTest::newRow("tokens that are no number")
        << QStringList{kLarge, "--ranks", "8,16", "--tokens", "all"} << "valid: as in \"15T\"";
    QTest::newRow("tokens of no number of ranks")
        << QStringList{kLarge, "--tokens", "1T"} << "--tokens: without --ranks";
    QTest::newRow("no such hardware") << QStringList{kLarge, "--hardware", "h200-sxn"} << "h200";
    QTest::newRow("a limit that is no size")
        << QStringList{kLarge, "--memory-limit", "much"} << "valid: as in \"60 GiB\"";
  }

  void bad_input_is_told() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, said);
    const Ended ended = run_search(arguments);
    QCOMPARE(ended.code, 2);
    QVERIFY(ended.out.isEmpty());
    QVERIFY2(QString::fromUtf8(ended.err).contains(said), ended.err.constData());
  }

  void nothing_fits() {
    const Ended ended =
        run_search({kLarge, "--fix", "data.seq_len=131072", "--fix", "parallelism.cp=1", "--fix",
                    "parallelism.tp=1", "--fix", "parallelism.pp=1"});
    QCOMPARE(ended.code, 1);
    QVERIFY2(ended.out.contains("nothing fits; least lacks"), ended.out.constData());
  }

  // Every layout needs more than that, and none can be planned.
  void nothing_that_can_be_planned_is_told_with_why() {
    const Ended ended =
        run_search(QStringList{kLarge, "--set", "wrapping.memory_limit=\"1 GiB\""} + kFewLayouts);
    QCOMPARE(ended.code, 2);
    QVERIFY2(ended.err.contains("can be planned: wrapping.memory_limit: 1 GiB is not enough"),
             ended.err.constData());
  }

  void racks_are_used_in_part() {
    const Ended ended = run_search({kRecipes + "llama3-70b-256xh100.toml", "--hardware", "gb200",
                                    "--ranks", "128,256,512", "--json", "--fix", "parallelism.pp=1",
                                    "--fix", "recompute.mode=\"full\""});
    QCOMPARE(ended.code, 0);
    for (const QJsonValue count : QJsonDocument::fromJson(ended.out).object()["counts"].toArray())
      QVERIFY2(count["best"]["tokens_per_second"].toDouble() > 0,
               qPrintable(count["why"].toString()));
  }

  // By Ctrl-C on a terminal, which alone shows progress.
  void interrupted_it_tells_what_it_knows() {
    const QString file = cache_.filePath("interrupted.json");
    QProcess process;
    process.start("script",
                  {"--quiet", "--return", "--flush", "--command",
                   "exec " + QString(HEDDLE_BINARY_DIR) + "/heddle-engine search " + kRecipes +
                       "llama3-70b-256xh100.toml --json " + kVocabulary.join(' ') + " > " + file,
                   "/dev/null"});
    QByteArray told;
    while (!told.contains("best ")) {
      QVERIFY2(process.waitForReadyRead(-1), told.constData());
      told += process.readAllStandardOutput();
    }
    process.write("\x03");
    QVERIFY(process.waitForFinished(-1));
    QCOMPARE(process.exitCode(), 130);
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const auto result = QJsonDocument::fromJson(written.readAll()).object();
    QVERIFY(!result["complete"].toBool());
    QVERIFY(!result["front"].toArray().isEmpty());
  }

  void a_server_searches_one_at_a_time_and_can_be_told_to_stop() {
    QFile file(kLarge);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QJsonObject request{{"id", 1},
                        {"search", true},
                        {"recipe", QString::fromUtf8(file.readAll())},
                        {"sets", QJsonArray{"model.vocab_size=128256"}}};
    QProcess server;
    server.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine", {"plan", "--serve"});
    const auto ask = [&](const QJsonObject& asked) {
      server.write(QJsonDocument(asked).toJson(QJsonDocument::Compact) + "\n");
    };
    const auto answer = [&] {
      while (!server.canReadLine())
        if (!server.waitForReadyRead(60000)) return QJsonObject();
      return QJsonDocument::fromJson(server.readLine()).object();
    };
    ask(request);
    request["id"] = 2;
    ask(request);
    QJsonObject refused = answer();
    while (refused["id"].toInt() == 1) refused = answer();
    QCOMPARE(refused["id"].toInt(), 2);
    QVERIFY(refused["error"].toString().contains("a search runs already"));
    QJsonObject told = answer();
    while (told.contains("progress") && told["found"].toObject()["front"].toArray().isEmpty())
      told = answer();
    QVERIFY(told.contains("progress"));
    ask({{"id", 3}, {"cancel", 1}});
    while (told.contains("progress")) told = answer();
    QCOMPARE(told["id"].toInt(), 1);
    QVERIFY(!told["found"].toObject()["complete"].toBool());
    request["id"] = 4;
    request["counts"] = QJsonArray{8, 16};
    request["fixes"] =
        QJsonArray{"parallelism.tp=1", "parallelism.pp=1", "recompute.mode=\"full\""};
    ask(request);
    do told = answer();
    while (told.contains("progress"));
    QCOMPARE(told["id"].toInt(), 4);
    QCOMPARE(told["counts"].toObject()["counts"].toArray().size(), 2);
    request["id"] = 5;
    request["counts"] = QJsonArray{0};
    ask(request);
    told = answer();
    QVERIFY2(told["error"].toString().contains("numbers of ranks, 1 or more"),
             qPrintable(told["error"].toString()));
    server.kill();
    server.waitForFinished();
  }

 private:
  QTemporaryDir cache_;
};

HEDDLE_TEST(SearchCommandTest)
#include "search_command_test.moc"
