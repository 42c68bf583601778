// Runs on texts in several forms: tokenized once, the same losses for each form and any ranks;
// faults of a text are reported where the recipe names it.
#include <zlib.h>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

QByteArray all_of(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class CorpusTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  QString put(const QString& name, const QByteArray& content) {
    QFile file(folder_.filePath(name));
    return file.open(QFile::WriteOnly) && file.write(content) == content.size() ? file.fileName()
                                                                                : QString();
  }
  QString put_gzipped(const QString& name, const QByteArray& content) {
    gzFile file = gzopen(qPrintable(folder_.filePath(name)), "wb");
    gzwrite(file, content.constData(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return folder_.filePath(name);
  }

  EngineResult train(const QString& text, const char* ranks, const QStringList& sets = {}) {
    QStringList arguments = {"train", folder_.filePath("r.toml"),    "--ranks", ranks,
                             "--set", "data.text=[\"" + text + "\"]"};
    for (const QString& set : sets) arguments += {"--set", set};
    return run_engine(arguments);
  }

  QStringList stores() {
    return QDir(folder_.filePath("cache")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  }

 private Q_SLOTS:
  void initTestCase() {
    put("r.toml", small_recipe("\n[training]\nsteps = 6\nlocal_batch = 1\nglobal_batch = 4\n") +
                      "[checkpoint]\nenabled = false\n");
  }

  void losses_are_those_of_the_text_in_any_form_on_any_ranks() {
    const QString cache = "data.cache=\"" + folder_.filePath("cache") + "\"";
    const QByteArray text = all_of(HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt");
    const QByteArray json = QJsonDocument(QJsonObject{{"text", QString::fromUtf8(text)}})
                                .toJson(QJsonDocument::Compact);
    QJsonArray first;
    for (const QString& form : {put("a.txt", text), put_gzipped("b.jsonl.gz", json + "\n"),
                                put("c.json", "[\n" + json + "\n]\n")})
      for (const char* ranks : {"1", "2", "4"}) {
        const auto run = train(form, ranks, {cache});
        QVERIFY2(run.exit_code == 0, run.err.constData());
        const QJsonArray losses = run.results()["losses"].toArray();
        QCOMPARE(losses.size(), 6);
        if (first.isEmpty()) first = losses;
        for (qsizetype step = 0; step < losses.size(); ++step)
          QVERIFY(std::abs(losses[step].toDouble() - first[step].toDouble()) < 1e-4);
      }
    QCOMPARE(stores().size(), 3);  // one a form, whatever the ranks
  }

  /// The ranks begin with the first shard, and go on with what is made meanwhile.
  void training_begins_before_all_is_tokenized() {
    QByteArray text;
    for (int i = 0; i < 30; ++i)
      text += all_of(HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt");
    const auto run = train(put("long.txt", text), "2",
                           {"data.cache=\"" + folder_.filePath("long") + "\"", "data.seq_len=32"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["losses"].toArray().size(), 6);
  }

  void what_is_wrong_is_told_where_the_recipe_names_it() {
    const auto run = train(put("bad.jsonl", "{\"text\": \"one\"}\n{\"text\": null}\n"), "1");
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.contains("data.text: " + folder_.filePath("bad.jsonl").toUtf8() +
                              ":2: not a JSON object with a text in \"text\": \"text\" is null"),
             run.err.constData());
  }

  void data_is_described_before_it_is_tokenized() {
    const auto described = [&](const QString& text) {
      return run_engine({"describe-data", folder_.filePath("r.toml"), "--set",
                         "data.text=[\"" + text + "\"]", "--set",
                         "data.cache=\"" + folder_.filePath("described") + "\""});
    };
    const auto told =
        described(put("short.jsonl", QByteArray("{\"text\": \"To be.\"}\n").repeated(100)));
    QVERIFY2(told.exit_code == 0, told.err.constData());
    QVERIFY2(told.out.startsWith("short.jsonl: 100.0 % of the samples; 1.86 KiB in 1 file; 100 "
                                 "documents, "),
             told.out.constData());
    QVERIFY(told.out.contains("<|end_of_text|>\n=== another document\n<|begin_of_text|>To be."));
    QVERIFY(!QFileInfo::exists(folder_.filePath("described")));
    const auto missing = described("/nowhere/a.txt");
    QCOMPARE(missing.exit_code, 2);
    QVERIFY(missing.err.contains("data.text: /nowhere/a.txt: no such file or folder"));
  }

  void tokenized_ahead_it_is_not_again() {
    const QString cache = "data.cache=\"" + folder_.filePath("ahead") + "\"";
    const QString text = put("ahead.txt", "To be, or not to be, that is the question. ");
    const auto ahead = run_engine({"tokenize-corpus", folder_.filePath("r.toml"), "--jobs", "1",
                                   "--set", "data.text=[\"" + text + "\"]", "--set", cache});
    QVERIFY2(ahead.exit_code == 0, ahead.err.constData());
    const QJsonObject told = QJsonDocument::fromJson(ahead.out).object();
    QCOMPARE(told["documents"].toInt(), 1);
    QVERIFY(told["tokens"].toInt() > 10);
    const QString shard = told["store"].toString() + "/000000.tokens";
    const QDateTime made = QFileInfo(shard).lastModified();
    const auto run = train(text, "1", {cache, "data.seq_len=4"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(QFileInfo(shard).lastModified(), made);
  }

  void stores_are_listed_and_cleaned() {
    const QString cache = folder_.filePath("stores");
    const QString text = put("kept.txt", "All that glisters is not gold. ");
    const auto run = train(text, "1", {"data.cache=\"" + cache + "\"", "data.seq_len=4"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const auto stores = [&](const QStringList& more = {}) {
      return run_engine(QStringList{"stores", "--cache", cache} + more);
    };
    QVERIFY2(stores().out.contains("  whole  " + text.toUtf8() + "\n"), stores().out.constData());
    for (const QStringList& spared : {QStringList{"--clean"}, QStringList{"--unused", "1"}}) {
      QCOMPARE(stores(spared).out, "0 B removed from " + cache.toUtf8() + "\n");
      QVERIFY(stores().out.contains(text.toUtf8()));
    }
    QVERIFY(QFile::remove(text));
    QVERIFY(stores().out.contains("  whole, its texts are gone  "));
    QVERIFY(stores({"--clean"}).out.contains("  removed: its texts are gone  "));
    QCOMPARE(stores().out, "0 B in " + cache.toUtf8() + "\n");
  }
};

HEDDLE_TEST(CorpusTest)
#include "corpus_test.moc"
