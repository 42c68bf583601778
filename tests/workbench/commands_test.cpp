// The headless commands as a person types them, over runs of rank_engine.
#include <sys/mount.h>
#include <unistd.h>

#include <QScopeGuard>
#include <cmath>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/process.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/log_writer.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/targets.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using nlohmann::json;

class CommandsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;

  process::Completed heddle(std::vector<std::string> words) const {
    words.insert(words.begin(), HEDDLE_BINARY_DIR "/command_driver");
    words.insert(words.end(), {"--store", fixture_->store});
    return must(process::run({.argv = words, .deadline = std::chrono::seconds(60)}));
  }

  /// A finished run of 20 steps called `name`.
  void make_run(const std::string& name, const std::vector<std::string>& sets = {}) const {
    const auto workbench = must(Workbench::open(fixture_->store));
    LaunchRequest request = fixture_->request(20);
    request.name = name;
    request.sets = sets;
    const auto run = workbench::launch(workbench->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    if (!fixture_->ends(run->id)) qFatal("%s does not end", name.c_str());
  }

  /// A run directory of another machine: a folder of that name, with a step for each loss.
  void make_elsewhere(const std::string& name, const std::vector<double>& losses) {
    const std::string folder = fixture_->path("elsewhere/") + name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/recipe.toml") << "[model]\npreset = \"llama3-debug\"\n";
    auto log = must(telemetry::LogWriter::open(folder + "/rank-0.0.hlog"));
    const double time = 1.7e9 + 1000 * ++made_;
    must(log.append(telemetry::Start{time, 0, 1, "planned", {}, {}}));
    int64_t step = 0;
    for (const double loss : losses) {
      ++step;
      must(log.append(telemetry::Step{
          step, time + static_cast<double>(step), {{"loss", loss}, {"tokens_per_second", 1000}}}));
    }
    must(log.append(telemetry::End{
        time + 100,
        "done",
        "",
        {{"last_loss", losses.back()}, {"peak_bytes", 247'305'792}, {"step_seconds", 0.089}}}));
    must(runs::write_end(folder, {.state = "done", .finished = time + 100}));
  }
  int made_ = 0;

  static QStringList lines_of(const std::string& text) {
    return QString::fromStdString(text).split('\n', Qt::SkipEmptyParts);
  }

 private Q_SLOTS:
  void init() { fixture_ = std::make_unique<RunFixture>(); }
  void cleanup() { fixture_.reset(); }

  void an_empty_store_says_what_to_do() {
    const auto runs = heddle({"runs"});
    QCOMPARE(runs.exit_code, 0);
    QCOMPARE(runs.out, std::string("There are no runs yet; heddle launch RECIPE makes one.\n"));
    QCOMPARE(heddle({"runs", "--json"}).out, std::string("[]\n"));
  }

  void help_lists_every_command() {
    const auto help = heddle({"--help"});
    QCOMPARE(help.exit_code, 0);
    for (const char* command :
         {"launch", "stop", "tail", "remove", "restore", "import", "targets", "runs", "show", "sql",
          "compare", "export", "render", "--demo", "--version"}) {
      QVERIFY2(help.out.find(command) != std::string::npos, command);
    }
  }

  void runs_and_show_tell_of_a_run() {
    make_run("first");
    const auto table = heddle({"runs"});
    QCOMPARE(table.exit_code, 0);
    QVERIFY2(table.out.find("first  done   this-machine  debug") != std::string::npos,
             table.out.c_str());
    const json runs = json::parse(heddle({"runs", "--json"}).out);
    QCOMPARE(runs.size(), size_t(1));
    QVERIFY(runs[0]["steps"] == json(20));
    QVERIFY(runs[0]["state"] == json("done"));
    QVERIFY(runs[0]["loss"] == json(0.4));

    const json shown = json::parse(heddle({"show", "first", "--json"}).out);
    QVERIFY(shown["id"] == runs[0]["id"]);
    QVERIFY(shown["environment"]["engine"] == json("rank_engine"));
    QVERIFY(shown["series"] == json({"loss", "tokens_per_second"}));
    QVERIFY(shown["recipe"].get<std::string>().starts_with("# A test's recipe.\n"));
    const auto text = heddle({"show", "1"});
    QVERIFY2(text.out.find("loss      0.400\n") != std::string::npos, text.out.c_str());
  }

  void runs_are_filtered_sorted_and_grouped() {
    for (const auto& [name, loss] : {std::pair("a", 3.0), std::pair("b", 1.0), std::pair("c", 2.0)})
      make_elsewhere(name, {9, loss});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere")}).exit_code, 0);
    const auto names = [&](std::vector<std::string> words) {
      words.insert(words.begin(), "runs");
      words.emplace_back("--json");
      QStringList found;
      for (const json& run : json::parse(heddle(words).out))
        found += QString::fromStdString(run["name"]);
      return found.join(' ');
    };
    QCOMPARE(names({"--sort", "loss"}), QString("b c a"));
    QCOMPARE(names({"--sort", "-loss", "--limit", "2"}), QString("a c"));
    QCOMPARE(names({"--filter", "loss < 2.5", "--sort", "name"}), QString("b c"));
    QCOMPARE(names({"--filter", "best(loss) > 2"}), QString("a"));
    QCOMPARE(names({"--sort", "target,-name"}), QString("c b a"));
    const auto table = heddle({"runs", "--columns", "loss,results.peak_bytes,max(loss)"});
    QVERIFY2(table.out.find("236 MiB") != std::string::npos, table.out.c_str());
    QVERIFY2(table.out.find("9.000") != std::string::npos, table.out.c_str());
    const auto tails = heddle({"runs", "--columns", "mean(loss, 2),max loss of last 2"});
    QVERIFY2(tails.out.find("mean loss of last 2") != std::string::npos, tails.out.c_str());
    const json runs = json::parse(heddle({"runs", "--columns", "max(loss)", "--json"}).out);
    QVERIFY(runs[0]["columns"]["max(loss)"] == json(9.0));

    // clearml 1480: columns that were chosen were not in the file.
    const auto csv = heddle({"runs", "--columns", "max(loss),results.peak_bytes", "--csv", "--sort",
                             "name", "--limit", "1"});
    QCOMPARE(csv.exit_code, 0);
    const QStringList rows = QString::fromStdString(csv.out).split('\n');
    QCOMPARE(rows[0], QString("id,name,state,target,recipe,created,steps,loss,max(loss),"
                              "results.peak_bytes"));
    QVERIFY2(rows[1].contains(",a,"), csv.out.c_str());
    QCOMPARE(rows[1].count(QChar(44)), rows[0].count(QChar(44)));

    QCOMPARE(heddle({"runs", "tag", "a", "+x"}).exit_code, 0);
    QCOMPARE(heddle({"runs", "tag", "c", "+x", "+y", "-y"}).out, std::string("c: x\n"));
    const json groups =
        json::parse(heddle({"runs", "--group", "tags", "--columns", "loss", "--json"}).out);
    QCOMPARE(groups.size(), size_t{2});
    const json& tagged = groups[groups[0]["group"] == json("x") ? 0 : 1];
    QCOMPARE(tagged["runs"].size(), size_t{2});
    QCOMPARE(tagged["columns"]["loss"],
             (json{{"count", 2}, {"mean", 2.5}, {"min", 2.0}, {"max", 3.0}}));
    QVERIFY(!tagged.contains("groups"));
    const json nested =
        json::parse(heddle({"runs", "--group", "target,tags", "--columns", "loss", "--json"}).out);
    QCOMPARE(nested.size(), size_t{1});
    QCOMPARE(nested[0]["columns"]["loss"]["mean"], json(2.0));
    QCOMPARE(nested[0]["groups"].size(), size_t{2});
    const json& inner = nested[0]["groups"][nested[0]["groups"][0]["group"] == json("x") ? 0 : 1];
    QCOMPARE(inner, tagged);
    const auto indented = heddle({"runs", "--group", "target,tags", "--columns", "loss"});
    const QStringList lines = lines_of(indented.out);
    QCOMPARE(lines.size(), qsizetype{4});
    QVERIFY2(lines[0].startsWith("target, tags  RUNS") && lines[1].startsWith("imported") &&
                 lines[2].startsWith("  "),
             indented.out.c_str());
    QVERIFY(indented.out.find("\n  x              2  2.500 (2.000 … 3.000)") != std::string::npos);
    const auto text = heddle({"runs", "--group", "tags", "--columns", "loss"});
    QVERIFY2(text.out.find("2.500 (2.000 … 3.000)") != std::string::npos, text.out.c_str());

    for (const auto& [option, value] :
         {std::pair("--filter", "loss >"), std::pair("--filter", "nothing = 1"),
          std::pair("--sort", "nothing"), std::pair("--columns", "nothing"),
          std::pair("--group", "nothing"), std::pair("--group", "target,tags,state")}) {
      const auto wrong = heddle({"runs", option, value});
      QVERIFY2(wrong.err.find(option) != std::string::npos, wrong.err.c_str());
      QVERIFY(wrong.exit_code != 0);
    }
  }

  void tags_of_many_processes_at_once_all_stay() {
    make_elsewhere("a", {2});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere")}).exit_code, 0);
    std::vector<std::future<process::Completed>> processes;
    for (int i = 0; i < 8; ++i)
      processes.push_back(std::async(std::launch::async, [this, i] {
        return heddle({"runs", "tag", "a", "+tag" + std::to_string(i)});
      }));
    for (auto& each : processes) {
      const process::Completed done = each.get();
      QVERIFY2(done.exit_code == 0, done.err.c_str());
    }
    auto reader = must(storage::Reader::open(fixture_->store));
    QCOMPARE(must(reader.find_run("a")).tags.size(), size_t{8});
  }

  void runs_are_tagged_named_noted_starred_and_archived() {
    make_elsewhere("a", {2});
    make_elsewhere("b", {1});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere")}).exit_code, 0);
    QCOMPARE(heddle({"runs", "rename", "a", "best"}).exit_code, 0);
    QCOMPARE(heddle({"runs", "note", "best", "two lines\nof it"}).exit_code, 0);
    QCOMPARE(heddle({"runs", "tag", "best", "+fp8", "+night"}).out,
             std::string("best: fp8, night\n"));
    QCOMPARE(heddle({"runs", "tag", "best", "-fp8"}).out, std::string("best: night\n"));
    QCOMPARE(heddle({"runs", "star", "best"}).exit_code, 0);
    QCOMPARE(heddle({"runs", "archive", "b"}).exit_code, 0);
    auto reader = must(storage::Reader::open(fixture_->store));
    const auto run = must(reader.find_run("best"));
    QCOMPARE(run.notes, std::string("two lines\nof it"));
    QCOMPARE(run.tags, std::vector<std::string>{"night"});
    QVERIFY(run.starred);
    QCOMPARE(json::parse(heddle({"runs", "--json"}).out).size(), size_t{1});
    QCOMPARE(json::parse(heddle({"runs", "--archived", "--json"}).out)[0]["name"], json("b"));
    QCOMPARE(heddle({"runs", "archive", "b", "--undo"}).exit_code, 0);
    QCOMPARE(json::parse(heddle({"runs", "--json"}).out).size(), size_t{2});
    const auto wrong = heddle({"runs", "tag", "best", "fp8"});
    QCOMPARE(wrong.exit_code, 2);
    QVERIFY2(wrong.err.find("valid: +TAG") != std::string::npos, wrong.err.c_str());
    QCOMPARE(heddle({"runs", "star", "nobody"}).exit_code, 2);
    QVERIFY(heddle({"runs", "rename", "best", "b"}).exit_code != 0);
  }

  void sql_prints_a_table_csv_and_json() {
    make_elsewhere("a", {2, 1});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere")}).exit_code, 0);
    const std::string select = "SELECT name, steps, loss, parent FROM runs";
    QCOMPARE(heddle({"sql", select}).out,
             std::string("name  steps  loss  parent\na         2     1       -\n"));
    QCOMPARE(heddle({"sql", select, "--csv"}).out, std::string("name,steps,loss,parent\na,2,1,\n"));
    QCOMPARE(json::parse(heddle({"sql", select, "--json"}).out),
             (json{{{"name", "a"}, {"steps", 2}, {"loss", 1.0}, {"parent", nullptr}}}));
    QCOMPARE(json::parse(heddle({"sql", "SELECT 1 WHERE 0", "--json"}).out), json::array());
    const auto wrong = heddle({"sql", "DELETE FROM runs"});
    QCOMPARE(wrong.exit_code, 1);
    QVERIFY2(wrong.err.find("only a SELECT") != std::string::npos, wrong.err.c_str());
  }

  void compare_has_the_difference_from_the_first() {
    make_elsewhere("a", {2});
    make_elsewhere("b", {1});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere")}).exit_code, 0);
    const std::string text = heddle({"compare", "a", "b"}).out;
    QVERIFY2(text.find("difference") != std::string::npos, text.c_str());
    QVERIFY2(text.find("−1.000 better") != std::string::npos, text.c_str());
  }

  void compare_prints_what_differs() {
    make_run("slow");
    make_run("fast", {"optimizer.lr=1e-2"});
    const json compared = json::parse(heddle({"compare", "slow", "fast", "--json"}).out);
    QCOMPARE(compared["runs"].size(), size_t(2));
    QCOMPARE(compared["differences"]["optimizer.lr"].size(), size_t(2));
    const auto text = heddle({"compare", "slow", "fast"});
    QCOMPARE(text.exit_code, 0);
    QVERIFY2(text.out.find("optimizer.lr") != std::string::npos, text.out.c_str());
    QVERIFY2(text.out.find("977 KiB") != std::string::npos, text.out.c_str());  // peak_bytes
    QCOMPARE(heddle({"compare", "slow"}).exit_code, 2);
  }

  // None fakes a row or hides another column, on a terminal of 100 columns.
  void names_take_one_line_each() {
    const auto columns = qScopeGuard([] { qunsetenv("COLUMNS"); });
    qputenv("COLUMNS", "100");
    for (const char* name : {"line\nbreak\n9  fake  done", "a\tb", "rtl-\u202Egnp.exe", "織り機"})
      make_elsewhere(name, {2.0});
    make_elsewhere(std::string(200, 'x') + std::string(50, 'y'), {2.0});
    const auto imported = heddle({"import", fixture_->path("elsewhere")});
    QVERIFY2(imported.exit_code == 0, imported.err.c_str());
    QCOMPARE(lines_of(imported.out).size(), 5);
    const QStringList rows = lines_of(heddle({"runs"}).out);
    QCOMPARE(rows.size(), 6);
    for (const QString& row : rows) QVERIFY2(row.size() <= 100, qPrintable(row));
    for (const QString& row : rows.sliced(1))
      QVERIFY2(row.contains("  done   imported  "), qPrintable(row));
    QVERIFY(rows.join('\n').contains(QString::fromUtf8("xx…yy")));
    qunsetenv("COLUMNS");
    const QString table = QString::fromStdString(heddle({"runs"}).out);
    for (const char* shown :
         {"line\\nbreak\\n9  fake  done", "a\\tb", "rtl-\\u202egnp.exe", "織り機", "xx…yy"})
      QVERIFY2(table.contains(QString::fromUtf8(shown)), qPrintable(table));
    // As it is shown it is found, and shown in full.
    QVERIFY(heddle({"show", "a\\tb"}).out.starts_with("name      a\\tb (run "));
    QVERIFY(heddle({"show", std::string(200, 'x') + std::string(50, 'y')}).exit_code == 0);
  }

  void a_name_of_several_lines_is_refused() {
    const std::string recipe = HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml";
    for (const char* name : {"line\nbreak", "a\tb", "rtl-\u202Egnp.exe", "--check"}) {
      const auto launched = heddle({"launch", recipe, "--name", name, "--check"});
      QCOMPARE(launched.exit_code, 2);
      QVERIFY2(launched.err.starts_with("a run cannot be called \""), launched.err.c_str());
      QCOMPARE(lines_of(launched.err).size(), 1);
    }
    QCOMPARE(heddle({"runs", "--json"}).out, std::string("[]\n"));
  }

  void small_and_absent_numbers_keep_their_names() {
    make_elsewhere("small", {4.03e-4});
    make_elsewhere("diverged", {2.0, std::nan("")});
    make_elsewhere("infinite", {2.0, -std::numeric_limits<double>::infinity()});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere")}).exit_code, 0);
    const std::string table = heddle({"runs"}).out;
    for (const char* loss : {"  0.000403\n", "  NaN\n", "  −∞\n"})
      QVERIFY2(table.find(loss) != std::string::npos, table.c_str());
    const std::string shown = heddle({"show", "small"}).out;
    for (const char* line : {"loss      0.000403\n", "  peak_bytes    236 MiB\n",
                             "  step_seconds  89.0 ms\n", "  last_loss     0.000403\n"})
      QVERIFY2(shown.find(line) != std::string::npos, shown.c_str());
    // Rounded they would be the same.
    make_elsewhere("nearly", {4.03e-4 * (1 + 1e-6)});
    QCOMPARE(heddle({"import", fixture_->path("elsewhere/nearly")}).exit_code, 0);
    const auto compared = [&](const char* one, const char* other) {
      return QString::fromStdString(heddle({"compare", one, other}).out).simplified();
    };
    const QString near = compared("small", "nearly"), far = compared("small", "diverged");
    QVERIFY2(near.contains("last_loss 0.0004030000 0.0004030004"), qPrintable(near));
    for (const char* line :
         {"loss 0.000403 NaN", "peak_bytes 236 MiB 236 MiB", "step_seconds 89.0 ms 89.0 ms"})
      QVERIFY2(far.contains(line), qPrintable(far));
  }

  void a_store_in_a_read_only_place_is_shown() {
    if (geteuid() != 0) QSKIP("mounting needs root");
    make_run("first");
    const std::string place = fixture_->path("place");
    std::filesystem::create_directory(place);
    if (mount("tmpfs", place.c_str(), "tmpfs", 0, "size=8m") != 0)
      QSKIP("no right to mount a tmpfs here");
    const auto unmount = qScopeGuard([&] { umount2(place.c_str(), MNT_DETACH); });
    std::filesystem::copy(fixture_->store, place + "/copy.sqlite");
    QCOMPARE(mount("tmpfs", place.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=8m"), 0);
    const std::string own = std::exchange(fixture_->store, place + "/copy.sqlite");
    const auto back = qScopeGuard([&] { fixture_->store = own; });
    const auto runs = heddle({"runs"});
    QVERIFY2(runs.exit_code == 0, runs.err.c_str());
    QVERIFY2(runs.out.find("first  done   this-machine  debug") != std::string::npos,
             runs.out.c_str());
    QVERIFY2(runs.err.find("cannot be written to: it is shown as it is, and no run in it is "
                           "followed") != std::string::npos,
             runs.err.c_str());
    QCOMPARE(heddle({"show", "first"}).exit_code, 0);
    const auto import = heddle({"import", place});
    QCOMPARE(import.exit_code, 1);
    QVERIFY2(import.err.find("cannot be written to") != std::string::npos, import.err.c_str());
  }

  void what_is_no_store_is_not_trusted() {
    const std::string own = fixture_->store;
    const auto back = qScopeGuard([&] { fixture_->store = own; });
    fixture_->store = fixture_->path("no-store.sqlite");
    std::ofstream(fixture_->store) << "this is not a store, and it is long enough to be asked";
    const auto garbage = heddle({"trust"});
    QCOMPARE(garbage.exit_code, 1);
    QVERIFY2(garbage.err.find("not a Heddle store") != std::string::npos, garbage.err.c_str());
    fixture_->store = fixture_->path("two\nlines.sqlite");
    for (const char* command : {"trust", "runs", "targets"}) {
      const auto said = heddle({command});
      QCOMPARE(said.exit_code, 1);
      QVERIFY2(said.err.find("two\\nlines.sqlite\"; valid: --store FILE, without line ends") !=
                   std::string::npos,
               said.err.c_str());
    }
    QVERIFY(!std::filesystem::exists(fixture_->store));
  }

  void export_writes_files() {
    make_run("first");
    const std::string folder = fixture_->path("exported");
    QCOMPARE(heddle({"export", "first", "--to", folder}).exit_code, 0);
    QVERIFY(read_file(folder + "/metrics.csv").find("loss") != std::string::npos);
    QVERIFY(read_file(folder + "/recipe.toml").starts_with("# A test's recipe.\n"));
    const auto weights = heddle({"export", "first", "--to", folder, "--weights"});
    QVERIFY(weights.exit_code != 0);  // the fixture's tokenizer is none
    QVERIFY2(weights.err.find("/tokenizer.json: no \"model\"") != std::string::npos,
             weights.err.c_str());
  }

  void tail_prints_a_run_to_its_end() {
    {
      const auto writer = must(storage::Writer::open(fixture_->store));
      QVERIFY(workbench::launch(*writer, fixture_->request(100, 10)));
    }
    const auto tail = heddle({"tail", "debug"});
    QCOMPARE(tail.exit_code, 0);
    QVERIFY2(tail.out.find("step 100/100  loss 0.0800  1,100 tok/s a rank\n") != std::string::npos,
             tail.out.c_str());
    QVERIFY2(tail.out.ends_with("debug is done after 100 steps, loss 0.0800, 1,052 tok/s a rank\n"),
             tail.out.c_str());
    fixture_->verify_complete(1, 2);
  }

  void stop_then_remove() {
    {
      const auto writer = must(storage::Writer::open(fixture_->store));
      QVERIFY(workbench::launch(*writer, fixture_->request(100000, 10)));
    }
    const auto early = heddle({"remove", "debug"});
    QCOMPARE(early.exit_code, 1);
    QCOMPARE(early.err, std::string("heddle: debug is running; stop it first\n"));
    const std::string stop = heddle({"stop", "debug"}).out;
    QVERIFY2(stop.starts_with(
                 "debug was asked to stop. Before its first step it just ends: there is "
                 "nothing to keep. After that it finishes its step, writes a checkpoint in "),
             stop.c_str());
    QVERIFY2(stop.find("\ndebug is stopped after ") != std::string::npos, stop.c_str());
    QVERIFY(json::parse(heddle({"runs", "--json"}).out)[0]["state"] == "stopped");
    QCOMPARE(heddle({"tail", "debug"}).exit_code, 130);
    QCOMPARE(heddle({"remove", "debug"}).out, std::string("debug is removed\n"));
    QCOMPARE(heddle({"runs", "--json"}).out, std::string("[]\n"));
  }

  void import_takes_in_a_run_directory() {
    make_run("first");
    const std::string run_dir = fixture_->path("elsewhere/first");
    std::filesystem::create_directories(fixture_->path("elsewhere"));
    std::filesystem::copy(fixture_->detail(1).run_dir, run_dir);
    must(must(storage::Writer::open(fixture_->store))->remove(1));
    const auto window = must(Workbench::open(fixture_->store));  // an open one
    QVERIFY(QTest::qWaitFor([&] { return window->writer().has_lease(); }));
    const auto imported = heddle({"import", fixture_->path("elsewhere"), fixture_->path("absent")});
    QCOMPARE(imported.exit_code, 1);
    QVERIFY2(imported.out.find("is imported from " + run_dir) != std::string::npos,
             imported.out.c_str());
    QVERIFY2(imported.err.find("absent: there is no rank-0.0.hlog") != std::string::npos,
             imported.err.c_str());
    const auto again = heddle({"import", run_dir});
    QCOMPARE(again.exit_code, 0);
    QVERIFY2(again.out.find("is here already, from " + run_dir) != std::string::npos,
             again.out.c_str());
    QCOMPARE(json::parse(heddle({"runs", "--json"}).out).size(), size_t(1));
    // In the trash it is here too, but not where one would look for it.
    must(window->writer().trash(2));
    const auto trashed = heddle({"import", run_dir});
    QCOMPARE(trashed.exit_code, 0);
    QVERIFY2(trashed.out.find("(run 2) is in the trash, from " + run_dir +
                              "; `heddle restore 2` brings it back") != std::string::npos,
             trashed.out.c_str());
  }

  // The window's Delete has put it there.
  void the_trash_is_seen_and_emptied() {
    make_run("first");
    must(must(storage::Writer::open(fixture_->store))->trash(1));
    QCOMPARE(heddle({"runs", "--json"}).out, std::string("[]\n"));
    QVERIFY(json::parse(heddle({"runs", "--trash", "--json"}).out)[0]["name"] == json("first"));
    for (const char* command : {"show", "stop", "tail"}) {
      const auto hidden = heddle({command, "first"});
      QCOMPARE(hidden.exit_code, 2);
      QVERIFY2(hidden.err.find("in the trash; `heddle restore 1`") != std::string::npos,
               hidden.err.c_str());
    }
    QCOMPARE(heddle({"restore", "first"}).out, std::string("first is back\n"));
    QCOMPARE(heddle({"restore", "first"}).exit_code, 1);
    must(must(storage::Writer::open(fixture_->store))->trash(1));
    const std::string run_dir = fixture_->detail(1).run_dir;
    QCOMPARE(heddle({"remove", "first"}).out, std::string("first is removed\n"));
    QVERIFY(!std::filesystem::exists(run_dir));
    QCOMPARE(heddle({"runs", "--trash", "--json"}).out, std::string("[]\n"));
  }

  void bad_usage_ends_with_2_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    QTest::newRow("no recipe") << QStringList{"launch"} << "RECIPE is required";
    QTest::newRow("no such recipe")
        << QStringList{"launch", "absent.toml"} << "absent.toml: cannot be read";
    QTest::newRow("no such option") << QStringList{"runs", "--yaml"} << "--yaml";
    QTest::newRow("no such target")
        << QStringList{"launch", HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml", "--on", "moon"}
        << "there is no target 'moon'; valid: this-machine";
    QTest::newRow("no such key") << QStringList{"launch",
                                                HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml",
                                                "--set", "optimizer.learning=1"}
                                 << "optimizer.learning";
    QTest::newRow("name taken") << QStringList{"targets", "add", "this-machine", "--host", "loom"}
                                << "this-machine is there already";
    QTest::newRow("no host") << QStringList{"targets", "add", "x", "--host", "a b"}
                             << "names no host";
  }
  void bad_usage_ends_with_2() {
    QFETCH(QStringList, words);
    QFETCH(QString, says);
    std::vector<std::string> arguments;
    for (const QString& word : words) arguments.push_back(word.toStdString());
    const auto completed = heddle(arguments);
    QCOMPARE(completed.exit_code, 2);
    QVERIFY2(completed.err.find(says.toStdString()) != std::string::npos, completed.err.c_str());
  }

  void a_launch_is_checked_first() {
    const std::string recipe = HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml";
    const auto sound = heddle({"launch", recipe, "--check"});
    QVERIFY2(sound.exit_code == 0, (sound.out + sound.err).c_str());
    QVERIFY2(sound.out.find("pass    memory: 2 ranks need ") != std::string::npos,
             sound.out.c_str());
    const std::vector<std::string> large = {
        "launch", recipe, "--set", "hardware.device=cuda", "--set", "hardware.ranks=1024"};
    std::vector<std::string> check = large;
    check.push_back("--check");
    const auto checked = heddle(check);
    QCOMPARE(checked.exit_code, 2);
    QVERIFY2(checked.out.find("fail    GPUs: 1,024 ranks on 0 GPUs; ") != std::string::npos,
             checked.out.c_str());
    // A launch says the same of what fails, and does nothing.
    const auto launched = heddle(large);
    QCOMPARE(launched.exit_code, 2);
    QVERIFY2(launched.err.find("\nGPUs: 1,024 ranks on 0 GPUs; ") != std::string::npos,
             launched.err.c_str());
    QCOMPARE(heddle({"runs", "--json"}).out, std::string("[]\n"));
  }

  void unknown_runs_are_named() {
    const std::vector<std::vector<std::string>> commands = {
        {"stop", "ghost"},
        {"tail", "ghost"},
        {"remove", "ghost"},
        {"restore", "ghost"},
        {"show", "ghost"},
        {"export", "ghost", "--to", fixture_->path("exported")},
        {"compare", "ghost", "ghost"},
        {"launch", "--resume", "ghost"},
        {"launch", "--fork", "ghost"}};
    for (const auto& words : commands) {
      const auto completed = heddle(words);
      QVERIFY2(completed.exit_code == 2, words.front().c_str());
      QVERIFY2(completed.err.starts_with("heddle: no run 'ghost' in "), completed.err.c_str());
    }
  }

  void this_machine_is_always_a_target() {
    const auto targets = heddle({"targets"});
    QCOMPARE(targets.exit_code, 0);
    QVERIFY2(targets.out.find("this-machine") != std::string::npos, targets.out.c_str());
    const auto probe = heddle({"targets", "probe", "this-machine"});
    QVERIFY2(probe.out.find("memory") != std::string::npos, probe.out.c_str());
    QVERIFY2(heddle({"targets"}).out.find("GiB") != std::string::npos, "the probe is kept");
  }

  void a_target_is_replaced_only_when_asked() {
    const auto add = [this](std::vector<std::string> words) {
      words.insert(words.begin(), {"targets", "add", "lab"});
      return heddle(words);
    };
    {
      remote::Target target;
      target.name = "lab";
      target.hosts = {must(remote::parse_host("ada@127.0.0.1:1"))};
      const auto writer = must(storage::Writer::open(fixture_->store));
      QVERIFY(save_target(*writer, {target, {}}));
    }
    const auto taken = add({"--host", "ada@127.0.0.1:2"});
    QCOMPARE(taken.exit_code, 2);
    QCOMPARE(taken.err,
             std::string("heddle: lab is there already, with the host 127.0.0.1; heddle targets "
                         "probe lab looks at it again, --replace puts another in its place\n"));
    // Nobody listens there either, but now it is tried.
    const auto replaced = add({"--host", "ada@127.0.0.1:2", "--replace"});
    QCOMPARE(replaced.exit_code, 1);
    QVERIFY2(replaced.err.find("127.0.0.1 port 2") != std::string::npos, replaced.err.c_str());
  }
};

HEDDLE_TEST(CommandsTest)
#include "commands_test.moc"
