// Runs that lose a host and go on by themselves: on all of their hosts once these answer again, on
// fewer, on a spare. Several nodes behind real sshds that share a root; ranks that train nothing.
#include "workbench/lost_hosts.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "remote/connect.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class LostHostsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;
  std::unique_ptr<test::Sshd> first_, second_;
  std::string shared_;

  std::unique_ptr<test::Sshd> node() const {
    auto node = must(test::Sshd::start({.own_network = true, .shared = shared_}));
    if (first_) node->let_in(first_->user_home() + "/.ssh/id_ed25519.pub");
    return node;
  }

  static void add(remote::Target& target, std::vector<remote::Host>& hosts, const test::Sshd& node,
                  const char* name) {
    const remote::Target one = node.trusted_target();
    hosts.push_back(one.hosts[0]);
    hosts.back().name = name;
    target.accepted_keys.push_back(one.accepted_keys[0]);
  }

  /// A rank on "node" and one on "other".
  LaunchRequest request(int times, double backoff) const {
    LaunchRequest request = fixture_->request(100000, 20);
    request.sets = {"checkpoint.every=5", "checkpoint.keep=200",
                    fmt::format("restart.times={}", times),
                    fmt::format("restart.backoff={}", backoff)};
    request.target = first_->trusted_target();
    request.target.root = shared_ + "/heddle";
    add(request.target, request.target.hosts, *second_, "other");
    return request;
  }

  storage::CreatedRun launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  storage::RunDetail detail(storage::RunId run) const { return fixture_->detail(run); }

  /// The node is switched off and on: nothing that ran there is left.
  void restart(test::Sshd& node) {
    node.stop();
    must(node.start_again());
  }

  void loses_second(storage::RunId run) {
    QVERIFY(fixture_->reaches_step(run, detail(run).summary.steps + 12));
    restart(*second_);
    QVERIFY(fixture_->ends(run));
    QCOMPARE(detail(run).summary.state, RunState::lost);
  }

  /// The run that a lost one goes on as, once it trains.
  storage::RunDetail follower_of(storage::RunId run) const {
    const bool goes_on = QTest::qWaitFor([&] { return loss_of(detail(run)).goes_on_as != 0; },
                                         RunFixture::kPatience);
    if (!goes_on) qFatal("%s", detail(run).summary.cause.c_str());
    const storage::RunId next = loss_of(detail(run)).goes_on_as;
    if (!fixture_->reaches_step(next, 1)) qFatal("%s", detail(next).summary.cause.c_str());
    return detail(next);
  }

  static void says(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
      QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " in: " + text).c_str());
  }

  std::vector<std::string> hosts_of(const storage::RunDetail& run) const {
    std::vector<std::string> names;
    for (const remote::Host& host : must(place_from_json(run.hosts)).target.hosts)
      names.push_back(host.name);
    return names;
  }

  size_t runs() const {
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    return must(reader.runs()).size();
  }

 private Q_SLOTS:
  void init() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    fixture_ = std::make_unique<RunFixture>();
    shared_ = fixture_->path("shared");
    std::filesystem::create_directories(shared_);
    first_ = node();
    second_ = node();
    qputenv("HOME", first_->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    workbench_ = must(Workbench::open(fixture_->store));
  }
  void cleanup() {
    workbench_.reset();
    second_.reset();
    first_.reset();
    fixture_.reset();
  }

  void on_the_same_hosts_then_on_fewer() {
    const auto run = launched(request(2, 2));
    loses_second(run.id);
    says(detail(run.id).summary.cause, {"the supervisor on other is gone"});

    // It answers again: the layout stays.
    const storage::RunDetail again = follower_of(run.id);
    QVERIFY2(hosts_of(again).size() == 2, detail(run.id).summary.cause.c_str());
    QCOMPARE(again.summary.lineage->parent, run.id);
    QVERIFY(again.summary.lineage->step >= 5);
    says(detail(run.id).summary.cause,
         {"; it goes on as debug→100000 from step-", "on all of its hosts, which answer again"});
    says(describe_restarts(again), {"restarted once after: the supervisor on other is gone"});

    // Away for good.
    loses_second(again.summary.id);
    says(detail(again.summary.id).summary.cause,
         {"; it goes on by itself in 4.00 s (restart 2 of 2)"});
    second_->stop();
    const storage::RunDetail fewer = follower_of(again.summary.id);
    QCOMPARE(hosts_of(fewer), (std::vector<std::string>{"node"}));
    QCOMPARE(fewer.ranks, std::vector<int32_t>{0});
    says(detail(again.summary.id).summary.cause,
         {"without other, on node: ", "hardware.ranks 1 instead of 2",
          "parallelism.dp_shard 1 instead of 2"});
    says(describe_restarts(fewer), {"restarted 2 times, last after: "});
    const recipe::Recipe before = recipe::parse(again.recipe, "").recipe;
    QCOMPARE(recipe::parse(fewer.recipe, "").recipe.training.global_batch,
             2 * before.training.local_batch);

    // It comes back, and has no part in the run.
    const Digests ended = digests_of_folder(again.run_dir, 1);
    must(second_->start_again());
    QVERIFY(fixture_->reaches_step(fewer.summary.id, detail(fewer.summary.id).summary.steps + 20));
    QVERIFY(digests_of_folder(again.run_dir, 1) == ended);
    QCOMPARE(runs(), size_t(3));

    // As often as it may.
    restart(*first_);
    QVERIFY(fixture_->ends(fewer.summary.id));
    says(detail(fewer.summary.id).summary.cause,
         {"restarted 2 times before, as often as restart.times allows",
          "heddle launch --resume debug→100000-2 goes on from its newest checkpoint"});
    QVERIFY(!loss_of(detail(fewer.summary.id)).goes_on_soon);
  }

  void on_a_spare() {
    const auto third = node();
    LaunchRequest there = request(1, 2);
    add(there.target, there.target.spares, *third, "spare");
    const auto run = launched(there);
    loses_second(run.id);
    second_->stop();
    // The next workbench that follows runs takes it up, once.
    workbench_.reset();
    workbench_ = must(Workbench::open(fixture_->store));
    const storage::RunDetail next = follower_of(run.id);
    QCOMPARE(hosts_of(next), (std::vector<std::string>{"node", "spare"}));
    says(detail(run.id).summary.cause, {"without other, on node, spare (a spare)"});
    QVERIFY(fixture_->reaches_step(next.summary.id, next.summary.lineage->step + 5));
    QCOMPARE(runs(), size_t(2));
    must(workbench::kill(detail(next.summary.id)));
    QVERIFY(fixture_->ends(next.summary.id));
  }
};

HEDDLE_TEST(LostHostsTest)
#include "lost_hosts_test.moc"
