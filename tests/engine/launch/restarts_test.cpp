// Ranks that are started again after one has failed, by the recipe's [restart]: /bin/sh programs in
// place of ranks, on one host and on two, which are two supervisors here.
#include "engine/launch/restarts.h"

#include <signal.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "base/signature.h"
#include "engine/launch/end_proof.h"
#include "tests/engine/launch/shell_rank.h"
#include "tests/support/files.h"
#include "tests/support/free_port.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::launch;
using namespace heddle::runs;
using heddle::test::read_text;

namespace {

const std::string kRestartSecret(64, 'e');

/// How rank 1 fails, and what comes of it where two restarts are allowed. Rank 0 finishes, or is
/// told to stop by its supervisor.
struct Failing {
  const char* name;
  const char* rank_1;
  const char* state;
  int restarts;
  const char* cause;       // how it begins
  const char* after = "";  // and ends
};

const Failing kFailings[] = {
    {"killed once", "[ $attempt = 0 ] && kill -KILL $$; finish", "done", 1, ""},
    {"killed twice", "[ $attempt -lt 2 ] && kill -KILL $$; finish", "done", 2, ""},
    {"crashed", "[ $attempt = 0 ] && kill -SEGV $$; finish", "done", 1, ""},
    {"failed", "[ $attempt = 0 ] && exit 1; finish", "done", 1, ""},
    {"left without a word", "[ $attempt = 0 ] && exit 0; finish", "done", 1, ""},
    {"killed each time", "say working 7; kill -KILL $$", "failed", 2,
     "rank 1 was killed by SIGKILL after step 7 of 100",
     "restarted 2 times before, as often as restart.times allows"},
    {"a bad recipe", "exit 2", "failed", 0, "rank 1 ended with exit code 2"},
    {"a bad recipe later", "[ $attempt = 0 ] && kill -KILL $$; exit 2", "failed", 1,
     "rank 1 ended with exit code 2"},
    {"a failure that would repeat", "say_lasting; exit 1", "failed", 0,
     "rank 1 ended with exit code 1 after step 1 of 100"},
    {"ended by a person", "kill -TERM $$", "failed", 0, "rank 1 was killed by SIGTERM"},
};

}  // namespace

class RestartsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) const {
    return folder_->path().toStdString() + "/" + name;
  }

  void supervise(const std::string& run_dir, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {std::string(HEDDLE_BINARY_DIR) + "/launch_driver",
                                         "supervise", "--run-dir", run_dir});
    const auto completed = process::run(
        {.argv = arguments, .input = kRestartSecret + "\n", .deadline = std::chrono::seconds(60)});
    if (!completed || completed->exit_code != 0)
      qFatal("%s", completed ? completed->err.c_str() : completed.error().message.c_str());
  }

  /// A host's share of two ranks, with these lines for its ranks.
  std::string start(const Launch& launch, const std::string& ranks,
                    const std::string& restart = "times = 2\nbackoff = 0") const {
    const std::string run_dir = path(fmt::format("run-{}", launch.first_rank));
    std::filesystem::create_directories(run_dir);
    std::ofstream(run_dir + "/recipe.toml")
        << "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
           "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\n"
           "[training]\nsteps = 100\n[hardware]\nranks = 2\n[restart]\n"
        << restart << '\n';
    if (!write_launch(run_dir, launch)) qFatal("launch.json");
    const std::string engine = path(fmt::format("engine-{}.sh", launch.first_rank));
    supervise(run_dir, {"--secret-stdin", "--engine", shell_rank(engine, ranks)});
    return run_dir;
  }

  std::string start_both(const std::string& rank_1,
                         const std::string& restart = "times = 2\nbackoff = 0") const {
    Launch launch;
    launch.run = "test";
    launch.world_size = launch.local_ranks = 2;
    launch.grace_seconds = 10;
    const std::string rank_0 = "echo attempt $attempt\n[ $rank = 0 ] && finish\n";
    return start(launch, rank_0 + rank_1, restart);
  }

  Launch part(int32_t first_rank, uint16_t port) const {
    Launch launch;
    launch.run = "test";
    launch.world_size = 2;
    launch.first_rank = first_rank;
    launch.rendezvous_port = port;
    launch.grace_seconds = 10;
    return launch;
  }

  End end_of(const std::string& run_dir) const {
    const auto has_ended = [&] { return read_status(run_dir)->condition == Condition::ended; };
    if (!QTest::qWaitFor(has_ended, 60000)) qFatal("%s: no end", run_dir.c_str());
    return *read_status(run_dir)->end;
  }

  bool logs(const std::string& run_dir, const std::string& text) const {
    return QTest::qWaitFor(
        [&] { return read_text(run_dir + "/supervisor.0.hlog").find(text) != std::string::npos; },
        30000);
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void each_wait_is_twice_the_one_before() {
    const recipe::Restart allowed{.times = 20, .backoff = 10};
    QCOMPARE(backoff_of(allowed, 1), 10.0);
    QCOMPARE(backoff_of(allowed, 2), 20.0);
    QCOMPARE(backoff_of(allowed, 5), 160.0);
    QCOMPARE(backoff_of(allowed, 20), 3600.0);
    QCOMPARE(backoff_of({.times = 1000, .backoff = 1e-9}, 1000), 1e-9 * 1073741824.0);
    QCOMPARE(backoff_of({.times = 2, .backoff = 0}, 2), 0.0);
  }

  void what_might_not_repeat_is_tried_again_data() {
    QTest::addColumn<int>("number");
    for (size_t i = 0; i < std::size(kFailings); ++i)
      QTest::newRow(kFailings[i].name) << static_cast<int>(i);
  }
  void what_might_not_repeat_is_tried_again() {
    QFETCH(int, number);
    const Failing& failing = kFailings[number];
    const std::string run_dir = start_both(failing.rank_1);
    const End end = end_of(run_dir);
    QVERIFY2(end.state == failing.state, (end.state + ": " + end.cause).c_str());
    QVERIFY2(end.cause.starts_with(failing.cause), end.cause.c_str());
    QVERIFY2(end.cause.ends_with(failing.after), end.cause.c_str());
    QVERIFY(is_proven(end, {"run-0", 0, 0, 2}, *public_key(*Secret::from_hex(kRestartSecret))));
    const Launch launch = *read_launch(run_dir);
    QCOMPARE(launch.restarts, failing.restarts);
    const std::string log = read_text(run_dir + "/supervisor.0.hlog");
    const std::string output = read_text(run_dir + "/rank-1.err");
    for (int restart = 1; restart <= 3; ++restart) {
      const bool is_one = restart <= failing.restarts;
      const std::string says = fmt::format("restart {} of 2 in 0", restart);
      QCOMPARE(log.find(says) != std::string::npos, is_one);
      QCOMPARE(output.find(fmt::format("attempt {}\n", restart)) != std::string::npos, is_one);
    }
    if (failing.restarts > 0)
      QVERIFY2(launch.restart_cause.starts_with("rank 1 "), launch.restart_cause.c_str());
  }

  void without_the_key_the_first_failure_is_the_end() {
    const std::string run_dir = start_both("kill -KILL $$", "backoff = 0");
    const End end = end_of(run_dir);
    QVERIFY2(end.cause.starts_with("rank 1 was killed by SIGKILL"), end.cause.c_str());
    QCOMPARE(read_launch(run_dir)->restarts, 0);
  }

  void a_run_that_waits_for_its_restart_can_be_ended_data() {
    QTest::addColumn<QString>("how");
    QTest::addColumn<QString>("cause");
    QTest::newRow("stopped") << "--stop"
                             << "stopped by the user while it waited for its restart: rank 1 was "
                                "killed by SIGKILL";
    QTest::newRow("killed") << "--kill"
                            << "killed by the user while it waited for its restart: rank 1 was "
                               "killed by SIGKILL";
  }
  void a_run_that_waits_for_its_restart_can_be_ended() {
    QFETCH(QString, how);
    QFETCH(QString, cause);
    const std::string run_dir = start_both("kill -KILL $$", "times = 1\nbackoff = 600");
    QVERIFY(logs(run_dir, "restart 1 of 1 in "));
    supervise(run_dir, {how.toStdString()});
    const End end = end_of(run_dir);
    QCOMPARE(end.state, std::string("stopped"));
    QCOMPARE(end.exit_code, 130);
    QVERIFY2(end.cause.starts_with(cause.toStdString()), end.cause.c_str());
  }

  void the_ranks_of_two_hosts_start_again_together() {
    const uint16_t port = test::free_port();
    // Each attempt's ranks meet: rank 1 does not fail before rank 0 is there.
    const std::string meet = fmt::format(
        ": > '{0}/'$rank-$attempt\n"
        "until [ -e '{0}/'$((1 - rank))-$attempt ]; do sleep 0.02; done\n",
        folder_->path().toStdString());
    const std::string first = start(part(0, port), meet + "[ $attempt -lt 2 ] && exit 1; finish\n");
    const std::string second =
        start(part(1, port), meet + "[ $attempt -lt 2 ] && kill -KILL $$; finish\n");
    for (const std::string& run_dir : {first, second}) {
      const End end = end_of(run_dir);
      QVERIFY2(end.state == "done", end.cause.c_str());
      const Launch launch = *read_launch(run_dir);
      QCOMPARE(launch.restarts, 2);
      QCOMPARE(launch.restart_cause, std::string("rank 1 was killed by SIGKILL"));
    }
  }

  void two_hosts_agree_not_to_start_again_data() {
    QTest::addColumn<QString>("rank_1");
    QTest::addColumn<QString>("why");
    QTest::newRow("it would repeat") << "say_lasting; exit 1\n"
                                     << "not restarted: rank 1 ended with exit code 1";
    QTest::newRow("often enough") << "kill -KILL $$\n"
                                  << "restarted once before, as often as restart.times allows";
  }
  void two_hosts_agree_not_to_start_again() {
    QFETCH(QString, rank_1);
    QFETCH(QString, why);
    const uint16_t port = test::free_port();
    const std::string restart = "times = 1\nbackoff = 0";
    const std::string first = start(part(0, port), "exit 1\n", restart);
    const std::string second = start(part(1, port), rank_1.toStdString(), restart);
    const End ours = end_of(first), theirs = end_of(second);
    QCOMPARE(ours.state, std::string("failed"));
    QCOMPARE(theirs.state, std::string("failed"));
    QVERIFY2(ours.cause.find(why.toStdString()) != std::string::npos, ours.cause.c_str());
    QVERIFY2(theirs.cause.starts_with("rank 1 "), theirs.cause.c_str());
  }

  // The other host's supervisor hears of it and does not wait.
  void a_run_on_two_hosts_can_be_ended_while_it_waits() {
    const uint16_t port = test::free_port();
    const std::string restart = "times = 1\nbackoff = 600";
    const std::string first = start(part(0, port), "exit 1\n", restart);
    const std::string second = start(part(1, port), "kill -KILL $$\n", restart);
    QVERIFY(logs(first, "restart 1 of 1 in "));
    supervise(second, {"--kill"});
    const End theirs = end_of(second), ours = end_of(first);
    QCOMPARE(theirs.state, std::string("stopped"));
    QCOMPARE(ours.state, std::string("failed"));
    QVERIFY2(
        ours.cause.find("the supervisor of another host has ended meanwhile") != std::string::npos,
        ours.cause.c_str());
  }
};

HEDDLE_TEST(RestartsTest)
#include "restarts_test.moc"
