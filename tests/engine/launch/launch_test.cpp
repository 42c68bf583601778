// Ranks as real processes: /bin/sh programs stand where the engine would, and are started, stopped
// and killed by the same code.
#include "engine/runs/launch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/process.h"
#include "base/process_id.h"
#include "engine/launch/spawn.h"
#include "engine/runs/rank_arguments.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/log_reader.h"
#include "tests/engine/launch/shell_rank.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::launch;
using namespace heddle::runs;
using heddle::test::read_text;

namespace {

constexpr int kPatience = 240000;  // ms, on a machine that does much else

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

class LaunchTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> folder_;
  std::string run_dir_;

  std::string path(const std::string& name) const {
    return folder_->path().toStdString() + "/" + name;
  }

  std::string engine(const std::string& lines) const {
    return shell_rank(path("engine.sh"), lines);
  }

  process::Completed driver(std::vector<std::string> arguments,
                            const std::string& input = {}) const {
    arguments.insert(arguments.begin(), std::string(HEDDLE_BINARY_DIR) + "/launch_driver");
    const auto completed =
        process::run({.argv = arguments, .input = input, .deadline = std::chrono::seconds(60)});
    if (!completed) qFatal("%s", completed.error().message.c_str());
    return *completed;
  }

  process::Completed train(const std::string& engine, int ranks) const {
    return driver(
        {"train", "--engine", engine, "--ranks", std::to_string(ranks), "--run-dir", run_dir_});
  }

  process::Completed supervise(std::vector<std::string> arguments = {},
                               const std::string& input = {}) const {
    arguments.insert(arguments.begin(), {"supervise", "--run-dir", run_dir_});
    return driver(arguments, input);
  }

  /// Starts a supervisor over `ranks` ranks and says that it did.
  Status start_supervisor(const std::string& engine, int ranks, double grace = 10) const {
    std::filesystem::create_directories(run_dir_);
    Launch launch;
    launch.run = "test";
    launch.world_size = launch.local_ranks = ranks;
    launch.grace_seconds = grace;
    if (!write_launch(run_dir_, launch)) qFatal("launch.json");
    const process::Completed started = supervise({"--engine", engine});
    if (started.exit_code != 0) qFatal("%s", started.err.c_str());
    return *status_from_json(nlohmann::json::parse(started.out));
  }

  Status status() const { return *read_status(run_dir_); }

  bool ends() const {
    return QTest::qWaitFor([&] { return status().condition == Condition::ended; }, kPatience);
  }

