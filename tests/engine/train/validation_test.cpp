// The validation loss is the mean over all tokens of the held-out text, whatever the layout: held
// against the losses of each of its samples.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/data/corpus.h"
#include "engine/data/text_loader.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

using namespace heddle;

class ValidationTest : public QObject {
  Q_OBJECT

 private:
  static constexpr int64_t kSeqLen = 32;
  QTemporaryDir folder_;
  QString recipe_, held_out_;

  QString written(const QString& name, const QByteArray& content) {
    QFile file(folder_.filePath(name));
    if (!file.open(QFile::WriteOnly) || file.write(content) != content.size()) return {};
    return file.fileName();
  }

  // With such a rate no weight changes: each step tells the loss of the first weights on its batch.
  EngineResult train(const QStringList& sets, const char* ranks = "1") {
    QStringList arguments{"train", recipe_, "--ranks", ranks, "--json"};
    for (const QString& set : sets) arguments << "--set" << set;
    return run_engine(arguments);
  }

  // The losses of samples, one a step, fed as they are.
  QList<double> losses_of(const std::vector<std::vector<int64_t>>& samples) {
    const auto length = static_cast<int64_t>(samples.front().size());
    QByteArray data;
    for (const auto& sample : samples)
      data.append(reinterpret_cast<const char*>(sample.data()),
                  static_cast<qsizetype>(sample.size() * sizeof(int64_t)));
    const std::string header =
        nlohmann::json{{"input_ids",
                        {{"dtype", "I64"},
                         {"shape", {static_cast<int64_t>(samples.size()), int64_t{1}, length}},
                         {"data_offsets", {int64_t{0}, static_cast<int64_t>(data.size())}}}}}
            .dump();
    const uint64_t bytes = header.size();
    const QString file =
        written("samples.safetensors", QByteArray(reinterpret_cast<const char*>(&bytes), 8) +
                                           QByteArray::fromStdString(header) + data);
    const auto run =
        train({"data.text=[]", "data.token_ids=\"" + file + "\"",
               QString("data.seq_len=%1").arg(length - 1), "training.local_batch=1",
               QString("training.steps=%1").arg(samples.size()), "validation.every=0"});
    if (run.exit_code != 0) qFatal("%s", run.err.constData());
    QList<double> losses;
    for (const QJsonValue loss : run.results()["losses"].toArray()) losses << loss.toDouble();
    return losses;
  }

  double validation_loss(const QStringList& sets, const char* ranks) {
    const auto run = train(sets, ranks);
    if (run.exit_code != 0) qWarning("%s", run.err.constData());
    for (const QByteArray& line : run.out.split('\n')) {
      const QJsonObject event = QJsonDocument::fromJson(line).object();
      const QJsonObject values = event["values"].toObject();
      if (event["event"] == "step" && values.contains("validation_loss"))
        return values["validation_loss"].toDouble();
    }
    return NAN;
  }

 private Q_SLOTS:
  void initTestCase() {
    QFile corpus(HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt");
    QVERIFY(corpus.open(QFile::ReadOnly));
    held_out_ = written("held-out.txt", corpus.read(1100));
    recipe_ = written("small.toml", small_recipe(R"(
[training]
steps = 1
local_batch = 4
[optimizer]
lr = 1e-30
[validation]
every = 1
batches = 0
)") + "text = [\"" + held_out_.toUtf8() +
                                        "\"]\n");
  }

  void it_is_the_mean_over_the_text_under_any_layout() {
    // All tokens: one sample as long as the text.
    recipe::Data data;
    data.text = {held_out_.toStdString()};
    data.tokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
    data.seq_len = 1;
    recipe::Training one;
    one.local_batch = one.global_batch = 1;
    recipe::Recipe of_text;
    of_text.data = data;
    QVERIFY(data::tokenize_corpus(of_text, {}));
    auto loader = data::DataLoader::open(data, one, 4096);
    QVERIFY(loader.has_value());
    data.seq_len = loader->tokens() - 1;
    loader = data::DataLoader::open(data, one, 4096);
    QVERIFY(loader.has_value());
    const auto text = loader->next(0, 0, 0, 1);
    QVERIFY2(text, qPrintable(QString::fromStdString(text ? "" : text.error().message)));
    std::vector<int64_t> tokens = text->tokens;
    tokens.push_back(text->labels.back());

    std::vector<std::vector<int64_t>> samples;
    size_t at = 0;
    for (; at + kSeqLen + 1 <= tokens.size(); at += kSeqLen + 1)
      samples.emplace_back(tokens.begin() + at, tokens.begin() + at + kSeqLen + 1);
    const std::vector<int64_t> tail(tokens.begin() + at, tokens.end());
    QVERIFY(samples.size() > 4 && samples.size() % 4 != 0);  // a last batch that is not full
    QVERIFY2(tail.size() > 2, "a text with a tail is wanted");

    double sum = 0;
    for (const double loss : losses_of(samples)) sum += loss * kSeqLen;
    const auto more = static_cast<double>(tail.size() - 1);
    sum += losses_of({tail}).front() * more;
    const double expected = sum / (static_cast<double>(samples.size()) * kSeqLen + more);

    const auto near = [&](const char* what, double loss) {
      if (std::abs(loss - expected) < 1e-5 * expected) return true;
      qWarning("%s: %.7f, by hand %.7f", what, loss, expected);
      return false;
    };
    QVERIFY(near("one rank", validation_loss({}, "1")));
    QVERIFY(near("small batches", validation_loss({"training.local_batch=1"}, "1")));
    QVERIFY(near("data-parallel", validation_loss({}, "2")));
    QVERIFY(near("three ranks", validation_loss({}, "3")));
    QVERIFY(near("a pipeline", validation_loss({"parallelism.pp=2"}, "2")));
    QVERIFY(near("context-parallel", validation_loss({"parallelism.cp=2"}, "2")));
    QVERIFY(near("accumulated", validation_loss({"training.global_batch=12"}, "1")));
  }

  // Tensor parallelism cuts even sizes only: another model, against itself on one rank.
  void tensor_parallel_ranks_give_the_same() {
    const QStringList even{"model.dim=48", "model.n_heads=4", "model.n_kv_heads=4"};
    const double one = validation_loss(even, "1");
    const double two = validation_loss(even + QStringList{"parallelism.tp=2"}, "2");
    QVERIFY2(std::abs(one - two) < 1e-5 * one, qPrintable(QString("%1 %2").arg(one).arg(two)));
  }

  void fewer_batches_are_as_many_sequences_under_any_layout() {
    const QStringList few{"validation.batches=1", "training.global_batch=4"};
    const double one = validation_loss(few + QStringList{"training.local_batch=4"}, "1");
    const double two = validation_loss(few + QStringList{"training.local_batch=1"}, "2");
    QVERIFY2(std::abs(one - two) < 1e-5 * one, qPrintable(QString("%1 %2").arg(one).arg(two)));
  }
};

HEDDLE_TEST(ValidationTest)
#include "validation_test.moc"
