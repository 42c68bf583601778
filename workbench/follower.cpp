#include "workbench/follower.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/guard.h"
#include "engine/telemetry/record.h"
#include "storage/queries.h"
#include "workbench/follow_run.h"
#include "workbench/import.h"
#include "workbench/lost_hosts.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

constexpr std::chrono::milliseconds kFollowLook{300};
/// A launcher that dies changes nothing in the store, so it is looked at even when nothing changed.
constexpr std::chrono::seconds kLookAnyway{3};

}  // namespace

/// One thread that looks for unfinished runs, and a thread for each that it has found.
class Follower::Manager {
 public:
  Manager(std::string store_path, storage::Writer& writer, Changed changed)
      : store_path_(std::move(store_path)), writer_(writer), changed_(std::move(changed)) {
    thread_ = std::jthread([this](std::stop_token stop) {
      const Result<> done = caught([&]() -> Result<> {
        manage(std::move(stop));
        return {};
      });
      if (!done) say(stderr, "runs are not followed any more: {}\n", done.error().message);
    });
  }

 private:
  void manage(std::stop_token stop) {
    std::optional<storage::Reader> reader;
    while (!stop.stop_requested()) {
      // Another process may have it, and end.
      if (writer_.take_lease()) look(reader);
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, kFollowLook, [] { return false; });
    }
    for (auto& [run, followed] : followed_) followed->thread.request_stop();
    followed_.clear();
  }

  void look(std::optional<storage::Reader>& reader) {
    if (!reader) {
      Result<storage::Reader> opened = storage::Reader::open(store_path_);
      if (!opened) return;
      reader = std::move(*opened);
    }
    const auto now = std::chrono::steady_clock::now();
    const Result<bool> changed = reader->changed();
    if (changed && !*changed && now < look_anyway_) return;
    look_anyway_ = now + kLookAnyway;
    std::erase_if(followed_, [](const auto& entry) { return entry.second->over.load(); });
    const Result<std::vector<storage::RunSummary>> runs = reader->unfinished_runs();
    if (!runs) return;
    for (const storage::RunSummary& run : *runs) {
      // A queued run is the scheduler's.
      if (run.state == storage::RunState::queued || followed_.contains(run.id)) continue;
      const Result<storage::RunDetail> detail = reader->run(run.id);
      if (detail && !others_business(*detail)) follow(*detail);
    }
    const Result<std::vector<storage::RunId>> lost = runs_to_go_on(*reader);
    if (!lost) return;
    for (const storage::RunId run : *lost) {
      if (followed_.contains(run)) continue;
      const Result<storage::RunDetail> detail = reader->run(run);
      if (detail && loss_of(*detail).goes_on_soon && !detail->summary.trashed) follow(*detail);
    }
  }

  /// A living launcher sees to a run until it is running; one that imports, to its end.
  static bool others_business(const storage::RunDetail& run) {
    const Result<Place> place = place_from_json(run.hosts);
    if (!place) return false;
    const bool theirs =
        run.summary.state == storage::RunState::preparing || is_import(run.summary, *place);
    return theirs && launcher_lives(*place);
  }

  void follow(const storage::RunDetail& run) {
    auto followed = std::make_unique<Followed>();
    followed->thread = std::jthread([this, run, &over = followed->over](std::stop_token stop) {
      const auto changed = [&] {
        if (changed_) changed_(run.summary.id);
      };
      const Result<> done = caught([&]() -> Result<> {
        if (storage::has_ended(run.summary.state))
          go_on_by_itself(store_path_, writer_, run.summary.id, changed, std::move(stop));
        else
          follow_run(store_path_, writer_, run, changed, std::move(stop));
        return {};
      });
      over = done.has_value();
      if (!done) tell(run.summary.id, done.error());
    });
    followed_[run.summary.id] = std::move(followed);
  }

  /// It would fail again: only the next start tries.
  void tell(storage::RunId run, const Error& error) {
    (void)caught([&] {
      return writer_
          .add_line(run,
                    {.rank = telemetry::kSupervisorRank,
                     .time = unix_now(),
                     .level = telemetry::Level::error,
                     .text = "the run is not followed until Heddle starts again: " + error.message})
          .get();
    });
  }

  struct Followed {
    std::atomic<bool> over{false};
    std::jthread thread;  // joined before `over` goes
  };

  std::string store_path_;
  storage::Writer& writer_;
  Changed changed_;
  std::map<storage::RunId, std::unique_ptr<Followed>> followed_;  // the managing thread's
  std::chrono::steady_clock::time_point look_anyway_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses all of the above
};

Follower::Follower(std::string store_path, storage::Writer& writer, Changed changed)
    : manager_(std::make_unique<Manager>(std::move(store_path), writer, std::move(changed))) {}

Follower::~Follower() = default;

}  // namespace heddle::workbench
