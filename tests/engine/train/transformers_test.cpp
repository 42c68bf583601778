// Hugging Face's transformers' results from a checkpoint that Heddle exported: the export is still
// that file, byte for byte, and Heddle's logits are transformers' (see
// tests/fixtures/exported/README.md). And folders as people have them: what transformers reads in
// them, and what of them an export keeps.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "numbers.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

const QString kFixture = QString(HEDDLE_SOURCE_DIR) + "/tests/fixtures/exported/";

QByteArray bytes_of(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

void must_write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  if (!file.open(QFile::WriteOnly) || file.write(bytes) != bytes.size())
    qFatal("%s is not written", qPrintable(path));
}

QJsonObject json_of(const QString& path) {
  return QJsonDocument::fromJson(bytes_of(path)).object();
}

constexpr const char* kSettings = R"({
  "tokenizer_class": "PreTrainedTokenizerFast",
  "bos_token": "<|begin_of_text|>",
  "eos_token": {"content": "<|end_of_text|>", "special": true},
  "pad_token": "<|end_of_text|>",
  "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}{% endfor %}",
  "model_max_length": 1000000000000000019884624838656
})";

// A small model from random weights, a step of it.
constexpr const char* kSmall = R"(
[model]
dim = 16
n_layers = 1
n_heads = 2
n_kv_heads = 1
ffn_dim = 24
max_seq_len = 64
[data]
text = ["%1/resources/data/tinyshakespeare.txt"]
tokenizer = "%2/tokenizer.json"
cache = "%2/cache"
seq_len = 8
max_documents = 1
[training]
steps = 1
local_batch = 1
[checkpoint]
folder = "%2/checkpoints"
[hardware]
ranks = 1
device = "cpu"
)";

}  // namespace

class TransformersTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

 private Q_SLOTS:
  void the_export_is_what_transformers_loaded() {
    const QString to = folder_.filePath("export");
    const auto run = run_engine({"convert", kFixture + "step-3", to});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    for (const char* name : {"/model.safetensors", "/config.json"}) {
      const QByteArray expected = bytes_of(kFixture + "hugging-face" + name);
      QVERIFY(!expected.isEmpty());
      QVERIFY2(bytes_of(to + name) == expected, name);
    }
  }

  void logits_are_those_of_transformers_data() {
    QTest::addColumn<QString>("checkpoint");
    QTest::newRow("our checkpoint") << "step-3";
    QTest::newRow("its export") << "hugging-face";
  }
  void logits_are_those_of_transformers() {
    QFETCH(QString, checkpoint);
    const QString to = folder_.filePath("eval.safetensors");
    const auto run = run_engine({"eval", kFixture + "recipe.toml", "--to", to, "--set",
                                 "model.checkpoint=\"" + kFixture + checkpoint + '"', "--set",
                                 "parallelism.microbatches=1"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const auto theirs = numbers(open(kFixture + "logits.safetensors"), "logits");
    QVERIFY(largest(theirs) > 0.1);
    QVERIFY(largest_difference(numbers(open(to), "logits"), theirs) <= 1e-4);
  }

  // transformers 5.24 gives 6.127144; it is 5.468058 where the embedding takes the output's place.
  void an_output_of_its_own_is_kept() {
    const QString folder = QString(HEDDLE_SOURCE_DIR) + "/tests/fixtures/own-head";
    const QString recipe = folder_.filePath("own-head.toml"),
                  run_dir = folder_.filePath("own-head");
    must_write(recipe,
               QString("[model]\ncheckpoint = \"%1\"\n[data]\n"
                       "token_ids = \"%1/tokens.safetensors\"\nseq_len = 8\n"
                       "[training]\nsteps = 1\nlocal_batch = 2\n[checkpoint]\nenabled = false\n"
                       "[hardware]\nranks = 1\ndevice = \"cpu\"\n")
                   .arg(folder)
                   .toUtf8());
    const auto run = run_engine({"train", recipe, "--json", "--run-dir", run_dir});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const double loss = run.results()["losses"].toArray()[0].toDouble();
    QVERIFY2(std::abs(loss - 6.127144) < 2e-6, qPrintable(QString::number(loss, 'f', 7)));
    const QByteArray log = run_engine({"log", run_dir}).out;
    QVERIFY2(log.contains("lm_head.weight differs from model.embed_tokens.weight"), log);
  }

  void settings_beside_the_tokenizer_are_kept() {
    const QString work = folder_.filePath("settings");
    QVERIFY(QDir().mkpath(work));
    QVERIFY(QFile::copy(QString(HEDDLE_SOURCE_DIR) + "/resources/data/tokenizer.json",
                        work + "/tokenizer.json"));
    must_write(work + "/tokenizer_config.json", kSettings);
    must_write(work + "/small.toml", QString(kSmall).arg(HEDDLE_SOURCE_DIR, work).toUtf8());
    const auto trained = run_engine({"train", work + "/small.toml"});
    QVERIFY2(trained.exit_code == 0, trained.err.constData());
    const auto exported = run_engine({"convert", work + "/checkpoints", work + "/out"});
    QVERIFY2(exported.exit_code == 0, exported.err.constData());
    for (const char* name : {"/tokenizer.json", "/tokenizer_config.json"})
      QVERIFY2(bytes_of(work + "/out" + name) == bytes_of(work + name), name);
    QVERIFY(!QFile::exists(work + "/out/special_tokens_map.json"));
    for (const char* name : {"/config.json", "/generation_config.json"}) {
      const QJsonObject config = json_of(work + "/out" + name);
      QCOMPARE(config["bos_token_id"].toInt(), 4094);
      QCOMPARE(config["eos_token_id"].toInt(), 4095);
      QCOMPARE(config["pad_token_id"].toInt(), 4095);
    }

    // Where no settings are beside it, they are what tokenizer.json says.
    const auto bare = run_engine({"convert", work + "/checkpoints", work + "/bare", "--tokenizer",
                                  QString(HEDDLE_SOURCE_DIR) + "/resources/data/tokenizer.json"});
    QVERIFY2(bare.exit_code == 0, bare.err.constData());
    QCOMPARE(json_of(work + "/bare/tokenizer_config.json")["eos_token"].toString(),
             QString("<|end_of_text|>"));
    QVERIFY(!json_of(work + "/bare/config.json").contains("pad_token_id"));
  }
};

HEDDLE_TEST(TransformersTest)
#include "transformers_test.moc"
