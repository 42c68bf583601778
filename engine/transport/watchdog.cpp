#include "engine/transport/watchdog.h"

#include <algorithm>

#include "base/guard.h"
#include "engine/transport/report.h"

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kStalled = "stalled";  // set by the rank that has seen it first
std::string progress_key(int rank) { return "progress." + std::to_string(rank); }

// How often it looks: often enough that a rank answers while the others wait for it.
milliseconds period(milliseconds timeout) {
  return std::clamp(timeout / 20, milliseconds(10), milliseconds(5000));
}

}  // namespace

Watchdog::Watchdog(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options,
                   const Journal& journal, std::function<void(const std::string& error)> aborts,
                   std::function<std::string()> fault)
    : store_(std::move(store)),
      rank_(rank),
      size_(size),
      options_(std::move(options)),
      journal_(journal),
      aborts_(std::move(aborts)),
      fault_(std::move(fault)),
      timeout_(options_.timeout),
      thread_([this] {
        guarded_thread("watchdog", [this] {
          const Result<> done = caught([this]() -> Result<> {
            run();
            return {};
          });
          if (!done) end(done.error().message);
        });
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::optional<std::string> Watchdog::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period(timeout_), [this] { return stop_; })) {
    lock.unlock();
    std::string found = fault_ ? fault_() : "";
    if (!found.empty()) return end(found);
    try {
      if (stalls(steady_clock::now()) || store_->check({kStalled})) found = examine();
    } catch (const std::exception&) {
      // The store's host is gone, and with it what the others would tell.
      const Progress own = journal_.progress();
      if (stalls(steady_clock::now()) && own.stalled())
        found = timeout_text(options_.group, *own.stalled(), timeout_.load(),
                             {report_of(run_rank(rank_), own)});
    }
    lock.lock();
    if (found.empty()) continue;
    lock.unlock();
    return end(found);
  }
}

void Watchdog::end(const std::string& error) {
  {
    const std::lock_guard lock(mutex_);
    error_ = error;
  }
  aborts_(error);
}

// Whether a collective is under way and none has ended for longer than the timeout.
bool Watchdog::stalls(steady_clock::time_point now) {
  const Progress progress = journal_.progress();
  if (!progress.stalled() || progress.ended != seen_ended_) stalled_since_.reset();
  seen_ended_ = progress.ended;
  if (!progress.stalled()) return false;
  if (!stalled_since_) stalled_since_ = now;
  return now - *stalled_since_ > timeout_.load();
}

// Tells the others how far this rank is, and takes what they tell.
std::string Watchdog::examine() {
  store_->set(kStalled, std::vector<uint8_t>{1});
  const Progress own = journal_.progress();
  store_->set(progress_key(rank_), to_bytes(own));
  std::vector<std::optional<Progress>> all(size_);
  std::vector<RankReport> reports;
  std::vector<int> ranks;
  const Descriptor* waited_for = own.stalled();
  const auto deadline = steady_clock::now() + 4 * period(timeout_);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) {
      all[rank] = own;
    } else {
      while (!store_->check({progress_key(rank)}) && steady_clock::now() < deadline)
        std::this_thread::sleep_for(period(timeout_) / 4);
      if (store_->check({progress_key(rank)}))
        all[rank] = progress_from(store_->get(progress_key(rank)));
    }
    ranks.push_back(run_rank(rank));
    reports.push_back(report_of(run_rank(rank), all[rank]));
    if (!waited_for && all[rank]) waited_for = all[rank]->stalled();
  }
  if (std::string text = mismatch_text(options_.group, ranks, all); !text.empty()) return text;
  return waited_for ? timeout_text(options_.group, *waited_for, timeout_.load(), reports) : "";
}

}  // namespace heddle::transport
