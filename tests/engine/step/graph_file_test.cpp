// A text that `graph` printed trains as the recipe does, whichever pass was its last; what
// contradicts the recipe is refused with both values, before anything is trained.
#include <QFile>
#include <QJsonArray>
#include <QMap>
#include <QTemporaryDir>
#include <QTest>

#include "engine/passes/pipeline.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

class GraphFileTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QString recipe_, file_;
  QMap<QStringList, QByteArray> printed_;

  // Once for all cases that ask the same.
  QByteArray printed(const QStringList& more = {}) {
    if (const auto known = printed_.constFind(more); known != printed_.cend()) return *known;
    const auto run = run_engine(QStringList{"graph", recipe_, "--ranks", "2"} + more);
    if (run.exit_code != 0) qFatal("%s", run.err.constData());
    return printed_[more] = run.out;
  }

  EngineResult train(const QStringList& more = {}) {
    const QStringList ranks =
        more.contains("--ranks") ? QStringList{} : QStringList{"--ranks", "2"};
    return run_engine(QStringList{"train", recipe_, "--quiet"} + ranks + more);
  }

  EngineResult train_by(const QByteArray& text, const QStringList& more = {}) {
    QFile file(file_);
    if (!file.open(QFile::WriteOnly) || file.write(text) != text.size()) return {};
    file.close();
    return train(QStringList{"--graph", file_} + more);
  }

  /// Refused before training, in one of our own lines that has all of `says`.
  bool refused(const EngineResult& run, const QStringList& says) {
    bool in_one = false;
    for (const QByteArray& line : run.err.split('\n'))
      in_one = in_one || std::all_of(says.begin(), says.end(), [&](const QString& each) {
                 return line.contains(each.toUtf8());
               });
    const bool plain = !run.err.contains("map::at") && !run.err.contains("Exception");
    if (run.exit_code == 2 && run.out.isEmpty() && in_one && plain) return true;
    qWarning("exit code %d: %s", run.exit_code, run.err.constData());
    return false;
  }

 private Q_SLOTS:
  void initTestCase() {
    recipe_ = folder_.filePath("small.toml");
    file_ = folder_.filePath("step.graph");
    QFile file(recipe_);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(small_recipe(R"(
[training]
steps = 3
local_batch = 1
global_batch = 4
[optimizer]
lr = 1e-2
[recompute]
mode = "full"
)"));
  }

  void a_text_after_any_pass_trains_the_same() {
    const auto captured = train();
    QVERIFY2(captured.exit_code == 0, captured.err.constData());
    QStringList passes{"capture"};
    for (const heddle::passes::Pass& pass : heddle::passes::all_passes()) passes << pass.name;
    for (const QString& pass : passes) {
      const auto run = train_by(printed({"--after", pass}));
      QVERIFY2(run.exit_code == 0, qPrintable(pass + ": " + run.err));
      QCOMPARE(run.results()["losses"], captured.results()["losses"]);
      QCOMPARE(run.results()["model_forward_calls"].toInt(), 0);
    }
  }

  void a_pipeline_trains_by_what_its_ranks_have_in_common() {
    const QStringList pipeline{"--set", "parallelism.pp=2", "--set", "training.local_batch=2"};
    const auto captured = train(pipeline);
    QVERIFY2(captured.exit_code == 0, captured.err.constData());
    const auto run = train_by(printed(pipeline + QStringList{"--after", "recompute"}), pipeline);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["losses"], captured.results()["losses"]);
    QVERIFY(refused(train_by(printed(pipeline + QStringList{"--after", "stage"}), pipeline),
                    {"step.graph:2: after: the graph is one rank's of a pipeline after the pass "
                     "stage, and every rank needs its own; valid: "}));
  }

  void what_contradicts_the_recipe_is_refused_with_both_values_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("recipe");
    const auto row = [](const char* key, const char* graph, const char* recipe) {
      QTest::newRow(key) << key << graph << recipe;
    };
    row("model.n_layers", "2", "3");
    row("model.norm_eps", "1e-5", "1e-3");
    row("data.seq_len", "32", "16");
    row("data.document_mask", "false", "true");
    row("training.max_norm", "1.0", "0.5");
    row("training.global_batch", "4", "2");
    row("optimizer.weight_decay", "0.1", "0.2");
    row("optimizer.name", "\"adamw\"", "\"sgd\"");
    row("optimizer.betas", "[0.9, 0.95]", "[0.9, 0.99]");
    row("optimizer.eps", "1e-8", "1e-6");
    row("precision.param", "\"fp32\"", "\"bf16\"");
    row("parallelism.tp", "1", "2");
  }
  void what_contradicts_the_recipe_is_refused_with_both_values() {
    QFETCH(QString, key);
    QFETCH(QString, graph);
    QFETCH(QString, recipe);
    QStringList sets{"--set", key + "=" + recipe};
    if (key == "parallelism.tp")
      sets << "--set"
           << "model.dim=64"
           << "--set"
           << "model.n_heads=4"
           << "--set"
           << "model.n_kv_heads=4";
    const QByteArray text = printed();
    const qsizetype at = text.indexOf(("note " + key + " = ").toUtf8());
    QVERIFY(at > 0);
    QVERIFY(refused(train_by(text, sets),
                    {QString("step.graph:%1: %2: the graph says %3, the recipe %4; valid: %3 ")
                         .arg(text.left(at).count('\n') + 1)
                         .arg(key, graph, recipe)}));
  }

  void other_ranks_are_refused() {
    const QByteArray text = printed();
    QVERIFY(refused(train_by(text, {"--ranks", "1"}),
                    {"hardware.ranks: the graph says 2, the recipe 1; valid: "}));
  }

  // A captured step is still to be recomputed and wrapped; later ones are so already.
  void what_a_later_pass_decides_binds_only_after_it() {
    const QStringList wrapped{"--set", "wrapping.mode=\"layers\"", "--set",
                              "recompute.mode=\"none\""};
    QCOMPARE(train_by(printed(), wrapped).exit_code, 0);
    const auto run = train_by(printed({"--after", "bucket"}), wrapped);
    QVERIFY(refused(run, {"wrapping.mode: the graph says \"auto\", the recipe \"layers\""}));
    QVERIFY(refused(run, {"recompute.mode: the graph says \"full\", the recipe \"none\""}));
  }

  void a_text_that_says_nothing_of_itself_is_refused() {
    QByteArrayList lines = printed().split('\n');
    lines.removeIf([](const QByteArray& line) { return line.startsWith("note "); });
    QVERIFY(refused(train_by(lines.join('\n')),
                    {"step.graph: model.dim: the graph does not say what it was made with"}));
  }

  void the_eager_mode_reads_no_graph() {
    QVERIFY(refused(train_by(printed(), {"--mode", "eager"}),
                    {"--graph: ", "the eager mode runs the model and reads no graph; valid: "}));
  }

  void a_text_cut_short_is_refused() {
    const QByteArray text = printed();
    const qsizetype half = text.indexOf('\n', text.size() / 2) + 1;
    QVERIFY(refused(train_by(text.left(half)), {"step.graph:", ": the graph is cut short after "}));
  }

  // An edit may change what is computed, but not what is read, kept and given.
  void an_edit_that_training_cannot_follow_is_refused() {
    const QByteArray text = printed();
    const auto without = [&](const char* what) {
      QByteArrayList lines = text.split('\n');
      lines.removeIf([&](const QByteArray& line) { return line.contains(what); });
      return lines.join('\n');
    };
    const auto with = [&](const char* what, const char* instead) {
      return QByteArray(text).replace(what, instead);
    };
    QVERIFY(
        refused(train_by(without("] loss_max")),
                {"step.graph: output loss_max: training reads it (f32[]), the graph does not"}));
    QVERIFY(refused(train_by(with("] tokens\n", "] words\n")),
                    {"step.graph:", ": input words: the recipe's step has none of that name"}));
    QVERIFY(refused(
        train_by(with("] layers.1.attention.wq.weight\n", "] layers.2.attention.wq.weight\n")),
        {"step.graph:", ": state layers.2.attention.wq.weight: the recipe's step has none"}));
    QVERIFY(refused(
        train_by(with("] layers.1.attention.wq.weight\n", "] layers.2.attention.wq.weight\n")),
        {"step.graph: state layers.1.attention.wq.weight: the recipe's step keeps it (f32[27, "
         "54])"}));
    QVERIFY(refused(train_by(with("group dp_shard = 2\n", "group dp_shard = 3\n")),
                    {"step.graph:", ": group dp_shard: the graph says 3 ranks, the recipe 2; "}));
    QVERIFY(refused(train_by(with("note after = capture", "note after = lunch")),
                    {"step.graph:2: after: \"lunch\" is no pass; valid: capture, recompute, "}));
  }
};

HEDDLE_TEST(GraphFileTest)
#include "graph_file_test.moc"
