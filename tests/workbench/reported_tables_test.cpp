// Public bug reports about other tools' run tables, groups, tags and CSV files, tried on Heddle's
// commands. Each case names its reports.
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "engine/recipe/parse.h"
#include "engine/telemetry/log_reader.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using nlohmann::json;

class ReportedTablesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    writer_ = must(storage::Writer::open(store()));
    must(writer_->take_lease());
  }
  void cleanup() {
    writer_.reset();
    folder_.reset();
  }

  // wandb 9777: a learning rate of 0.003 split into several groups, labelled with another number.
  void one_value_however_spelled_is_one_group() {
    add("plain", values_of("[optimizer]\nlr = 0.003\n"), {3});
    add("exponent", values_of("[optimizer]\nlr = 3e-3\n"), {2});
    add("zeros", values_of("[optimizer]\nlr = 0.0030\n"), {1});
    add("other", values_of("[optimizer]\nlr = 3e-4\n"), {5});
    const json groups = runs({"--group", "lr", "--columns", "loss"});
    QCOMPARE(groups.size(), size_t{2});
    const json& three = groups[groups[0]["runs"].size() == 3 ? 0 : 1];
    QCOMPARE(three["runs"].size(), size_t{3});
    QCOMPARE(three["columns"]["loss"]["mean"], json(2.0));
    const std::string text = heddle({"runs", "--group", "lr"}).out;
    QVERIFY2(text.find("0.003") != std::string::npos || text.find("3e-3") != std::string::npos,
             text.c_str());
  }

  // wandb 8154, 3404, 6672: a group's maximum was no run's, and its mean covered a hundred runs.
  void figures_of_a_large_group_are_of_all_its_runs() {
    double sum = 0;
    for (int i = 0; i < 250; ++i) {
      add("run-" + std::to_string(i), {{"model.preset", "\"a\""}}, {4, 1 + 0.01 * i});
      sum += 1 + 0.01 * i;
    }
    const json groups = runs({"--group", "preset", "--columns", "loss,max(loss)"});
    QCOMPARE(groups.size(), size_t{1});
    const json& loss = groups[0]["columns"]["loss"];
    QCOMPARE(loss["count"], json(250));
    QVERIFY(std::abs(loss["mean"].get<double>() - sum / 250) < 1e-9);
    QCOMPARE(loss["min"], json(1.0));
    QVERIFY(std::abs(loss["max"].get<double>() - 3.49) < 1e-9);
    QCOMPARE(groups[0]["columns"]["max(loss)"]["max"], json(4.0));
    // mlflow 5365: sorting showed the best of only the first hundred.
    const json best = runs({"--sort", "loss", "--limit", "1"});
    QCOMPARE(best[0]["name"], json("run-0"));
  }

  // wandb 9046: runs without a key are a group of their own in the tree.
  void runs_without_the_inner_key_are_a_group_of_it() {
    add("adam-1", {{"optimizer.name", "\"adamw\""}, {"optimizer.beta", "0.9"}}, {1});
    add("adam-2", {{"optimizer.name", "\"adamw\""}, {"optimizer.beta", "0.95"}}, {2});
    add("sgd", {{"optimizer.name", "\"sgd\""}}, {3});
    const json groups = runs({"--group", "optimizer.name,optimizer.beta", "--columns", "loss"});
    QCOMPARE(groups.size(), size_t{2});
    for (const json& outer : groups) {
      const bool is_sgd = outer["runs"] == json{"sgd"};
      QCOMPARE(outer["groups"].size(), is_sgd ? size_t{1} : size_t{2});
      if (is_sgd) QVERIFY(outer["groups"][0]["group"].is_null());
    }
  }

  // wandb 6603, 4501: samples were missing from the downloaded file. mlflow 22826: infinity became
  // another number in it.
  void a_csv_file_has_every_sample() {
    add("odd", {}, {3, NAN, INFINITY, -INFINITY, 1e-300, 0.1 + 0.2});
    const std::string to = folder_->filePath("out").toStdString();
    const auto done = heddle({"export", "odd", "--to", to});
    QVERIFY2(done.exit_code == 0, done.err.c_str());
    std::ifstream file(to + "/metrics.csv");
    std::string line;
    QStringList values;
    QVERIFY(std::getline(file, line));
    QCOMPARE(QString::fromStdString(line), QString("step,rank,time,loss"));
    while (std::getline(file, line)) values << QString::fromStdString(line).section(',', 3);
    QCOMPARE(values.size(), 6);
    QCOMPARE(values[5].toDouble(), 0.1 + 0.2);
    QCOMPARE(values[4].toDouble(), 1e-300);
    QCOMPARE((values.mid(1, 3)), (QStringList{"nan", "inf", "-inf"}));
  }

  // mlflow 3406, nni 2775: with one run with NaN or without the metric, sorting failed or put it
  // first.
  void sorting_puts_nan_and_nothing_last_both_ways() {
    add("two", {}, {2});
    add("nan", {}, {NAN});
    add("none", {}, {});
    add("one", {}, {1});
    QCOMPARE(names({"--sort", "loss"}), QString("one two nan none"));
    QCOMPARE(names({"--sort", "-loss"}), QString("two one nan none"));
  }

  // mlflow 2956, 6348: numbers such as 1e-5 and 9e-6 were sorted as words.
  void numbers_sort_as_numbers_however_written() {
    for (const char* lr : {"3e-4", "9e-06", "0.01", "1e-5", "10", "2"})
      add(std::string("lr-") + lr, {{"optimizer.lr", lr}}, {1});
    QCOMPARE(names({"--sort", "lr"}), QString("lr-9e-06 lr-1e-5 lr-3e-4 lr-0.01 lr-2 lr-10"));
  }

  // mlflow 789: names with "and" in them, metrics with a slash or a dash, and negative values could
  // not be searched for.
  void a_filter_takes_any_name_and_negative_numbers() {
    add("random and forest", {}, {-0.75}, "hidden-layer/weights");
    add("randomforest", {}, {0.5}, "hidden-layer/weights");
    QCOMPARE(names({"--filter", "name = \"random and forest\""}), QString("random and forest"));
    QCOMPARE(names({"--filter", "name:randomforest"}), QString("randomforest"));
    QCOMPARE(names({"--filter", "last(hidden-layer/weights) < -0.5"}),
             QString("random and forest"));
    QCOMPARE(names({"--filter", "last(hidden-layer/weights) > -0.5"}), QString("randomforest"));
    QCOMPARE(names({"--filter", "hidden-layer/weights < -0.5"}), QString("random and forest"));
    QCOMPARE(names({"--filter", "\"hidden-layer/weights\" > -0.5"}), QString("randomforest"));
    add("odd", {}, {7}, "acc @ 5 (%)");
    QCOMPARE(names({"--filter", "\"acc @ 5 (%)\" > 6"}), QString("odd"));
  }

  // mlflow 20594: runs that have any tag could not be found.
  void a_filter_finds_runs_with_any_tag() {
    add("tagged", {}, {1});
    add("bare", {}, {1});
    must(writer_->change_tags(id_of("tagged"), {"base line"}));
    QCOMPARE(names({"--filter", "tags ~ *"}), QString("tagged"));
    QCOMPARE(names({"--filter", "not tags ~ *"}), QString("bare"));
  }

  // tensorboard 5498, mlflow 813: rows in the file did not name their run.
  void every_table_names_its_runs() {
    add("first", {{"optimizer.lr", "1e-3"}}, {1});
    const json rows = runs({"--columns", "lr"});
    QCOMPARE(rows[0]["name"], json("first"));
    QVERIFY(rows[0]["id"].is_number());
    const auto text = heddle({"runs", "--columns", "lr"}).out;
    QVERIFY2(text.starts_with("ID") && text.find("first") != std::string::npos, text.c_str());
  }

  // mlflow 2416, SwanLab 358: a comma, a quote or a line break in a value broke the table or file.
  void commas_quotes_and_lines_stay_in_their_cell() {
    add("odd", {{"data.field", "\"a, \\\"b\\\"\""}}, {1});
    must(writer_->set_notes(id_of("odd"), "one, \"two\"\nthree"));
    must(writer_->change_tags(id_of("odd"), {"x,y", "q\"q"}));
    const auto csv = heddle({"sql", "SELECT name, notes FROM runs", "--csv"});
    QVERIFY2(csv.out.find("odd,\"one, \"\"two\"\"\nthree\"") != std::string::npos, csv.out.c_str());
    const auto table = heddle({"runs", "--columns", "notes,tags,field"});
    QCOMPARE(QString::fromStdString(table.out).count('\n'), 2);  // the header and one row
    QCOMPARE(names({"--filter", "tags has \"x,y\""}), QString("odd"));
    QCOMPARE(names({"--filter", "tags has 'q\"q'"}), QString("odd"));
  }

 private:
  std::string store() const { return folder_->filePath("heddle.sqlite").toStdString(); }

  using Keys = std::vector<std::pair<std::string, std::string>>;

  /// Like the values that a launch or an import writes.
  static Keys values_of(const std::string& recipe) {
    return recipe::flatten(recipe::resolve(recipe::parse(recipe, "recipe.toml")).recipe);
  }

  void add(const std::string& name, const Keys& values, const std::vector<double>& losses,
           const std::string& metric = "loss") {
    storage::NewRun run;
    run.name = name;
    run.target = "local";
    run.created = 1.76e9 + ++made_;
    run.recipe_values = values;
    const auto id = must(writer_->create_run(run)).id;
    std::string log;
    int64_t step = 0;
    for (const double loss : losses) {
      const telemetry::Step record{++step, run.created + double(step), {{metric, loss}}};
      log += must(telemetry::encode(record, static_cast<uint64_t>(step - 1)));
    }
    if (!losses.empty()) must(writer_->ingest(id, 0, 0, 0, log));
    must(writer_->set_state(id, storage::RunState::done));
  }

  storage::RunId id_of(const std::string& name) const {
    return must(must(storage::Reader::open(store())).find_run(name)).id;
  }

  process::Completed heddle(std::vector<std::string> words) const {
    words.insert(words.begin(), HEDDLE_BINARY_DIR "/command_driver");
    words.insert(words.end(), {"--store", store()});
    return must(process::run({.argv = words, .deadline = std::chrono::seconds(60)}));
  }
  json runs(std::vector<std::string> words) const {
    words.insert(words.begin(), "runs");
    words.emplace_back("--json");
    const process::Completed done = heddle(words);
    if (done.exit_code != 0) qWarning("%s", done.err.c_str());
    return done.exit_code == 0 ? json::parse(done.out) : json::array();
  }
  QString names(const std::vector<std::string>& words) const {
    QStringList found;
    for (const json& run : runs(words)) found << QString::fromStdString(run["name"]);
    return found.join(' ');
  }

  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<storage::Writer> writer_;
  int made_ = 0;
};

HEDDLE_TEST(ReportedTablesTest)
#include "reported_tables_test.moc"