  /// Processes whose command line names the run directory: the ranks that are left.
  int processes_left() const {
    int left = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      // One may end meanwhile: read so, that is no exception.
      std::ostringstream words;
      words << std::ifstream(entry.path() / "cmdline").rdbuf();
      if (words.str().find(run_dir_) != std::string::npos) ++left;
    }
    return left;
  }

  /// One rank on that device, in a run directory of that name.
  void supervise_one_step(const std::string& device, const std::string& ranks) {
    run_dir_ = path(device);
    std::filesystem::create_directories(run_dir_);
    write_file(run_dir_ + "/recipe.toml",
               fmt::format("[training]\nsteps = 1\n[hardware]\ndevice = \"{}\"\n", device));
    start_supervisor(ranks, 1);
  }

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    run_dir_ = path("run");
  }

  void launch_survives_its_file() {
    std::filesystem::create_directories(run_dir_);
    Launch launch;
    launch.run = "llama.8b-1";
    launch.mode = "eager";
    launch.graph_file = "/graphs/a step.txt";
    launch.world_size = 8;
    launch.first_rank = 4;
    launch.local_ranks = 4;
    launch.epoch = 3;
    launch.rendezvous_host = "10.0.0.7";
    launch.rendezvous_port = 4711;
    launch.grace_seconds = 2.5;
    QVERIFY(write_launch(run_dir_, launch));
    const Result<RankContext> context =
        parse_rank_arguments({"--run-dir", run_dir_, "--rank", "5", "--local-rank", "1", "--port",
                              "4711", "--spawned-at", "12.5"});
    QVERIFY2(context, context ? "" : context.error().message.c_str());
    QCOMPARE(context->rank, 5);
    QCOMPARE(context->local_rank, 1);
    QCOMPARE(context->listen_fd, -1);
    QCOMPARE(context->port, uint16_t(4711));
    QCOMPARE(context->spawned_at, 12.5);
    QCOMPARE(context->launch.run, launch.run);
    QCOMPARE(context->launch.mode, launch.mode);
    QCOMPARE(context->launch.graph_file, launch.graph_file);
    QCOMPARE(context->launch.first_rank, 4);
    QCOMPARE(context->launch.epoch, 3);
    QCOMPARE(context->launch.rendezvous_host, launch.rendezvous_host);
    QCOMPARE(context->launch.grace_seconds, 2.5);
  }

  void an_answer_of_other_types_is_refused() {
    const auto status = [](const std::string& text) {
      return status_from_json(nlohmann::json::parse(text));
    };
    const Result<Status> crash =
        status(read_text(HEDDLE_SOURCE_DIR "/tests/fixtures/crash/status_stopped.json"));
    QVERIFY(!crash);
    QCOMPARE(crash.error().message, std::string("stopped: \"x\"; valid: true | false"));
    QVERIFY(status(R"({"condition":"running","stopped":true})")->stopped);
    QVERIFY(!status(R"({"condition":"running"})")->stopped);
    for (const char* other :
         {"5", "[]", "null", R"({"condition":1})", R"({"condition":"ended","end":7})",
          R"({"condition":"ended","state":[]})", R"({"condition":"ended","stopped":null})"})
      QVERIFY2(!status(other), other);
  }

  void bad_launches_are_explained_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("says");
    QTest::newRow("cut short") << R"({"run": "a",)"
                               << "launch.json: not JSON (at byte 13); a run directory holds one";
    QTest::newRow("out of range") << R"({"run": "a", "world_size": 1e999})"
                                  << "launch.json: the number 1e999 is out of range (at byte 32)";
    QTest::newRow("more ranks than can be")
        << R"({"run": "a", "world_size": 4294967297, "local_ranks": 1})"
        << "4294967297 is no whole number from -2147483648 to 2147483647";
    QTest::newRow("a sum that overflows")
        << R"({"run": "a", "world_size": 4, "first_rank": 2147483647, "local_ranks": 2147483647})"
        << "ranks 2147483647 to 4294967293 are not among the 4 of the run";
    QTest::newRow("no ranks") << R"({"run": "a", "world_size": 2})"
                              << "key 'local_ranks' not found";
    QTest::newRow("name") << R"({"run": "a/../b", "world_size": 1, "local_ranks": 1})"
                          << "run: 'a/../b' is no run name; valid: 1 to 64 of";
    QTest::newRow("too many")
        << R"({"run": "a", "world_size": 2, "first_rank": 1, "local_ranks": 2})"
        << "ranks 1 to 2 are not among the 2 of the run";
  }
  void bad_launches_are_explained() {
    QFETCH(QString, json);
    QFETCH(QString, says);
    std::filesystem::create_directories(run_dir_);
    write_file(run_dir_ + "/launch.json", json.toStdString());
    const Result<Launch> launch = read_launch(run_dir_);
    QVERIFY(!launch);
    QVERIFY2(launch.error().message.find(says.toStdString()) != std::string::npos,
             launch.error().message.c_str());
  }

  void ranks_run_to_their_end() {
    const auto run = train(engine(R"(
      echo "rank $rank is here"
      [ "$rank" = 0 ] && echo '{"losses":[2.5]}' > "$run_dir/results.json"
      finish
    )"),
                           3);
    QCOMPARE(run.exit_code, 0);
    QCOMPARE(run.out, std::string("{\"losses\":[2.5]}\n"));
    QCOMPARE(run.err, std::string());
    QCOMPARE(read_text(run_dir_ + "/rank-2.err"), std::string("rank 2 is here\n"));
    QCOMPARE(status().end->state, std::string("done"));
  }

  void a_rank_finds_its_place() {
    const auto run = train(engine(R"(
      echo "threads $OMP_NUM_THREADS spins $GOMP_SPINCOUNT nice $(nice) fd ${listen_fd:-none} port $port"
      finish
    )"),
                           2);
    QCOMPARE(run.exit_code, 0);
    const std::string first = read_text(run_dir_ + "/rank-0.err");
    QVERIFY2(first.find("nice 10") != std::string::npos, first.c_str());
    QVERIFY2(first.find("spins 1000 ") != std::string::npos ||
                 first.find("spins 4000 ") != std::string::npos,
             first.c_str());
    // Ranks of one host meet in a file.
    QVERIFY2(first.find("fd none port 0\n") != std::string::npos, first.c_str());
    QCOMPARE(read_text(run_dir_ + "/rank-1.err"), first);
  }

  // Threads that spin while others compute keep them from it.
  void threads_spin_less_where_cores_are_shared() {
    QCOMPARE(spins_while_waiting(0.1, 2, 2), 4000);
    QCOMPARE(spins_while_waiting(0, 1, 16), 4000);
    QCOMPARE(spins_while_waiting(0, 4, 2), 1000);    // more threads than cores
    QCOMPARE(spins_while_waiting(1.2, 2, 2), 1000);  // another program runs
    QCOMPARE(spins_while_waiting(1.2, 2, 4), 4000);
  }

  // A GPU waits for the thread that feeds it.
  void ranks_on_gpus_do_not_yield() {
    const std::string ranks = engine("nice; finish");
    for (const auto& [device, nice] : {std::pair("cpu", "10\n"), std::pair("cuda", "0\n")}) {
      supervise_one_step(device, ranks);
      QVERIFY(ends());
      const int own = getpriority(PRIO_PROCESS, 0);
      QCOMPARE(read_text(run_dir_ + "/rank-0.err"),
               own == 0 ? std::string(nice) : fmt::format("{}\n", std::max(own, std::stoi(nice))));
    }
  }

  // Each session has its share of the cores, however nice its processes are.
  void the_session_of_a_run_yields() {
    if (!std::filesystem::exists("/proc/self/autogroup"))
      QSKIP("this kernel does not share the cores between sessions");
    const std::string ranks = engine("sed 's/.* nice //' /proc/self/autogroup; finish");
    for (const auto& [device, nice] : {std::pair("cpu", "10\n"), std::pair("cuda", "0\n")}) {
      supervise_one_step(device, ranks);
      QVERIFY(ends());
      QCOMPARE(read_text(run_dir_ + "/rank-0.err"), std::string(nice));
    }
  }

  void the_device_is_settled_before_the_ranks_start() {
    const std::string ranks = engine("grep device \"$run_dir/recipe.toml\"; finish");
    std::filesystem::create_directories(run_dir_);
    write_file(run_dir_ + "/recipe.toml", "[training]\nsteps = 1\n");
    start_supervisor(ranks, 2);
    QVERIFY(ends());
    QCOMPARE(read_text(run_dir_ + "/rank-1.err"), std::string("device = \"cpu\"\n"));
    const std::string log = read_text(run_dir_ + "/supervisor.0.hlog");
    QVERIFY(log.find("hardware.device = \"auto\": 2 ranks on the CPU: ") != std::string::npos);
  }

  void an_earlier_rendezvous_is_gone() {
    std::filesystem::create_directories(run_dir_);
    write_file(run_dir_ + "/rendezvous", "of an attempt that was killed");
    const auto run = train(engine("[ -e \"$run_dir/rendezvous\" ] || finish"), 2);
    QCOMPARE(run.exit_code, 0);
  }

  void the_first_of_several_hosts_listens() {
    Launch launch;
    launch.run = "test";
    launch.world_size = 3;
    launch.local_ranks = 2;
    std::filesystem::create_directories(run_dir_);
    QVERIFY(write_launch(run_dir_, launch));
    const std::string ranks = engine(R"sh(
      echo "fd ${listen_fd:-none} port $port secret $(cat "$run_dir/secret")"
      [ "$rank" = 0 ] && [ -S /proc/self/fd/$listen_fd ] && echo "the fd is a socket"
      finish
    )sh");
    const auto alone = supervise({"--engine", ranks});
    QCOMPARE(alone.exit_code, 1);
    QVERIFY2(alone.err.find("needs a secret that its hosts share") != std::string::npos,
             alone.err.c_str());
    const std::string secret(64, 'd');
    const auto started = supervise({"--engine", ranks, "--secret-stdin"}, secret + "\n");
    QVERIFY2(started.exit_code == 0, started.err.c_str());
    QVERIFY(ends());
    QVERIFY(read_text(run_dir_ + "/rank-1.err").find(secret) != std::string::npos);
    QVERIFY(!std::filesystem::exists(run_dir_ + "/secret"));
    const std::string first = read_text(run_dir_ + "/rank-0.err");
    const std::string second = read_text(run_dir_ + "/rank-1.err");
    QVERIFY2(first.find("the fd is a socket") != std::string::npos, first.c_str());
    QVERIFY2(second.find("fd none") != std::string::npos, second.c_str());
    // Both were given the port that the first one listens on.
    QCOMPARE(second.substr(second.find("port ")),
             first.substr(first.find("port "), second.size() - second.find("port ")));
    QVERIFY2(second.find("port 0") == std::string::npos, second.c_str());
  }

  void a_temporary_run_directory_goes() {
    qputenv("TMPDIR", folder_->path().toUtf8());
    const auto run =
        driver({"train", "--engine", engine("echo $run_dir > \"$run_dir/../seen\"; finish")});
    qunsetenv("TMPDIR");
    QCOMPARE(run.exit_code, 0);
    std::string seen = read_text(path("seen"));
    QVERIFY(seen.starts_with(folder_->path().toStdString()));
    seen.pop_back();
    QVERIFY(!std::filesystem::exists(seen));
  }

  void a_bad_recipe_is_told_in_its_own_words() {
    const auto run = train(engine(R"(
      echo "recipe.toml:3:1: model.dim: 7 is odd; valid: an even number" >&2
      exit 2
    )"),
                           2);
    QCOMPARE(run.exit_code, 2);
    QCOMPARE(run.err, std::string("recipe.toml:3:1: model.dim: 7 is odd; valid: an even number\n"));
  }

  void the_first_failing_rank_is_named() {
    const auto run = train(engine(R"(
      trap 'exit 130' TERM
      if [ "$rank" = 1 ]; then echo "starting"; echo "error: the disk is full"; exit 1; fi
      while :; do sleep 0.05; done
    )"),
                           3);
    QCOMPARE(run.exit_code, 1);
    QCOMPARE(run.err, std::string("starting\nerror: the disk is full\n"
                                  "rank 1 ended with exit code 1: error: the disk is full\n"));
    QCOMPARE(status().end->rank, 1);
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
  }

  void an_earlier_attempt_s_words_are_not_repeated() {
    train(engine("echo old words; exit 1"), 1);
    const auto run = train(engine("exit 1"), 1);
    QCOMPARE(run.err, std::string("rank 0 ended with exit code 1\n"));
    QCOMPARE(read_launch(run_dir_)->epoch, 1);
  }

  void a_killed_rank_ends_the_run() {
    const Status started = start_supervisor(engine("while :; do sleep 0.05; done"), 3);
    QCOMPARE(started.condition, Condition::running);
    QCOMPARE(started.state->ranks.size(), size_t(3));
    kill(started.state->ranks[1].process.pid, SIGKILL);
    QVERIFY(ends());
    const End end = *status().end;
    QCOMPARE(end.state, std::string("failed"));
    QCOMPARE(end.rank, 1);
    QCOMPARE(end.signal, std::string("SIGKILL"));
    QCOMPARE(end.cause, std::string("rank 1 was killed by SIGKILL"));
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
  }

  void a_killed_rank_is_the_cause_though_its_peer_ends_first() {
    train(engine(R"(
      trap '' TERM
      if [ "$rank" = 0 ]; then touch "$run_dir/noticed"; exit 1; fi
      while ! [ -e "$run_dir/noticed" ]; do sleep 0.02; done
      sleep 0.3; kill -KILL $$
    )"),
          2);
    QCOMPARE(status().end->cause, std::string("rank 1 was killed by SIGKILL"));
  }

  void a_program_that_cannot_run_is_named() {
    const auto run = train(path("absent"), 2);
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.err.find("absent cannot be started: No such file") != std::string::npos,
             run.err.c_str());
    QCOMPARE(status().end->state, std::string("failed"));
  }

  void stop_lets_ranks_finish() {
    start_supervisor(engine(R"(
      trap 'echo checkpoint $rank > "$run_dir/checkpoint-$rank"; exit 130' TERM
      : > "$run_dir/ready-$rank"
      while :; do sleep 0.05; done
    )"),
                     2);
    QTRY_VERIFY(std::filesystem::exists(run_dir_ + "/ready-0") &&
                std::filesystem::exists(run_dir_ + "/ready-1"));
    QCOMPARE(supervise({"--stop"}).exit_code, 0);
    QVERIFY(ends());
    QCOMPARE(status().end->state, std::string("stopped"));
    QCOMPARE(status().end->exit_code, 130);
    QCOMPARE(status().end->cause, std::string());
    QCOMPARE(read_text(run_dir_ + "/checkpoint-1"), std::string("checkpoint 1\n"));
  }

  void a_stubborn_rank_is_killed() {
    start_supervisor(engine(R"(
      trap '' TERM
      : > "$run_dir/ready-$rank"
      while :; do sleep 0.05; done
    )"),
                     2, /*grace=*/0.3);
    QTRY_VERIFY(std::filesystem::exists(run_dir_ + "/ready-0") &&
                std::filesystem::exists(run_dir_ + "/ready-1"));
    supervise({"--stop"});
    QVERIFY(ends());
    QCOMPARE(status().end->state, std::string("stopped"));
    QVERIFY(status().end->cause.find("did not stop within 300 ms and was killed") !=
            std::string::npos);
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
  }

  void kill_does_not_wait() {
    start_supervisor(engine("trap '' TERM; while :; do sleep 0.05; done"), 2, /*grace=*/3600);
    supervise({"--kill"});
    QVERIFY(ends());
    QCOMPARE(status().end->cause, std::string("killed by the user"));
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
  }

  void a_supervisor_that_somebody_has_stopped_still_hears() {
    const Status started = start_supervisor(engine("while :; do sleep 0.05; done"), 1);
    kill(started.state->supervisor.pid, SIGSTOP);
    QTRY_VERIFY_WITH_TIMEOUT(status().stopped, kPatience);
    QCOMPARE(status().condition, Condition::running);
    supervise({"--stop"});
    QVERIFY(ends());
    QCOMPARE(status().end->state, std::string("stopped"));
  }

  void ranks_end_when_their_directory_is_gone() {
    start_supervisor(engine("while :; do sleep 0.05; done"), 2);
    QVERIFY(processes_left() > 0);
    std::filesystem::rename(run_dir_, path("moved"));
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
    QCOMPARE(status().condition, Condition::absent);
  }

  void a_directory_has_one_supervisor() {
    start_supervisor(engine("while :; do sleep 0.05; done"), 1);
    const auto second = supervise({"--engine", path("engine.sh")});
    QCOMPARE(second.exit_code, 1);
    QVERIFY2(second.err.find("a run is going on in it") != std::string::npos, second.err.c_str());
    QCOMPARE(status().condition, Condition::running);
    const auto foreground = train(path("engine.sh"), 1);
    QCOMPARE(foreground.exit_code, 2);
    supervise({"--kill"});
    QVERIFY(ends());
  }

  void a_supervisor_outlives_its_starter() {
    // The starter and all its session are killed; the run goes on to its end.
    Launch launch;
    launch.run = "test";
    std::filesystem::create_directories(run_dir_);
    QVERIFY(write_launch(run_dir_, launch));
    const std::string script = engine(
        "while [ ! -e \"$run_dir/go\" ]; do sleep 0.05; done; : > \"$run_dir/went\"; finish");
    const auto starter = process::run(
        {.argv = {"/bin/sh", "-c",
                  std::string(HEDDLE_BINARY_DIR) + "/launch_driver supervise --run-dir " +
                      run_dir_ + " --engine " + script + "; kill -KILL 0"}});
    QVERIFY(starter);
    QCOMPARE(starter->exit_code, 128 + SIGKILL);
    QCOMPARE(status().condition, Condition::running);
    write_file(run_dir_ + "/go", "");
    QVERIFY(ends());
    QCOMPARE(status().end->state, std::string("done"));
    QVERIFY(std::filesystem::exists(run_dir_ + "/went"));
  }

  void a_dead_supervisor_without_an_end_is_lost() {
    const Status started = start_supervisor(engine("while :; do sleep 0.05; done"), 2);
    kill(started.state->supervisor.pid, SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(status().condition, Condition::lost, kPatience);
    // No rank survives it.
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
    // The directory is free for another attempt.
    QCOMPARE(supervise({"--engine", engine("finish")}).exit_code, 0);
    QVERIFY(ends());
  }

  void another_process_with_the_same_pid_is_not_taken_for_it() {
    const Status started = start_supervisor(engine("while :; do sleep 0.05; done"), 1);
    State other = *started.state;
    other.supervisor.start_time += 1;
    QVERIFY(write_state(run_dir_, other));
    QCOMPARE(status().condition, Condition::lost);
    other = *started.state;
    other.boot_id = "another boot";
    QVERIFY(write_state(run_dir_, other));
    QCOMPARE(status().condition, Condition::lost);
    QVERIFY(write_state(run_dir_, *started.state));
    supervise({"--kill"});
    QVERIFY(ends());
  }

  // A state.json from outside: kill() would take these for the caller's own process group, for
  // init, or for all processes there are.
  void a_pid_that_is_no_process_is_not_taken_for_it() {
    for (const pid_t pid : {0, 1, -1, -getpid()}) {
      State state;
      state.supervisor = identify(pid);
      state.supervisor.pid = pid;
      state.boot_id = boot_id();
      std::filesystem::create_directories(run_dir_);
      QVERIFY(write_state(run_dir_, state));
      QCOMPARE(status().condition, Condition::lost);
      for (const char* verb : {"--stop", "--kill"}) {
        const auto asked = supervise({verb});
        QCOMPARE(asked.exit_code, 0);
        QVERIFY2(asked.out.find("\"lost\"") != std::string::npos, asked.out.c_str());
      }
    }
  }

  void another_user_s_process_is_not_taken_for_it() {
    if (geteuid() != 0) QSKIP("a process of another user needs root");
    const pid_t child = fork();
    if (child == 0) {
      if (setuid(65534) == 0) pause();
      _exit(1);
    }
    const auto end = qScopeGuard([&] {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    });
    QTRY_VERIFY_WITH_TIMEOUT(lives(identify(child), 65534), kPatience);
    State state;
    state.supervisor = identify(child);
    state.boot_id = boot_id();
    std::filesystem::create_directories(run_dir_);
    QVERIFY(write_state(run_dir_, state));
    QCOMPARE(status().condition, Condition::lost);
    QCOMPARE(supervise({"--kill"}).exit_code, 0);
    QVERIFY(lives(identify(child), 65534));
    // His own state.json names his own process.
    QCOMPARE(chown(state_file(run_dir_).c_str(), 65534, 65534), 0);
    QCOMPARE(status().condition, Condition::running);
  }

  void the_supervisor_s_log_tells_the_story() {
    start_supervisor(engine("echo 'error: no memory'; exit 1"), 1);
    QVERIFY(ends());
    telemetry::LogReader reader;
    reader.feed(read_text(run_dir_ + "/supervisor.0.hlog"));
    std::ostringstream story;
    while (const auto event = reader.next()) {
      const auto record = std::get<telemetry::Frame>(*event).record();
      QVERIFY(record);
      if (const auto* log = std::get_if<telemetry::Log>(&*record)) {
        story << log->text.substr(0, log->text.find(" as process")) << "\n";
      } else if (const auto* end = std::get_if<telemetry::End>(&*record)) {
        story << end->state << ": " << end->cause << "\n";
      }
    }
    QCOMPARE(story.str(), std::string("rank 0 started\n"
                                      "rank 0 ended with exit code 1\n"
                                      "failed: rank 0 ended with exit code 1: error: no memory\n"));
  }

  void an_interrupted_train_stops_its_ranks() {
    // As Ctrl+C does, in the middle.
    const std::string script = engine(R"(
      trap 'exit 130' TERM
      : > "$run_dir/ready"
      while :; do sleep 0.05; done
    )");
    std::thread interrupter([&] {
      // The rank may be ready before the state that names its supervisor is written.
      while (!std::filesystem::exists(run_dir_ + "/ready") || !status().state) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      kill(status().state->supervisor.pid, SIGINT);
    });
    const auto run = train(script, 1);
    interrupter.join();
    QCOMPARE(run.exit_code, 130);
    QTRY_COMPARE_WITH_TIMEOUT(processes_left(), 0, kPatience);
  }
};

HEDDLE_TEST(LaunchTest)
#include "launch_test.moc"
