// Runs as jobs of a real Slurm on this machine, for the tests of this folder.
#pragma once

#include "remote/slurm.h"
#include "storage/job.h"
#include "tests/support/slurm.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/backend.h"
#include "workbench/control.h"
#include "workbench/workbench.h"

namespace heddle::workbench {

/// A store that is worked with, of a test that has a Slurm.
struct SlurmFixture : RunFixture {
  explicit SlurmFixture(const test::Slurm& slurm) : slurm(slurm) {}

  const test::Slurm& slurm;
  std::unique_ptr<Workbench> workbench = must(Workbench::open(store));

  LaunchRequest job_request(int steps, int pace = 1, int nodes = 1) const {
    LaunchRequest request = this->request(steps, pace);
    request.target = slurm.target(nodes);
    return request;
  }

  storage::CreatedRun launched(const LaunchRequest& request) const {
    const auto run = workbench::launch(workbench->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  /// A job that Slurm does not start.
  storage::CreatedRun held(int steps = 5) const {
    LaunchRequest request = job_request(steps);
    request.target.job->options = {"--hold"};
    return launched(request);
  }

  std::string job_of(storage::RunId run) const {
    std::string id = read_file(detail(run).run_dir + "/job");
    id.resize(id.find('\n'));
    return id;
  }

  /// A field of a job in the queue, by squeue's letter: "PENDING" for T.
  std::string in_queue(const std::string& job, const std::string& field = "%T") const {
    std::string text = slurm.ask({"squeue", "-h", "-j", job, "-o", field});
    return text.substr(0, text.find('\n'));
  }

  storage::Link link(storage::RunId run) const {
    return must(must(storage::Reader::open(store)).links())[run];
  }

  storage::RunState state(storage::RunId run) const { return detail(run).summary.state; }

  /// Whether the run was put back into the queue, from which it goes on at once.
  bool is_put_back(storage::RunId run) const {
    const std::string job = job_of(run);
    if (!QTest::qWaitFor([&] { return in_queue(job) == "PENDING"; }, kPatience)) return false;
    if (!QTest::qWaitFor([&] { return state(run) == storage::RunState::waiting; }, kPatience))
      return false;
    return slurm.start_now(job);
  }

  /// It did all of its steps, each once, although it was interrupted.
  void verify_went_on(storage::RunId run, int64_t steps) const {
    const storage::RunDetail done = detail(run);
    QVERIFY2(done.summary.state == storage::RunState::done,
             fmt::format("{} after {} steps: {}; in the queue: {}",
                         storage::to_string(done.summary.state), done.summary.steps,
                         done.summary.cause, in_queue(job_of(run)))
                 .c_str());
    QCOMPARE(done.summary.steps, steps);
    storage::Reader reader = must(storage::Reader::open(store));
    QCOMPARE(must(reader.samples(run, "loss", 0)).size(), static_cast<size_t>(steps));
    QVERIFY(must(reader.gaps(run)).empty());
    QVERIFY(!std::filesystem::exists(done.run_dir + "/job.secret"));
  }
};

}  // namespace heddle::workbench
