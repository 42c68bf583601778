// `heddle-engine tokenize-corpus`, killed again and again: the store is whole at the end, nothing
// in it twice. HEDDLE_ALL=1: 50 times.
#include <signal.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "tests/support/files.h"
#include "tests/support/test_class.h"

using heddle::test::read_bytes;

namespace {

const QString kSource = HEDDLE_SOURCE_DIR;

/// The one store in a cache.
QString store_in(const QString& cache) {
  return cache + "/" + QDir(cache).entryList(QDir::Dirs | QDir::NoDotAndDotDot).value(0);
}

}  // namespace

class TokenizeKillTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  QStringList arguments(const QString& cache) {
    return {"tokenize-corpus", folder_.filePath("r.toml"),    "--jobs", "2",
            "--set",           "data.cache=\"" + cache + "\""};
  }

 private Q_SLOTS:
  /// A text of some shards, and documents behind it.
  void initTestCase() {
    const QByteArray shakespeare = read_bytes(kSource + "/resources/data/tinyshakespeare.txt");
    QFile text(folder_.filePath("a.txt"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    for (int i = 0; i < 40; ++i) text.write(shakespeare);
    QFile lines(folder_.filePath("b.jsonl"));
    QVERIFY(lines.open(QIODevice::WriteOnly));
    for (int i = 0; i < 200'000; ++i)
      lines.write(QString("{\"text\": \"document %1\"}\n").arg(i).toUtf8());
    QFile recipe(folder_.filePath("r.toml"));
    QVERIFY(recipe.open(QIODevice::WriteOnly));
    recipe.write(
        "[model]\npreset = \"llama3-debug\"\n[data]\ntext = [\"a.txt\", \"b.jsonl\"]\n"
        "tokenizer = \"" +
        kSource.toUtf8() + "/resources/data/tokenizer.json\"\n");
  }

  void killed() {
    const int kills = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 50 : 5;
    const QString engine = QString(HEDDLE_BINARY_DIR) + "/heddle-engine";
    const QString at_once = folder_.filePath("once"), in_parts = folder_.filePath("parts");
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(QProcess::execute(engine, arguments(at_once)), 0);
    const auto whole = static_cast<int>(timer.elapsed());

    // Each is killed somewhere in what takes about as long as two shards, so that some get on.
    std::mt19937 random(1);
    std::uniform_int_distribution<int> moment(1, std::max(2, whole / 3));
    int killed = 0;
    for (int i = 0; i < kills; ++i) {
      QProcess process;
      process.start(engine, arguments(in_parts));
      QVERIFY(process.waitForStarted());
      if (process.waitForFinished(moment(random))) continue;  // it was faster
      kill(static_cast<pid_t>(process.processId()), SIGKILL);
      QVERIFY(process.waitForFinished(-1));
      ++killed;
    }
    qInfo("%d of %d were killed", killed, kills);
    QVERIFY(killed > 0);
    QCOMPARE(QProcess::execute(engine, arguments(in_parts)), 0);
    const QDir first(store_in(at_once)), second(store_in(in_parts));
    const QStringList shards = first.entryList({"*.tokens"}, QDir::Files, QDir::Name);
    QVERIFY(shards.size() >= 3);
    QCOMPARE(second.entryList(QDir::Files, QDir::Name), first.entryList(QDir::Files, QDir::Name));
    for (const QString& shard : shards)
      QVERIFY2(read_bytes(first.filePath(shard)) == read_bytes(second.filePath(shard)),
               qPrintable(shard));
    QCOMPARE(read_bytes(first.filePath("whole.json")), read_bytes(second.filePath("whole.json")));
  }
};

HEDDLE_TEST(TokenizeKillTest)
#include "tokenize_kill_test.moc"
