#include "workbench/scheduler.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/guard.h"
#include "base/say.h"
#include "storage/queries.h"
#include "workbench/group_halving.h"
#include "workbench/launch.h"

namespace heddle::workbench {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kScheduleLook{300};
/// A target whose hosts could not be reached is tried again after this.
constexpr std::chrono::seconds kTargetRetry{20};

}  // namespace

/// One thread that looks at the queue, and one for each target on which a run is being started.
class Scheduler::Manager {
 public:
  Manager(std::string store_path, storage::Writer& writer, Follower::Changed changed)
      : store_path_(std::move(store_path)),
        writer_(writer),
        changed_(std::move(changed)),
        halvings_(store_path_, writer) {
    thread_ = std::jthread([this](std::stop_token stop) {
      const Result<> done = caught([&]() -> Result<> {
        manage(std::move(stop));
        return {};
      });
      if (!done) say(stderr, "queued runs are not started any more: {}\n", done.error().message);
    });
  }

 private:
  void manage(std::stop_token stop) {
    std::optional<storage::Reader> reader;
    while (!stop.stop_requested()) {
      if (writer_.has_lease()) {
        // Should the store be what fails, the next look says so again.
        [[maybe_unused]] const Result<> looked = look(reader);
      }
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, kScheduleLook, [] { return false; });
    }
    for (auto& [target, start] : starts_) start->thread.request_stop();
    starts_.clear();
  }

  Result<> look(std::optional<storage::Reader>& reader) {
    if (!reader) {
      Result<storage::Reader> opened = storage::Reader::open(store_path_);
      if (!opened) return fail(opened);
      reader = std::move(*opened);
    }
    const Result<bool> changed = reader->changed();
    if (!changed) return fail(changed);
    const bool retries = std::erase_if(retry_, [](const auto& entry) {
                           return steady_clock::now() >= entry.second;
                         }) > 0;
    const bool started =
        std::erase_if(starts_, [](const auto& entry) { return entry.second->over.load(); }) > 0;
    take_troubles();
    if (!*changed && !retries && !started) return {};
    if (Result<> halved = halvings_.look(*reader); !halved) return halved;
    return start_next(*reader);
  }

  /// Starts the first run of each target that has room for it.
  Result<> start_next(storage::Reader& reader) {
    const auto queue = reader.queue();
    if (!queue) return fail(queue);
    if (queue->empty()) return {};
    const auto unfinished = reader.unfinished_runs();
    if (!unfinished) return fail(unfinished);
    std::map<std::string, int64_t> going;
    for (const storage::RunSummary& run : *unfinished)
      if (storage::is_going(run.state)) ++going[run.target];
    std::set<std::string> looked_at;
    for (const storage::QueuedRun& run : *queue) {
      if (!looked_at.insert(run.target).second) continue;
      if (starts_.contains(run.target) || retry_.contains(run.target)) continue;
      if (going[run.target] >= run.waiting.at_once) continue;
      const Result<storage::RunDetail> detail = reader.run(run.run);
      if (!detail) return fail(detail);
      start(run, *detail);
    }
    return {};
  }

  void start(const storage::QueuedRun& queued, const storage::RunDetail& run) {
    auto start = std::make_unique<Start>();
    start->thread = std::jthread([this, queued, run,
                                  &over = start->over](const std::stop_token& stop) {
      const Result<> done = caught([&]() -> Result<> {
        const auto launched = launch_queued(
            writer_, run, queued.waiting.mode,
            [&](const std::string&, uint64_t, uint64_t) { return !stop.stop_requested(); });
        if (launched || launched.error().cancelled) return {};
        if (launched.error().connection) note_trouble(queued, launched.error().message);
        return {};
      });
      if (!done)
        (void)writer_.set_state(queued.run, storage::RunState::failed, done.error().message).get();
      over = true;
      if (changed_) changed_(queued.run);
    });
    starts_[queued.target] = std::move(start);
  }

  /// The run stays first in its queue, and says why it does not start.
  void note_trouble(const storage::QueuedRun& run, const std::string& message) {
    {
      const std::lock_guard lock(mutex_);
      troubles_.insert(run.target);
    }
    if (run.trouble == message) return;
    // Should the store be what fails, the next try says so again.
    [[maybe_unused]] const Result<> kept =
        writer_.set_state(run.run, storage::RunState::queued, message).get();
  }

  void take_troubles() {
    const std::lock_guard lock(mutex_);
    for (const std::string& target : troubles_) retry_[target] = steady_clock::now() + kTargetRetry;
    troubles_.clear();
  }

  struct Start {
    std::atomic<bool> over{false};
    std::jthread thread;  // joined before `over` goes
  };

  std::string store_path_;
  storage::Writer& writer_;
  Follower::Changed changed_;
  GroupHalving halvings_;
  std::map<std::string, std::unique_ptr<Start>> starts_;   // by target; the managing thread's
  std::map<std::string, steady_clock::time_point> retry_;  // by target: not before; likewise
  std::mutex mutex_;
  std::set<std::string> troubles_;  // targets that could not be reached
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses all of the above
};

Scheduler::Scheduler(std::string store_path, storage::Writer& writer, Follower::Changed changed)
    : manager_(std::make_unique<Manager>(std::move(store_path), writer, std::move(changed))) {}

Scheduler::~Scheduler() = default;

}  // namespace heddle::workbench
