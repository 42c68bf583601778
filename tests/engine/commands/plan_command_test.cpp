// `heddle-engine plan` and `plan --serve`, as a user and as the workbench start them.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

const QString kRecipe = QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/debug.toml";

// Little enough to be planned at once; no text is read.
const char* kSmall =
    "[model]\ndim = 64\nn_layers = 4\nn_heads = 4\nffn_dim = 128\nvocab_size = 256\n"
    "[data]\nseq_len = 64\n[training]\nlocal_batch = 4\n[hardware]\nranks = 2\n";

QJsonObject planned(const QStringList& arguments) {
  const auto run = run_engine(QStringList{"plan", kRecipe, "--json"} + arguments);
  if (run.exit_code != 0) qWarning("%s", run.err.constData());
  return run.results();
}

// A server, spoken to line by line.
class Server {
 public:
  Server() { process_.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine", {"plan", "--serve"}); }
  ~Server() {
    process_.closeWriteChannel();
    process_.waitForFinished(60000);
  }
  void ask(const QByteArray& line) { process_.write(line + "\n"); }
  void ask(int id, const QString& recipe, const QString& key = {}) {
    const QJsonObject request{{"id", id}, {"key", key}, {"recipe", recipe}, {"file", "a.toml"}};
    ask(QJsonDocument(request).toJson(QJsonDocument::Compact));
  }
  QJsonObject answer() {
    while (!process_.canReadLine())
      if (!process_.waitForReadyRead(60000)) return {};
    return QJsonDocument::fromJson(process_.readLine()).object();
  }
  int end() {
    process_.closeWriteChannel();
    process_.waitForFinished(60000);
    return process_.exitStatus() == QProcess::NormalExit ? process_.exitCode() : -1;
  }

 private:
  QProcess process_;
};

QStringList words_of(const QJsonValue& list) {
  QStringList words;
  for (const QJsonValue word : list.toArray()) words << word.toString();
  return words;
}

double sum(const QJsonObject& numbers) {
  double sum = 0;
  for (const QJsonValue number : numbers) sum += number.toDouble();
  return sum;
}

}  // namespace

class PlanCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qputenv("XDG_CACHE_HOME", cache_.path().toUtf8()); }

  void parts_add_up() {
    const QJsonObject plan = planned({});
    QVERIFY(plan["step_seconds"].toDouble() > 0);
    QCOMPARE(sum(plan["memory"].toObject()), plan["peak_bytes"].toDouble());
    for (const QJsonValue each : plan["ranks_shown"].toArray()) {
      const QJsonObject rank = each.toObject();
      const double parts = rank["compute_seconds"].toDouble() + rank["exposed_seconds"].toDouble() +
                           rank["bubble_seconds"].toDouble() + rank["idle_seconds"].toDouble();
      QVERIFY(qAbs(parts - rank["step_seconds"].toDouble()) < 1e-9);
      QCOMPARE(sum(rank["memory"].toObject()), rank["peak_bytes"].toDouble());
    }
    QCOMPARE(plan["plan_hash"].toString().size(), 32);
  }

  void a_pipeline_has_a_bubble_and_a_rank_a_stage() {
    const QJsonObject plan =
        planned({"--ranks", "4", "--set", "parallelism.pp=4", "--set", "training.local_batch=8"});
    QCOMPARE(plan["ranks_shown"].toArray().size(), 4);
    const QJsonObject first = plan["ranks_shown"].toArray().first().toObject();
    const double bubble = plan["bubble_seconds"].toDouble();
    // 1F1B: (stages − 1) / (micro-batches + stages − 1) = 3 / 7 of the step, less what the first
    // and the last stage do besides layers.
    QVERIFY2(bubble > 0.2 * plan["step_seconds"].toDouble(), qPrintable(QString::number(bubble)));
    QVERIFY(first["ranks"].toInt() == 1);
  }

  // 80 layers wait a little each, with a pipeline and without: what they wait for is named, each
  // transfer once.
  void what_many_layers_wait_for_is_told_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("tensors") << QStringList{};
    QTest::newRow("tensors, accumulated")
        << QStringList{"--set", "training.local_batch=1", "--set", "training.global_batch=512"};
    QTest::newRow("a pipeline") << QStringList{"--set", "parallelism.pp=4", "--set",
                                               "parallelism.dp_shard=8"};
  }
  void what_many_layers_wait_for_is_told() {
    QFETCH(QStringList, arguments);
    const auto run = run_engine(
        QStringList{"plan",
                    QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/llama3-70b-256xh100.toml",
                    "--set", "model.vocab_size=128256", "--json"} +
        arguments);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonObject plan = run.results();
    QVERIFY(plan["exposed_seconds"].toDouble() > 0.01 * plan["step_seconds"].toDouble());
    const QJsonArray exposed = plan["exposed"].toArray();
    QVERIFY(exposed.size() >= 10);
    QStringList names;
    double seconds = 0;
    for (const QJsonValue each : exposed) {
      const QJsonObject transfer = each.toObject();
      names << QString("%1 of %2").arg(transfer["node"].toString()).arg(transfer["rank"].toInt());
      if (transfer["rank"].toInt() == 0) seconds += transfer["seconds"].toDouble();
      QVERIFY(!transfer["why"].toString().isEmpty());
    }
    QCOMPARE(names.removeDuplicates(), 0);
    QVERIFY(seconds <= 1.001 * plan["exposed_seconds"].toDouble());
  }

  // The plan that is predicted is the one that all ranks run, and the log has it.
  void what_is_predicted_is_run_data() {
    QTest::addColumn<QStringList>("layout");
    QTest::newRow("shards") << QStringList{"--ranks", "2"};
    QTest::newRow("a pipeline") << QStringList{"--ranks", "2", "--set", "parallelism.pp=2"};
    QTest::newRow("tensors") << QStringList{"--ranks", "2", "--set", "parallelism.tp=2"};
    QTest::newRow("wrapped automatically")
        << QStringList{"--ranks", "2", "--set", "wrapping.mode=\"auto\""};
  }
  void what_is_predicted_is_run() {
    QFETCH(QStringList, layout);
    const QString folder = cache_.filePath(QTest::currentDataTag());
    const auto run =
        run_engine(QStringList{"train", kRecipe, "--run-dir", folder, "--set", "training.steps=2",
                               "--set", "schedule.warmup_steps=0", "--quiet"} +
                   layout);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QString predicted = planned(layout)["plan_hash"].toString();
    QCOMPARE(run.results()["plan_hash"].toString(), predicted);
    const auto log = run_engine({"log", folder, "--json"});
    int ranks = 0;
    for (const QByteArray& line : log.out.split('\n')) {
      const QJsonObject event = QJsonDocument::fromJson(line).object();
      const QString hash = event["environment"].toObject()["plan"].toString();
      if (!hash.isEmpty() && hash == predicted) ++ranks;
      QVERIFY(!event["text"].toString().contains("not the predicted one"));
    }
    QCOMPARE(ranks, 2);
  }

  void a_timeline_has_spans_and_memory() {
    const QString file = cache_.filePath("timeline.json");
    planned({"--timeline", file});
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QJsonObject plan = QJsonDocument::fromJson(written.readAll()).object();
    const QJsonObject rank = plan["timelines"].toArray().first().toObject();
    qint64 last = 0;
    const QJsonArray starts = rank["start"].toArray(), durations = rank["duration"].toArray();
    for (int i = 0; i < starts.size(); ++i)
      last = qMax(last, starts[i].toInteger() + durations[i].toInteger());
    QVERIFY(qAbs(double(last) * 1e-6 - plan["step_seconds"].toDouble()) <
            0.02 * plan["step_seconds"].toDouble());
    const QJsonObject memory = rank["memory"].toObject();
    double most = 0;
    for (int i = 0; i < memory["time"].toArray().size(); ++i) {
      double bytes = 0;
      for (const QString& category : memory.keys())
        if (category != "time") bytes += memory[category].toArray()[i].toDouble();
      most = qMax(most, bytes);
    }
    QCOMPARE(most, plan["peak_bytes"].toDouble());
  }

  // The recipe of 8B, without its texts.
  QJsonObject planned_8b(const QStringList& arguments) {
    const QString recipe = QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/llama3-8b-8xh100.toml";
    const auto run = run_engine(
        QStringList{"plan", recipe, "--json", "--set", "model.vocab_size=128256"} + arguments);
    if (run.exit_code != 0) qWarning("%s", run.err.constData());
    return run.results();
  }

  void hardware_of_the_catalogue_is_planned_for() {
    const QJsonObject own = planned_8b({});
    QCOMPARE(own["hardware"].toString(), QString("h100-sxm"));
    QVERIFY(own["hardware_words"].toString().startsWith("8 × NVIDIA H100 SXM 80 GB, NVSwitch"));
    QVERIFY(own["sources"].toArray().first().toString().startsWith("measured: "));
    // A step of 8B has at least the FLOPs of its parameters, and no GPU does more than its peak.
    const double mfu = own["mfu"].toDouble();
    QVERIFY2(mfu > 0.2 && mfu < 0.8, qPrintable(QString::number(mfu)));
    const auto step = [&](const QStringList& arguments) {
      return planned_8b(arguments)["step_seconds"].toDouble();
    };
    const double heddle = own["step_seconds"].toDouble(),
                 compiled = step({"--executor", "compiled"}), eager = step({"--executor", "eager"});
    QVERIFY2(heddle < compiled && compiled < eager,
             qPrintable(QString("%1 %2 %3").arg(heddle).arg(compiled).arg(eager)));
    QVERIFY(step({"--hardware", "a100-80"}) > heddle);
    QVERIFY(step({"--hardware", "h100-sxm@ethernet-10g", "--set", "parallelism.dp_shard=-1",
                  "--ranks", "16"}) >
            step({"--hardware", "h100-sxm", "--set", "parallelism.dp_shard=-1", "--ranks", "16"}));
  }

  // As racks are sold and used: 64 of 72 devices of each.
  void racks_are_used_in_part_data() {
    QTest::addColumn<int>("ranks");
    for (const int ranks : {128, 256, 512}) QTest::addRow("%d", ranks) << ranks;
  }
  void racks_are_used_in_part() {
    QFETCH(int, ranks);
    const QJsonObject plan = planned_8b({"--hardware", "gb200", "--ranks", QString::number(ranks),
                                         "--set", "parallelism.dp_shard=-1"});
    QCOMPARE(plan["ranks"].toInt(), ranks);
    QVERIFY(plan["step_seconds"].toDouble() > 0);
    QVERIFY(plan["hardware_words"].toString().startsWith("72 × NVIDIA GB200"));
    const QString said =
        QString("%1 ranks use 64 of the 72 devices of each of %2 nodes").arg(ranks).arg(ranks / 64);
    QVERIFY2(words_of(plan["remarks"]).contains(said),
             qPrintable(words_of(plan["remarks"]).join('\n')));
  }

  void a_plan_says_how_sure_it_is_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("never");  // measured
    QTest::newRow("Heddle's own") << QStringList{}
                                  << "Heddle has never run on NVIDIA H100 SXM 80 GB";
    QTest::newRow("torch.compile") << QStringList{"--executor", "compiled"} << "";
    QTest::newRow("a program on hardware that its runs were on")
        << QStringList{"--executor", "megatron"} << "";
    QTest::newRow("a program on other hardware")
        << QStringList{"--executor", "nanotron", "--hardware", "b300"}
        << "no run of nanotron on b300 was published";
  }
  void a_plan_says_how_sure_it_is() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, never);
    const QJsonObject plan = planned_8b(arguments), interval = plan["interval"].toObject();
    QCOMPARE(plan["never_measured"].toString(), never);
    QCOMPARE(plan["refined_by_runs"].toInt(), 0);
    const double step = plan["step_seconds"].toDouble(), bytes = plan["peak_bytes"].toDouble();
    QVERIFY(interval["step_low"].toDouble() <= step && step <= interval["step_high"].toDouble());
    QVERIFY(interval["step_low"].toDouble() < interval["step_high"].toDouble());
    QVERIFY(interval["bytes_low"].toDouble() < bytes && bytes < interval["bytes_high"].toDouble());
    QVERIFY(interval["words"].toString().startsWith("nine times in ten, "));
  }

  void products_in_8_bits_have_their_own_rates_and_peak() {
    const QJsonObject bf16 = planned_8b({}),
                      fp8 = planned_8b({"--set", "precision.float8=rowwise"});
    QVERIFY(fp8["step_seconds"].toDouble() < 0.95 * bf16["step_seconds"].toDouble());
    QCOMPARE(bf16["peak_flops"].toDouble(), 989e12);
    QCOMPARE(fp8["peak_flops"].toDouble(), 1979e12);
    QVERIFY(!bf16["mfu_convention"].toString().contains("8 bits"));
    QVERIFY(fp8["mfu_convention"].toString().endsWith("; of the peak of products in 8 bits"));
    // An A100 has no units for them.
    const QStringList a100{"--hardware", "a100-80", "--set", "precision.float8=rowwise"};
    const QJsonObject none = planned_8b(a100);
    QCOMPARE(none["peak_flops"].toDouble(), 312e12);
    QCOMPARE(none["step_seconds"], planned_8b({"--hardware", "a100-80"})["step_seconds"]);
    QVERIFY(none["remarks"].toArray().first().toString().contains("no units for 8 bits"));
  }

  void a_cluster_that_does_not_divide_is_told_with_the_nearest_that_does_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("into nodes")
        << QStringList{"--hardware", "h100-sxm", "--ranks", "12"}
        << QByteArray(
               "hardware.ranks: 12 ranks do not fill nodes of 8 devices: the last has 4; "
               "valid: 8 or 16");
    QTest::newRow("into racks")
        << QStringList{"--hardware", "gb200", "--ranks", "130"}
        << QByteArray(
               "hardware.ranks: 130 ranks do not fill nodes of 72 devices: the last has 58; "
               "valid: 128 or 132");
    QTest::newRow("into the mesh")
        << QStringList{"--ranks", "10", "--set", "parallelism.tp=4"}
        << QByteArray("valid: 8 or 12 ranks, or degrees whose product divides 10");
    QTest::newRow("into a mesh that is larger")
        << QStringList{"--ranks", "2", "--set", "parallelism.tp=4"}
        << QByteArray("valid: 4 ranks, or degrees whose product divides 2");
  }
  void a_cluster_that_does_not_divide_is_told_with_the_nearest_that_does() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, says);
    const auto run = run_engine(QStringList{"plan", kRecipe} + arguments);
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.contains(says), run.err.constData());
  }

  void a_cluster_that_does_not_divide_is_a_fault_to_servers() {
    Server server;
    server.ask(1, QString(kSmall).replace("ranks = 2", "ranks = 20\nname = \"h100-sxm\""));
    const QJsonObject fault = server.answer()["faults"].toArray().first().toObject();
    QCOMPARE(fault["key"].toString(), QString("hardware.ranks"));
    QCOMPARE(fault["line"].toInt(), 12);
    QCOMPARE(fault["valid"].toString(), QString("16 or 24"));
  }

  // 70B on eight GPUs fits on no layout, 8B with a large batch on others; each way that is named is
  // planned again, by itself.
  void what_does_not_fit_is_told_with_what_would_close_it_data() {
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("category");
    QTest::addColumn<bool>("fits_on_these_ranks");
    QTest::newRow("too few ranks")
        << "llama3-70b-256xh100" << QStringList{"--ranks", "8", "--set", "parallelism.dp_shard=1"}
        << "optimizer" << false;
    QTest::newRow("a large batch")
        << "llama3-8b-8xh100" << QStringList{"--set", "training.local_batch=16"} << "activations"
        << true;
  }
  void what_does_not_fit_is_told_with_what_would_close_it() {
    QFETCH(QString, recipe);
    QFETCH(QStringList, arguments);
    QFETCH(QString, category);
    QFETCH(bool, fits_on_these_ranks);
    const QStringList base =
        QStringList{"plan", QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/" + recipe + ".toml",
                    "--set", "model.vocab_size=128256"} +
        arguments;
    const auto run = run_engine(base + QStringList{"--json"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonObject plan = run.results(), lacks = plan["shortfall"].toObject();
    QCOMPARE(plan["fits"].toBool(), false);
    QCOMPARE(lacks["bytes"].toDouble(),
             plan["peak_bytes"].toDouble() - plan["limit_bytes"].toDouble());
    QCOMPARE(lacks["rank"], plan["peak_rank"]);
    QCOMPARE(lacks["category"].toString(), category);
    QCOMPARE(lacks["category_bytes"], plan["memory"].toObject()[category]);
    const QJsonArray ways = lacks["closed_by"].toArray();
    QVERIFY(!ways.isEmpty());
    QCOMPARE(ways.first().toObject()["ranks"] == plan["ranks"], fits_on_these_ranks);
    QCOMPARE(lacks.contains("least"), !fits_on_these_ranks);
    for (const QJsonValue one : ways)
      for (const QJsonValue other : ways) {
        // No remedy is another one with more on top.
        const QStringList few = words_of(one["sets"]), many = words_of(other["sets"]);
        const bool here = one["ranks"] == other["ranks"] && one != other;
        QVERIFY2(!here || !std::ranges::all_of(few, [&](auto& set) { return many.contains(set); }),
                 qPrintable(few.join(' ') + " is in " + many.join(' ')));
      }
    for (const QJsonValue each : ways) {
      const QJsonObject way = each.toObject();
      QStringList again = base + QStringList{"--json"};
      for (const QJsonValue set : way["sets"].toArray()) again << "--set" << set.toString();
      if (const qsizetype ranks = again.indexOf("--ranks"); way["ranks"] != plan["ranks"]) {
        if (ranks >= 0) again.remove(ranks, 2);
        again << "--ranks" << QString::number(way["ranks"].toInt());
      }
      const auto closed = run_engine(again);
      QVERIFY2(closed.exit_code == 0, closed.err.constData());
      QCOMPARE(closed.results()["fits"].toBool(), true);
      QVERIFY(!closed.results().contains("shortfall"));
      QCOMPARE(closed.results()["peak_bytes"], way["peak_bytes"]);
      QCOMPARE(closed.results()["step_seconds"], way["step_seconds"]);
    }
    const auto text = run_engine(base);
    QVERIFY2(text.out.contains("\nit lacks ") && text.out.contains("\nwould close it: --"),
             text.out.constData());
  }

  void hardware_of_a_users_own_is_planned_for() {
    const QTemporaryDir config;
    QVERIFY(QDir(config.path()).mkpath("heddle/hardware"));
    const auto write = [&](const char* name, const QByteArray& text) {
      QFile file(config.filePath(QString("heddle/hardware/") + name));
      QVERIFY(file.open(QFile::WriteOnly) && file.write(text) == text.size());
    };
    write("mine.toml",
          "[device.mine]\nlike = \"h100-sxm\"\ntitle = \"Mine\"\n"
          "memory_gib = { value = 20, from = \"guess\", source = \"mine\" }\n"
          "[node.mine]\nlike = \"h100-sxm\"\ntitle = \"a box\"\ndevice = \"mine\"\n");
    write("wrong.toml", "[network.slow]\ntitle = \"slow\"\n");
    qputenv("XDG_CONFIG_HOME", config.path().toUtf8());
    const QJsonObject plan = planned_8b({"--hardware", "mine"});
    const auto faulty = run_engine({"plan", kRecipe, "--hardware", "h100-sxm@slow"});
    qunsetenv("XDG_CONFIG_HOME");
    QCOMPARE(plan["hardware"].toString(), QString("mine"));
    QCOMPARE(plan["limit_bytes"].toDouble(), 20.0 * (1 << 30));
    QCOMPARE(plan["fits"].toBool(), false);
    const QString remark = plan["remarks"].toArray().first().toString();
    QVERIFY2(remark.contains("wrong.toml:1:1: network.slow.gb_per_s: is missing"),
             qPrintable(remark));
    QCOMPARE(faulty.exit_code, 2);
    QVERIFY2(faulty.err.contains("wrong.toml:1:1: network.slow"), faulty.err.constData());
  }

  // As `train` says it: a plan of what cannot be trained is none.
  void what_train_refuses_plan_and_search_refuse_data() {
    QTest::addColumn<QString>("set");
    for (const char* set :
         {"schedule.decay=\"wsd\"", "checkpoint.every=-1", "schedule.warmup_steps=100000",
          "checkpoint.folder=\"s3://bucket/run\"", "validation.every=-5", "data.text=7",
          "parallelism.async_tp=true", "wrapping.reshard_after_forward=1", "training.steps=0"})
      QTest::newRow(set) << set;
  }
  void what_train_refuses_plan_and_search_refuse() {
    QFETCH(QString, set);
    const QString folder = cache_.filePath("refused");
    const auto trained = run_engine({"train", kRecipe, "--run-dir", folder, "--set", set});
    QCOMPARE(trained.exit_code, 2);
    const QByteArray line = trained.err.trimmed().split('\n').last();
    QVERIFY2(line.contains("--set: " + set.section('=', 0, 0).toUtf8()), line.constData());
    for (const char* command : {"plan", "search"}) {
      const auto refused = run_engine({command, kRecipe, "--set", set});
      QCOMPARE(refused.exit_code, 2);
      QVERIFY2(refused.err.contains(line), (refused.err + "\n" + line).constData());
    }
  }

  void what_is_wrong_is_said_in_a_line() {
    const auto faulty = run_engine({"plan", kRecipe, "--set", "parallelism.tp=3"});
    QCOMPARE(faulty.exit_code, 2);
    QVERIFY2(faulty.err.contains("parallelism.tp"), faulty.err.constData());
    const auto unknown = run_engine({"plan", kRecipe, "--hardware", "abacus"});
    QCOMPARE(unknown.exit_code, 2);
    QVERIFY2(unknown.err.contains("abacus") && unknown.err.contains("valid:"),
             unknown.err.constData());
    const auto mistyped = run_engine({"plan", kRecipe, "--hardware", "h100-smx"});
    QVERIFY2(mistyped.err.contains("did you mean h100-sxm"), mistyped.err.constData());
    const auto nothing = run_engine({"plan"});
    QCOMPARE(nothing.exit_code, 2);
    const auto missing = run_engine({"plan", "no-such-file.toml"});
    QCOMPARE(missing.exit_code, 2);
    QVERIFY2(missing.err.contains("no-such-file.toml"), missing.err.constData());
  }

  void a_server_answers_each_request() {
    Server server;
    server.ask(1, kSmall);
    const QJsonObject first = server.answer();
    QCOMPARE(first["id"].toInt(), 1);
    QVERIFY2(first["plan"].toObject()["step_seconds"].toDouble() > 0,
             QJsonDocument(first).toJson().constData());
    // The same text gives the same plan, captured or remembered.
    server.ask(2, kSmall);
    QCOMPARE(server.answer()["plan"].toObject()["plan_hash"],
             first["plan"].toObject()["plan_hash"]);
    // Another wrapping of the same captured step gives another one.
    server.ask(3, QString(kSmall) + "[wrapping]\nmode = \"none\"\n");
    QVERIFY(server.answer()["plan"].toObject()["plan_hash"] !=
            first["plan"].toObject()["plan_hash"]);
    QCOMPARE(server.end(), 0);
  }

  void faults_say_where() {
    Server server;
    server.ask(1, QString(kSmall).replace("n_heads = 4", "n_heads = 5"));
    const QJsonArray faults = server.answer()["faults"].toArray();
    QVERIFY(!faults.isEmpty());
    QCOMPARE(faults.first().toObject()["key"].toString(), QString("model.n_heads"));
    QCOMPARE(faults.first().toObject()["line"].toInt(), 4);
    server.ask(2, "[model\n");
    QVERIFY(!server.answer()["faults"].toArray().isEmpty());
    // Planning needs no text, but words it must know of.
    server.ask(3, QString(kSmall).remove("vocab_size = 256\n"));
    QCOMPARE(server.answer()["faults"].toArray().first().toObject()["key"].toString(),
             QString("model.vocab_size"));
  }

  void garbage_gets_an_error_and_the_next_request_an_answer() {
    Server server;
    server.ask("no json at all \xff");
    QVERIFY(server.answer().contains("error"));
    server.ask(R"({"id": 3, "receipt": "a"})");
    const QJsonObject other = server.answer();
    QVERIFY(other.contains("error"));
    QCOMPARE(other["id"].toInt(), 3);
    server.ask("[1, 2]");
    QVERIFY(server.answer().contains("error"));
    server.ask(QByteArray(100000, '['));
    QVERIFY(server.answer().contains("error"));
    server.ask(4, kSmall);
    QVERIFY(server.answer().contains("plan"));
  }

  void a_newer_request_cancels_the_older_of_its_key() {
    Server server;
    for (int id = 1; id <= 20; ++id) server.ask(id, kSmall, "compose");
    server.ask(21, kSmall, "other");
    QMap<int, QJsonObject> answers;
    for (int i = 0; i < 21; ++i) {
      const QJsonObject answer = server.answer();
      answers[answer["id"].toInt()] = answer;
    }
    QCOMPARE(answers.size(), 21);
    QVERIFY(answers[20].contains("plan"));
    QVERIFY(answers[21].contains("plan"));
    int cancelled = 0;
    for (const QJsonObject& answer : answers) cancelled += answer["cancelled"].toBool() ? 1 : 0;
    QVERIFY2(cancelled >= 17, qPrintable(QString::number(cancelled)));
  }

 private:
  QTemporaryDir cache_;
};

HEDDLE_TEST(PlanCommandTest)
#include "plan_command_test.moc"
