#include "engine/transport/verdict.h"

#include <fmt/ranges.h>

#include <numeric>
#include <thread>
#include <utility>

namespace heddle::transport {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Verdict::Verdict(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                 const GroupOptions& options)
    : store_(std::move(store)), other_store_(store_->clone()), rank_(rank), ranks_(options.ranks) {
  if (!ranks_.empty()) return;
  ranks_.resize(static_cast<size_t>(size));
  std::iota(ranks_.begin(), ranks_.end(), 0);
}

std::string Verdict::key_of(size_t rank) const {
  return fmt::format("verdict.{}.{}", round_.load(), rank);
}

// Not every store tells an empty value from none: each value begins with a colon.
std::string Verdict::error_of(c10d::Store& store, size_t rank) const {
  const std::vector<uint8_t> told = store.get(key_of(rank));
  return told.size() <= 1
             ? ""
             : fmt::format("rank {}: {}", ranks_[rank], std::string(told.begin() + 1, told.end()));
}

std::string Verdict::told() {
  for (size_t rank = 0; rank < ranks_.size(); ++rank)
    if (other_store_->check({key_of(rank)}))
      if (std::string error = error_of(*other_store_, rank); !error.empty()) return error;
  return {};
}

Result<std::string> Verdict::of_all(const std::string& error, milliseconds timeout) {
  constexpr milliseconds kPause(5);
  const std::string told = ":" + error;
  store_->set(key_of(static_cast<size_t>(rank_)), std::vector<uint8_t>(told.begin(), told.end()));
  const auto deadline = steady_clock::now() + timeout;
  std::string first;
  std::vector<int> silent;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const std::string key = key_of(rank);
    bool has_told = store_->check({key});
    while (!has_told && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPause);
      has_told = store_->check({key});
    }
    if (!has_told) {
      silent.push_back(ranks_[rank]);
      continue;
    }
    if (first.empty()) first = error_of(*store_, rank);
  }
  ++round_;
  if (silent.empty()) return first;
  return fail("rank{} {} {} not answered after {:g} s{}", silent.size() == 1 ? "" : "s",
              fmt::join(silent, ", "), silent.size() == 1 ? "has" : "have",
              std::chrono::duration<double>(timeout).count(),
              first.empty() ? "" : " (" + first + ")");
}

}  // namespace heddle::transport
