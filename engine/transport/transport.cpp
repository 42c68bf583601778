#include "engine/transport/transport.h"

#include <algorithm>

#include "base/guard.h"
#include "engine/transport/prompt_thread.h"

namespace heddle::transport {
namespace {

constexpr const char* kErrorKey = "error";

c10d::OpType type_of(Kind kind) {
  switch (kind) {
    case Kind::all_gather:
      return c10d::OpType::_ALLGATHER_BASE;
    case Kind::reduce_scatter:
      return c10d::OpType::_REDUCE_SCATTER_BASE;
    case Kind::all_reduce:
      return c10d::OpType::ALLREDUCE;
    case Kind::all_to_all:
      return c10d::OpType::ALLTOALL_BASE;
    case Kind::barrier:
      return c10d::OpType::BARRIER;
  }
  return c10d::OpType::UNKNOWN;
}

}  // namespace

Transport::Transport(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                     GroupOptions options)
    : store_(std::move(store)),
      rank_(rank),
      options_(std::move(options)),
      meeting_(meet(store_, rank, size, options_)),
      exchange_(meeting_, rank, size, options_, stop_) {
  thread_ = prompt_thread("transport", [this] {
    const Result<> done = caught([this]() -> Result<> {
      loop();
      return {};
    });
    if (!done) fail(done.error().message, false);
  });
}

Transport::~Transport() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    if (!under_way_.empty() && meeting_.tcp) meeting_.tcp->close();
  }
  changed_.notify_all();
  thread_.join();
}

c10::intrusive_ptr<TimedWork> Transport::submit(std::unique_ptr<Operation> operation) {
  operation->descriptor.sequence = next_++;
  describe_sources(*operation);
  auto work = c10::make_intrusive<TimedWork>(rank_, type_of(operation->descriptor.kind),
                                             operation->descriptor.sequence);
  operation->work = work;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ || under_way_.size() < kSlots; });
  if (error_) {
    work->fail(error_);
    return work;
  }
  if (options_.flight)
    operation->flight =
        options_.flight->post(options_.group, options_.ranks.empty() ? 0 : options_.ranks.front(),
                              operation->descriptor.sequence, call_text(operation->descriptor),
                              operation->descriptor.bytes);
  under_way_.push_back({std::move(operation), {}});
  UnderWay& last = under_way_.back();
  if (meeting_.tcp) meeting_.tcp->start(*last.operation, last.traffic);
  meeting_.page.post(last.operation->descriptor);
  lock.unlock();
  changed_.notify_all();
  return work;
}

std::string Transport::name() const {
  const bool memory = std::any_of(meeting_.memory.begin(), meeting_.memory.end(),
                                  [](const auto& peer) { return peer.has_value(); });
  if (!meeting_.tcp) return "memory";
  return memory ? "memory + tcp" : "tcp";
}

void Transport::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !under_way_.empty(); });
    if (under_way_.empty()) return;
    UnderWay& current = under_way_.front();  // a deque's elements stay where they are
    lock.unlock();
    try {
      exchange_.run(*current.operation, current.traffic);
    } catch (const PeerFailed& failed) {
      return fail(failed.what(), true);
    } catch (const std::exception& error) {
      return fail(error.what(), false);
    }
    if (options_.flight) options_.flight->end(current.operation->flight);
    current.operation->tensors.clear();
    const auto work = current.operation->work;
    lock.lock();
    under_way_.pop_front();
    lock.unlock();
    changed_.notify_all();
    work->succeed();
    lock.lock();
  }
}

void Transport::fail(const std::string& cause, bool of_peer) {
  const std::string text = first_error(cause, of_peer);
  meeting_.page.fail();
  std::deque<UnderWay> ended;
  {
    std::lock_guard lock(mutex_);
    error_ = std::make_exception_ptr(C10_BUILD_ERROR(DistBackendError, text));
    ended.swap(under_way_);
  }
  changed_.notify_all();
  std::vector<c10::intrusive_ptr<TimedWork>> works;
  works.reserve(ended.size());
  for (const UnderWay& one : ended) works.push_back(one.operation->work);
  // Lets go of the connections, so that ranks of other hosts see the end, then of the memory that
  // was written to and read from.
  meeting_.tcp.reset();
  ended.clear();
  for (const auto& work : works) work->fail(error_);
}

// The first rank that fails tells all the others why.
std::string Transport::first_error(const std::string& cause, bool of_peer) {
  if (stop_) return cause;
  try {
    const std::vector<uint8_t> told =
        of_peer
            ? store_->get(kErrorKey)
            : store_->compareSet(kErrorKey, {}, std::vector<uint8_t>(cause.begin(), cause.end()));
    return {told.begin(), told.end()};
  } catch (const std::exception&) {
    return cause;  // the store went with the rank that holds it
  }
}

}  // namespace heddle::transport
