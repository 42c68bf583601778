// Facts of any training run: the ranks do not change it, planned equals eager, accumulation
// equals a larger batch, an edited graph trains as edited, bad input ends with 2 and a line that
// says why.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "engine/telemetry/log_reader.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"
#include "tests/support/trained.h"

using namespace heddle;

namespace {

const QString kData = QString(HEDDLE_SOURCE_DIR) + "/resources/data/";

double largest_relative_difference(const QList<double>& a, const QList<double>& b) {
  if (a.size() != b.size() || a.isEmpty()) return INFINITY;
  double most = 0;
  for (int i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / std::abs(b[i]));
  return most;
}

}  // namespace

class TrainingTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QString recipe_, short_;
  QByteArray text_;  // of the recipe

  EngineResult train(const QStringList& more = {}) {
    return run_engine(QStringList{"train", recipe_} + more);
  }
  QList<double> losses_with(const QStringList& more = {}) {
    return test::trained_once(text_, more).run.losses();
  }

 private Q_SLOTS:
  void initTestCase() {
    recipe_ = folder_.filePath("small.toml");
    text_ = small_recipe(R"(
[training]
steps = 6
local_batch = 1
global_batch = 12
[optimizer]
lr = 1e-2
[hardware]
ranks = 1
)");
    QVERIFY(test::write_bytes(recipe_, text_));
    short_ = folder_.filePath("short.txt");
    QFile text(short_);
    QVERIFY(text.open(QFile::WriteOnly) && text.write("To be") > 0);
  }

  void ranks_do_not_change_the_curve() {
    const auto one = losses_with();
    QCOMPARE(one.size(), 6);
    for (const char* ranks : {"2", "3", "4"}) {
      const auto run = train({"--ranks", ranks});
      QVERIFY2(run.exit_code == 0, run.err.constData());
      QVERIFY2(largest_relative_difference(run.losses(), one) < 1e-4, ranks);
    }
  }

  void planned_equals_eager_bit_for_bit() {
    for (const char* ranks : {"1", "3"})
      QCOMPARE(losses_with({"--ranks", ranks, "--mode", "planned"}),
               losses_with({"--ranks", ranks, "--mode", "eager"}));
  }

  void accumulation_equals_a_larger_batch() {
    const auto small = losses_with({"--set", "training.local_batch=1"});
    const auto large = losses_with({"--set", "training.local_batch=12"});
    QVERIFY(largest_relative_difference(small, large) < 1e-4);
  }

  void another_seed_is_another_run() {
    QVERIFY(losses_with() != losses_with({"--set", "training.seed=1"}));
    QVERIFY(losses_with() != losses_with({"--set", "data.seed=1"}));
  }

  void a_graph_can_be_read_back_edited_and_trained_from() {
    const auto printed = run_engine({"graph", recipe_, "--ranks", "2"});
    QVERIFY2(printed.exit_code == 0, printed.err.constData());
    QByteArray text = printed.out;
    auto train_from = [&](const QByteArray& graph) {
      QFile file(folder_.filePath("step.graph"));
      if (!file.open(QFile::WriteOnly)) return EngineResult();
      file.write(graph);
      file.close();
      return train({"--ranks", "2", "--graph", file.fileName()});
    };
    const auto captured = losses_with({"--ranks", "2"});
    const auto same = train_from(text);
    QVERIFY2(same.exit_code == 0, same.err.constData());
    QCOMPARE(same.losses(), captured);
    QCOMPARE(same.results()["model_forward_calls"].toInt(), 0);

    // Gradients twice as large, undone by clipping, change nothing; without the attention's scale
    // the first loss is another.
    const QByteArray scale = "scale=" + QByteArray::number(1.0 / std::sqrt(18.0), 'g', 17);
    QVERIFY2(text.contains(scale), scale.constData());
    const auto edited = train_from(QByteArray(text).replace(scale, "scale=0.9"));
    QVERIFY2(edited.exit_code == 0, edited.err.constData());
    QVERIFY(edited.losses()[0] != captured[0]);
    QVERIFY(std::abs(edited.losses()[0] - captured[0]) < 0.2);

    // beta1 and beta2 of zero: sign descent, so that the second loss follows another update.
    const auto no_decay =
        train_from(QByteArray(text).replace("weight_decay=0.1", "weight_decay=0.0"));
    QCOMPARE(no_decay.losses()[0], captured[0]);
    QVERIFY(no_decay.losses()[1] != captured[1]);
  }

  void a_broken_graph_is_refused_with_its_line() {
    QFile file(folder_.filePath("broken.graph"));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(
        "heddle graph 1\nmicro_batches = 12\nforward\n  %1: f32[2] = aten.no_such_operator(%0)\n");
    file.close();
    const auto run = train({"--graph", file.fileName()});
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.contains("broken.graph:4:"), run.err.constData());
  }

  void a_step_that_is_not_finite_is_not_applied_and_says_where() {
    const QByteArray text = run_engine({"graph", recipe_, "--ranks", "2"}).out;
    QFile file(folder_.filePath("infinite.graph"));
    QVERIFY(file.open(QFile::WriteOnly));
    const QByteArray scale = "scale=" + QByteArray::number(1.0 / std::sqrt(18.0), 'g', 17);
    const qsizetype second = text.indexOf(scale, text.indexOf(scale) + 1);  // of layers.1
    QVERIFY(second > 0);
    file.write(QByteArray(text).replace(second, scale.size(), "scale=inf"));
    file.close();
    const QString run_dir = folder_.filePath("infinite");
    const auto run = train({"--ranks", "2", "--graph", file.fileName(), "--run-dir", run_dir});
    QCOMPARE(run.exit_code, 0);
    for (const char* rank : {"0", "1"}) {
      QFile log(run_dir + "/rank-" + rank + ".0.hlog");
      QVERIFY(log.open(QFile::ReadOnly));
      QVERIFY(log.readAll().contains(
          QByteArray("step 1: loss or gradient is not finite, nothing was updated; it began on "
                     "rank ") +
          rank + " in layers.1.attention (attention, forward)"));
    }
    QVERIFY2(run.err.contains("\nrank 1: warning: step 1: loss or gradient is not finite, "),
             run.err.constData());
  }

  void without_clipping_a_gradient_that_is_not_finite_ends_the_run() {
    const auto run = train({"--set", "training.max_norm=0", "--set", "optimizer.lr=1e38"});
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.err.contains("training.max_norm = 0"), run.err.constData());
  }

  /// Memory rises and falls within the step; at its most the plan's bytes and the process are
  /// there.
  static void check_memory(const telemetry::Spans& spans, double arena, double states,
                           double peak) {
    QVERIFY(spans.memory.size() > 20 && spans.memory.size() <= telemetry::kMaxMoments);
    int64_t end = 0;
    for (const telemetry::Span& span : spans.spans)
      end = std::max(end, span.start_us + span.duration_us);
    double most = 0, least = peak;
    for (const telemetry::MemoryMoment& moment : spans.memory) {
      QVERIFY(moment.time_us >= 0 && moment.time_us <= end);
      QVERIFY(moment.bytes[telemetry::Category::parameters] > 0);
      QVERIFY(moment.bytes[telemetry::Category::other] > 0);
      most = std::max(most, static_cast<double>(moment.bytes.total()));
      least = std::min(least, static_cast<double>(moment.bytes.total()));
    }
    QVERIFY2(most > arena + states && most <= 1.01 * peak, qPrintable(QString::number(most)));
    QVERIFY(least < most - arena / 4);
  }

  void telemetry_is_complete() {
    const QString run_dir = folder_.filePath("run");
    const auto run =
        train({"--ranks", "2", "--run-dir", run_dir, "--set", "telemetry.profile_every=2"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    for (const char* file :
         {"rank-0.0.hlog", "rank-1.0.hlog", "results.json", "end.json", "recipe.toml"})
      QVERIFY2(QFile::exists(run_dir + "/" + file), file);
    const QJsonObject results = run.results();
    for (const char* key :
         {"tokens_per_second_per_rank", "step_seconds", "peak_bytes", "first_step_seconds",
          "capture_seconds", "exposed_seconds", "nodes", "collectives"})
      QVERIFY2(results[key].toDouble() > 0, key);
    // Exposed time is of all ranks together: ranks wait for each other in turn.
    double sum = 0;  // of the ranks' medians
    std::vector<double> told{results["exposed_seconds"].toDouble()};
    for (const char* rank : {"0", "1"}) {
      QFile log(run_dir + "/rank-" + rank + ".0.hlog");
      QVERIFY(log.open(QFile::ReadOnly));
      telemetry::LogReader reader;
      reader.feed(log.readAll().toStdString());
      std::vector<double> exposed;
      double arena = 0, states = 0;
      size_t measured = 0;  // steps with memory over their time
      while (const auto event = reader.next()) {
        const auto record = std::get<telemetry::Frame>(*event).record();
        QVERIFY(record);
        if (const auto* start = std::get_if<telemetry::Start>(&*record)) {
          QCOMPARE(start->facts.at("predicted_peak_bytes"),
                   results["predicted_peak_bytes"].toDouble());
          arena = start->facts.at("arena_bytes");
          states = start->facts.at("state_bytes");
        }
        if (const auto* spans = std::get_if<telemetry::Spans>(&*record)) {
          ++measured;
          check_memory(*spans, arena, states, results["peak_bytes"].toDouble());
        }
        if (const auto* end = std::get_if<telemetry::End>(&*record)) {
          told.push_back(end->results.at("exposed_seconds"));
          // The most that any rank held, whoever is asked.
          QCOMPARE(end->results.at("peak_bytes"), results["peak_bytes"].toDouble());
        }
        const auto* step = std::get_if<telemetry::Step>(&*record);
        if (!step || !step->values.contains("exposed_seconds")) continue;
        exposed.push_back(step->values.at("exposed_seconds"));
      }
      QCOMPARE(measured, exposed.size());
      std::ranges::sort(exposed);
      sum += exposed.at(exposed.size() / 2);
    }
    QCOMPARE(told.size(), size_t(3));
    for (const double each : told) QVERIFY(std::abs(each - sum / 2) < 1e-9);
  }

  void bad_input_ends_with_2_and_a_line_data() {
    QTest::addColumn<QStringList>("sets");
    QTest::addColumn<QByteArray>("says");
    auto set = [](const QString& what) { return QStringList{"--set", what}; };
    QTest::newRow("missing text") << set("data.text=[\"nowhere.txt\"]")
                                  << QByteArray("nowhere.txt");
    QTest::newRow("no tokenizer") << set("data.tokenizer=\"" + kData + "tinyshakespeare.txt\"")
                                  << QByteArray("data.tokenizer");
    QTest::newRow("small vocabulary")
        << set("model.vocab_size=100") << QByteArray("model.vocab_size");
    QTest::newRow("heads do not divide") << set("model.n_heads=4") << QByteArray("n_heads");
    QTest::newRow("batch does not divide")
        << set("training.local_batch=5") << QByteArray("global_batch");
    QTest::newRow("not yet") << set("parallelism.tp=3") + QStringList{"--ranks", "3"}
                             << QByteArray("parallelism.tp");
    QTest::newRow("no checkpoint")
        << set("model.checkpoint=\"nowhere\"") << QByteArray("model.checkpoint");
    QTest::newRow("an optimizer that is none of ours")
        << set("optimizer.name=\"galore\"")
        << QByteArray("optimizer.name: \"galore\" is not known; valid: adamw");
    QTest::newRow("corpus too short")
        << set("data.seq_len=1000000") + set("model.max_seq_len=1000000")
        << QByteArray("data.text");
    const auto validated = [&](const QString& text) {
      return set("validation.every=1") + set("validation.text=[\"" + text + "\"]");
    };
    QTest::newRow("missing validation text")
        << validated("nowhere.txt") << QByteArray("validation.text: ");
    QTest::newRow("validation text too short")
        << validated(short_) << QByteArray("validation.text: 4 tokens, but one sample");
    QTest::newRow("prompt too long")
        << validated(kData + "tinyshakespeare.txt") + set("validation.tokens=31") +
               set("validation.prompt=\"To be or not\"")
        << QByteArray("validation.prompt: ");
  }
  void a_checkpoint_that_is_refused_is_the_only_fault() {
    const QString folder = folder_.filePath("refused");
    QVERIFY(QDir().mkpath(folder));
    QFile config(folder + "/config.json");
    for (const char* text : {"{ not JSON", R"({"model_type": "gpt2"})"}) {
      QVERIFY(config.open(QFile::WriteOnly) && config.write(text) > 0);
      config.close();
      QFile recipe(folder_.filePath("from.toml"));
      QVERIFY(recipe.open(QFile::WriteOnly));
      recipe.write(("[model]\ncheckpoint = \"" + folder + "\"\n[data]\ntext = [\"" + kData +
                    "tinyshakespeare.txt\"]\ntokenizer = \"" + kData + "tokenizer.json\"\n")
                       .toUtf8());
      recipe.close();
      const auto run = run_engine({"train", recipe.fileName()});
      QCOMPARE(run.exit_code, 2);
      QVERIFY2(run.err.contains("from.toml:2:14: model.checkpoint: "), run.err.constData());
      QVERIFY2(run.err.count('\n') == 1, run.err.constData());
    }
  }

  void bad_input_ends_with_2_and_a_line() {
    QFETCH(QStringList, sets);
    QFETCH(QByteArray, says);
    const auto run = train(sets);
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.contains(says), run.err.constData());
    QVERIFY(run.out.isEmpty());
  }
};

HEDDLE_TEST(TrainingTest)
#include "training_test.moc"
