// How long a launch on a host takes that has the engine already, until its ranks are started, and
// how long a workbench takes that is opened again until it has the run's next step; at 0 and 40 ms
// of round trip, by a real sshd behind a line that takes its time: `launch_bench [REPEATS]`. Needs
// root.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "storage/queries.h"
#include "tests/support/slow_link.h"
#include "tests/support/sshd.h"
#include "workbench/control.h"
#include "workbench/launch.h"
#include "workbench/workbench.h"

using namespace heddle;
using workbench::Workbench;

namespace {

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "launch_bench: {}\n", why);
  std::exit(1);
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) stop(result.error().message);
  return std::move(*result);
}

double seconds_of(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

storage::RunDetail detail_of(const std::string& store, storage::RunId run) {
  auto reader = value_of(storage::Reader::open(store));
  auto detail = value_of(reader.run(run));
  if (storage::has_ended(detail.summary.state)) stop("the run has ended: " + detail.summary.cause);
  return detail;
}

/// Until the store has more steps of the run than `steps`.
void wait_for_step(const std::string& store, storage::RunId run, int64_t steps) {
  while (detail_of(store, run).summary.steps <= steps)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

storage::RunId launched(Workbench& opened, const workbench::LaunchRequest& request) {
  const auto run = workbench::launch(opened.writer(), request);
  if (!run) stop(run.error().message);
  return run->id;
}

std::string text_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return fmt::format("{:.2f} s ({:.2f} to {:.2f})", seconds[seconds.size() / 2], seconds.front(),
                     seconds.back());
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 5;
  if (const std::string missing = test::Sshd::missing(); !missing.empty()) stop(missing);
  const auto sshd = value_of(test::Sshd::start());
  setenv("HOME", sshd->user_home().c_str(), 1);
  unsetenv("SSH_AUTH_SOCK");
  const std::string store = sshd->user_home() + "/heddle.sqlite";
  auto request =
      value_of(workbench::request_from_file(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml"));
  request.sets = {"training.steps=1000000", "data.seq_len=32", "checkpoint.enabled=false"};
  fmt::print("medians of {}\n", repeats);
  for (const int trip_ms : {0, 40}) {
    test::SlowLink link(sshd->port(), std::chrono::microseconds(trip_ms * 500));
    request.target = sshd->trusted_target();
    request.target.hosts[0].port = link.port();
    request.target.accepted_keys[0].endpoint = fmt::format("127.0.0.1:{}", link.port());
    auto opened = value_of(Workbench::open(store));
    if (trip_ms == 0) {
      const storage::RunId first = launched(*opened, request);  // brings the engine
      wait_for_step(store, first, 0);
      if (const auto killed = workbench::kill(detail_of(store, first)); !killed)
        stop(killed.error().message);
    }
    std::vector<double> launches, attachments;
    for (int i = 0; i < repeats; ++i) {
      storage::RunId run = 0;
      launches.push_back(seconds_of([&] { run = launched(*opened, request); }));
      wait_for_step(store, run, 0);
      opened.reset();
      const int64_t seen = detail_of(store, run).summary.steps;
      attachments.push_back(seconds_of([&] {
        opened = value_of(Workbench::open(store));
        wait_for_step(store, run, seen);
      }));
      if (const auto killed = workbench::kill(detail_of(store, run)); !killed)
        stop(killed.error().message);
    }
    fmt::print("{:>2} ms: launch {}, reattach {}\n", trip_ms, text_of(launches),
               text_of(attachments));
    std::fflush(stdout);
  }
}
