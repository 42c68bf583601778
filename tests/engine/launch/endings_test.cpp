// Every way in which ranks end, and what their supervisor says of it: only what has been done to
// the recipe's last step, by all ranks, is called done.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/process.h"
#include "base/process_id.h"
#include "base/signature.h"
#include "engine/launch/end_proof.h"
#include "engine/launch/run_ranks.h"
#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"
#include "tests/engine/launch/shell_rank.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::launch;
using namespace heddle::runs;
using heddle::test::read_text;

namespace {

const std::string kSecret(64, 'd');

/// The deed done to a run once both of its ranks are ready.
enum class Act { nothing, stop, kill, stop_rank_1 };

struct Ending {
  const char* name;
  const char* rank_1;  // the shell's lines; rank 0 does its part
  Act act;
  const char* state;
  int exit_code;
  const char* cause;  // how it begins
};

// Rank 0 finishes, unless it is asked to stop.
const Ending kEndings[] = {
    {"all finish", "finish", Act::nothing, "done", 0, ""},
    {"a checkpoint's last step was behind", "say done 250; exit 0", Act::nothing, "done", 0, ""},

    {"leaves at once", "exit 0", Act::nothing, "failed", 1,
     "rank 1 left with exit code 0, but has not finished its work"},
    {"leaves in the middle", "say working 37; exit 0", Act::nothing, "failed", 1,
     "rank 1 left with exit code 0 after step 37 of 100, but has not finished its work"},
    {"is done a step too early", "say done 99; exit 0", Act::nothing, "failed", 1,
     "rank 1 left with exit code 0 after step 99 of 100"},
    {"leaves as done, but says stopped", "say stopped 100; exit 0", Act::nothing, "failed", 1,
     "rank 1 left with exit code 0 after step 100 of 100"},
    {"says what nobody understands", "say 100 done; exit 0", Act::nothing, "failed", 1,
     "rank 1 left with exit code 0, but"},
    {"says more than is read", "say done $(printf '%0200d' 1); exit 0", Act::nothing, "failed", 1,
     "rank 1 left with exit code 0, but"},

    {"exit code 1", "exit 1", Act::nothing, "failed", 1, "rank 1 ended with exit code 1"},
    {"says why, though no disk has room for it", "say_why 5 'No space left on device'; exit 1",
     Act::nothing, "failed", 1,
     "rank 1 ended with exit code 1 after step 5 of 100: No space left on device"},
    {"exit code 2", "exit 2", Act::nothing, "failed", 2, "rank 1 ended with exit code 2"},
    {"exit code 7", "say working 5; exit 7", Act::nothing, "failed", 1,
     "rank 1 ended with exit code 7 after step 5 of 100"},
    {"exit code 126", "exit 126", Act::nothing, "failed", 1, "rank 1 ended with exit code 126"},
    {"exit code 130, unasked", "say working 5; exit 130", Act::nothing, "failed", 1,
     "rank 1 ended with exit code 130 after step 5 of 100"},
    {"exit code 143", "exit 143", Act::nothing, "failed", 1, "rank 1 ended with exit code 143"},
    {"exit code 255", "exit 255", Act::nothing, "failed", 1, "rank 1 ended with exit code 255"},
    {"done, then a failure", "say done 100; exit 3", Act::nothing, "failed", 1,
     "rank 1 ended with exit code 3 after step 100 of 100"},

    {"SIGKILL", "say working 12; kill -KILL $$", Act::nothing, "failed", 1,
     "rank 1 was killed by SIGKILL after step 12 of 100"},
    {"SIGSEGV", "kill -SEGV $$", Act::nothing, "failed", 1, "rank 1 was killed by SIGSEGV"},
    {"SIGABRT", "kill -ABRT $$", Act::nothing, "failed", 1, "rank 1 was killed by SIGABRT"},
    {"SIGBUS", "kill -BUS $$", Act::nothing, "failed", 1, "rank 1 was killed by SIGBUS"},
    {"SIGHUP", "kill -HUP $$", Act::nothing, "failed", 1, "rank 1 was killed by SIGHUP"},
    {"SIGTERM, unasked", "kill -TERM $$", Act::nothing, "failed", 1,
     "rank 1 was killed by SIGTERM"},
    {"done, then SIGSEGV", "say done 100; kill -SEGV $$", Act::nothing, "failed", 1,
     "rank 1 was killed by SIGSEGV after step 100 of 100"},

    {"the results vanish",
     "until [ -e \"$run_dir/results.json\" ]; do sleep 0.02; done\n"
     "rm \"$run_dir/results.json\"; finish",
     Act::nothing, "failed", 1, "rank 0 has finished, but what it measured is lost: "},
    {"the results are cut short",
     "until [ -e \"$run_dir/results.json\" ]; do sleep 0.02; done\n"
     "printf '{\"losses\": [2' > \"$run_dir/results.json\"; finish",
     Act::nothing, "failed", 1, "rank 0 has finished, but what it measured is lost: "},

    {"a stop is asked for", "trap 'say stopped 9; exit 130' TERM; wait_here", Act::stop, "stopped",
     130, ""},
    {"a stop that comes too late", "trap 'finish' TERM; wait_here", Act::stop, "stopped", 130, ""},
    {"a stop before the first step", "wait_here", Act::stop, "stopped", 130, ""},
    {"a stop that fails", "trap 'say working 9; exit 1' TERM; wait_here", Act::stop, "failed", 1,
     "rank 1 ended with exit code 1 after step 9 of 100"},
    {"a stop that is taken for the end", "trap 'say working 9; exit 0' TERM; wait_here", Act::stop,
     "failed", 1, "rank 1 left with exit code 0 after step 9 of 100"},
    {"one rank is asked, all agree",
     "trap ': > \"$run_dir/agreed\"; say stopped 9; exit 130' TERM; wait_here", Act::stop_rank_1,
     "stopped", 130, ""},
    {"a kill is asked for", "trap '' TERM; wait_here", Act::kill, "stopped", 130,
     "killed by the user"},
};

constexpr const char* kRank0 = R"(
wait_here() { : > "$run_dir/ready-$rank"; while :; do sleep 0.05; done; }
if [ "$rank" = 0 ]; then
  [ -e "$run_dir/short" ] && finish
  trap 'say stopped 9; exit 130' TERM
  : > "$run_dir/ready-0"
  until [ -e "$run_dir/agreed" ]; do sleep 0.05; done
  say stopped 9; exit 130
fi
)";

}  // namespace

class EndingsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> folder_;
  std::string run_dir_;

  Status supervise(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {std::string(HEDDLE_BINARY_DIR) + "/launch_driver",
                                         "supervise", "--run-dir", run_dir_});
    const auto completed = process::run(
        {.argv = arguments, .input = kSecret + "\n", .deadline = std::chrono::seconds(60)});
    if (!completed || completed->exit_code != 0)
      qFatal("%s", completed ? completed->err.c_str() : completed.error().message.c_str());
    return *read_status(run_dir_);
  }

  /// Two ranks of a recipe of 100 steps; `engine`: of rank 1.
  Status start(const std::string& rank_1, bool waits) const {
    std::filesystem::create_directories(run_dir_);
    std::ofstream(run_dir_ + "/recipe.toml")
        << "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
           "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\n"
           "[training]\nsteps = 100\n[hardware]\nranks = 2\n";
    if (!waits) std::ofstream(run_dir_ + "/short") << "";
    Launch launch;
    launch.run = "test";
    launch.world_size = launch.local_ranks = 2;
    launch.grace_seconds = 10;
    if (!write_launch(run_dir_, launch)) qFatal("launch.json");
    const std::string engine = folder_->path().toStdString() + "/engine.sh";
    return supervise({"--secret-stdin", "--engine", shell_rank(engine, kRank0 + rank_1)});
  }

  void make_one_rank() const {
    std::filesystem::create_directories(run_dir_);
    Launch launch;
    launch.run = "test";
    if (!write_launch(run_dir_, launch)) qFatal("launch.json");
  }

  bool ends() const {
    return QTest::qWaitFor([&] { return read_status(run_dir_)->condition == Condition::ended; },
                           30000);
  }

  bool ready() const {
    return QTest::qWaitFor(
        [&] {
          return std::filesystem::exists(run_dir_ + "/ready-0") &&
                 std::filesystem::exists(run_dir_ + "/ready-1");
        },
        30000);
  }

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    run_dir_ = folder_->path().toStdString() + "/run";
  }

  void it_is_what_it_was_data() {
    QTest::addColumn<int>("number");
    for (size_t i = 0; i < std::size(kEndings); ++i)
      QTest::newRow(kEndings[i].name) << static_cast<int>(i);
  }
  void it_is_what_it_was() {
    QFETCH(int, number);
    const Ending& ending = kEndings[number];
    const Status started = start(ending.rank_1, ending.act != Act::nothing);
    if (ending.act != Act::nothing) QVERIFY(ready());
    if (ending.act == Act::stop) supervise({"--stop"});
    if (ending.act == Act::kill) supervise({"--kill"});
    if (ending.act == Act::stop_rank_1) ::kill(started.state->ranks[1].process.pid, SIGTERM);
    QVERIFY(ends());
    const End end = *read_status(run_dir_)->end;
    QCOMPARE(end.state, std::string(ending.state));
    QCOMPARE(end.exit_code, ending.exit_code);
    QVERIFY2(end.cause.starts_with(ending.cause), end.cause.c_str());
    if (*ending.cause == '\0') QCOMPARE(end.cause, std::string());
    const std::string key = *public_key(*Secret::from_hex(kSecret));
    QVERIFY(is_proven(end, {"run", 0, 0, 2}, key));
  }

  void a_folder_that_vanishes_is_no_success() {
    const Status started = start(
        "until [ -e \"$run_dir/results.json\" ]; do sleep 0.02; done\n"
        "sleep 0.2; rm -rf \"$run_dir\"; say done 100; exit 0",
        false);
    QTRY_VERIFY(identify(started.state->supervisor.pid) != started.state->supervisor);
    QCOMPARE(read_status(run_dir_)->condition, Condition::absent);
  }

  // Nobody could say at which step such a run is done.
  void a_recipe_that_cannot_be_read_is_named() {
    make_one_rank();
    std::ofstream(run_dir_ + "/recipe.toml") << "[training]\nsteps = \"many\"\n";
    const auto completed =
        process::run({.argv = {std::string(HEDDLE_BINARY_DIR) + "/launch_driver", "supervise",
                               "--run-dir", run_dir_, "--secret-stdin", "--engine",
                               shell_rank(folder_->path().toStdString() + "/engine.sh", "finish")},
                      .input = kSecret + "\n",
                      .deadline = std::chrono::seconds(60)});
    QVERIFY(completed && completed->exit_code != 0);
    const std::string where = run_dir_ + "/recipe.toml:2:";
    QVERIFY2(completed->err.find(where) != std::string::npos, completed->err.c_str());
    const End end = *read_status(run_dir_)->end;
    QCOMPARE(end.state, std::string("failed"));
    QCOMPARE(end.exit_code, 2);
    QVERIFY2(end.cause.find(where) != std::string::npos, end.cause.c_str());
    QVERIFY(is_proven(end, {"run", 0, 0, 1}, *public_key(*Secret::from_hex(kSecret))));
  }

  // A program that follows the run reads this cause.
  void what_the_supervisor_itself_cannot_do_is_signed() {
    make_one_rank();
    const Secret secret = *Secret::from_hex(kSecret);
    const std::string engine = run_dir_ + "/no-engine";
    const auto outcome = run_ranks(run_dir_, engine, unix_now(), secret, {});
    QVERIFY(!outcome);
    QVERIFY2(outcome.error().message.find(engine) != std::string::npos,
             outcome.error().message.c_str());
    const End end = *read_status(run_dir_)->end;
    QCOMPARE(end.state, std::string("failed"));
    QCOMPARE(end.cause, outcome.error().message);
    QVERIFY(is_proven(end, {"run", 0, 0, 1}, *public_key(secret)));
  }

  void an_end_that_cannot_be_kept_is_told_with_its_cause() {
    make_one_rank();
    const std::string engine =
        shell_rank(folder_->path().toStdString() + "/engine.sh",
                   "mkdir -p \"$run_dir/end.json/full\"; echo the disk is gone >&2; exit 7");
    const auto outcome = run_ranks(run_dir_, engine, unix_now(), *Secret::from_hex(kSecret), {});
    QVERIFY(!outcome);
    const std::string& said = outcome.error().message;
    QVERIFY2(said.starts_with("rank 0 ended with exit code 7: the disk is gone; and its end cannot "
                              "be kept: "),
             said.c_str());
  }

  void a_folder_that_cannot_be_looked_at_is_not_gone() {
    namespace fs = std::filesystem;
    const std::string above = folder_->path().toStdString() + "/above", away = above + ".away";
    // At no moment is there nothing: that would be a folder that is gone.
    const auto exchange = [&] {
      return renameat2(AT_FDCWD, above.c_str(), AT_FDCWD, away.c_str(), RENAME_EXCHANGE) == 0;
    };
    run_dir_ = above + "/run";
    const Status started = start(
        "trap '' TERM; : > \"$run_dir/ready-1\"; cd \"$run_dir\"\n"
        "until [ -e go-on ]; do sleep 0.05; done; finish",
        false);
    QTRY_VERIFY(fs::exists(run_dir_ + "/ready-1"));
    fs::create_symlink(above, away);
    QVERIFY(exchange());  // `above` leads to itself: a look there ends in ELOOP
    QTRY_VERIFY_WITH_TIMEOUT(
        read_text(away + "/run/supervisor.0.hlog").find("cannot be looked at") != std::string::npos,
        30000);
    QVERIFY(exchange());
    std::ofstream(run_dir_ + "/go-on") << "";
    QVERIFY(ends());
    QCOMPARE(read_status(run_dir_)->end->state, std::string("done"));
  }

  void what_was_not_signed_proves_nothing() {
    const Secret secret = *Secret::from_hex(kSecret);
    const std::string key = *public_key(secret);
    const Part part{"run", 3, 4, 2};
    End end{.state = "done", .finished = 1.5e9};
    end.signature = *prove(end, part, secret);
    QVERIFY(is_proven(end, part, key));
    QVERIFY(is_proven(*end_from_json(to_json(end)), part, key));
    QVERIFY(!is_proven(end, {"other", 3, 4, 2}, key));
    QVERIFY(!is_proven(end, {"run", 2, 4, 2}, key));
    QVERIFY(!is_proven(end, {"run", 3, 0, 2}, key));
    QVERIFY(!is_proven(end, {"run", 3, 4, 4}, key));
    QVERIFY(!is_proven(end, part, *public_key(*Secret::make())));
    End edited = end;
    edited.exit_code = 1;
    QVERIFY(!is_proven(edited, part, key));
    for (const std::string& signature :
         {std::string(), std::string("done"), std::string(128, '0'), std::string(1 << 20, 'f')}) {
      edited = end;
      edited.signature = signature;
      QVERIFY(!is_proven(edited, part, key));
    }
  }
};

HEDDLE_TEST(EndingsTest)
#include "endings_test.moc"
