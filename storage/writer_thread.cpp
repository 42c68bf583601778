#include "storage/writer_thread.h"

#include <malloc.h>
#include <sqlite3.h>

namespace heddle::storage {
namespace {

constexpr size_t kJobsPerTransaction = 256;
constexpr std::chrono::seconds kHandBackEvery{10};

/// Some errors (a full disk) end the transaction by themselves.
bool in_transaction(Connection& connection) {
  return sqlite3_get_autocommit(connection.database().getHandle()) == 0;
}

}  // namespace

Writer::Thread::Thread(const std::string& path)
    : connection_(path, Connection::Access::write), ingestor_(connection_) {
  thread_ = std::thread([this] { loop(); });
}

Writer::Thread::~Thread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Result<> Writer::Thread::take_lease() {
  const std::lock_guard lock(mutex_);
  if (lease_) return {};
  Result<Lease> lease = Lease::acquire(connection_.path());
  if (!lease) return fail(lease);
  lease_.emplace(std::move(*lease));
  return {};
}

bool Writer::Thread::has_lease() const {
  const std::lock_guard lock(mutex_);
  return lease_.has_value();
}

void Writer::Thread::imports(RunId run) {
  const std::lock_guard lock(mutex_);
  imported_.insert(run);
}

bool Writer::Thread::may_ingest(RunId run) const {
  const std::lock_guard lock(mutex_);
  return lease_.has_value() || imported_.contains(run);
}

void Writer::Thread::enqueue(Job job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Writer::Thread::loop() {
  for (;;) {
    std::deque<Job> jobs;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      while (!queue_.empty() && jobs.size() < kJobsPerTransaction) {
        jobs.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    work_off(jobs);
  }
}

Error Writer::Thread::explained(const std::exception& exception) const {
  const auto* sqlite = dynamic_cast<const SQLite::Exception*>(&exception);
  return sqlite ? explain(connection_, *sqlite) : Error{exception.what()};
}

void Writer::Thread::work_off(std::deque<Job>& jobs) {
  std::optional<Error> failed;
  try {
    connection_.execute("BEGIN IMMEDIATE");
    for (Job& job : jobs) attempt(job);
    connection_.execute("COMMIT");
    // A commit into files that were removed or replaced is lost, though SQLite reports success.
    if (const Result<> there = connection_.still_there(); !there) failed = there.error();
  } catch (const std::exception& exception) {
    failed = explained(exception);
    if (in_transaction(connection_)) connection_.database().tryExec("ROLLBACK");
    ingestor_.forget();
  }
  for (Job& job : jobs) {
    job.settle(failed ? &*failed : job.error ? &*job.error : nullptr);
  }
  hand_back();
}

/// Compaction needs tens of MiB for a moment, which malloc would keep for good.
void Writer::Thread::hand_back() {
  const auto now = std::chrono::steady_clock::now();
  if (!ingestor_.take_compacted() || now - handed_back_ < kHandBackEvery) return;
  handed_back_ = now;
  malloc_trim(0);
}

void Writer::Thread::attempt(Job& job) {
  connection_.execute("SAVEPOINT job");
  bool keep = false;
  try {
    keep = job.work();
  } catch (const std::exception& exception) {
    if (!in_transaction(connection_)) throw;
    job.error = explained(exception);
    ingestor_.forget();
  }
  if (!keep) connection_.execute("ROLLBACK TO job");
  connection_.execute("RELEASE job");
}

}  // namespace heddle::storage
