// Work done side by side, its outcome taken in order.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace heddle::data {

/// `make()` gives pieces of work one after the other until it gives none, `work(worker, piece)`
/// does them on `workers` threads, and `take(outcome)` gets what comes of them in the order in
/// which they were made, on the calling thread, until it says false. The first error ends all.
/// `make` is called by one thread at a time; a worker by the same one always.
template <typename Piece, typename Outcome, typename Make, typename Work, typename Take>
Result<> in_order(int workers, Make&& make, Work&& work, Take&& take) {
  std::mutex making, state;
  std::condition_variable changed;
  std::map<size_t, Result<Outcome>> done;  // and not taken yet
  size_t made = 0, taken = 0;
  bool no_more = false;
  const size_t most_ahead = 4 * static_cast<size_t>(workers);

  // The next piece and its number.
  const auto next = [&]() -> std::optional<std::pair<size_t, Result<Piece>>> {
    const std::scoped_lock one(making);
    {
      std::unique_lock lock(state);
      changed.wait(lock, [&] { return no_more || made < taken + most_ahead; });
      if (no_more) return std::nullopt;
    }
    Result<std::optional<Piece>> piece = make();
    const std::scoped_lock lock(state);
    no_more |= !piece || !*piece;
    changed.notify_all();
    if (!piece) return std::pair{made++, Result<Piece>(fail(piece))};
    if (!*piece) return std::nullopt;
    return std::pair{made++, Result<Piece>(std::move(**piece))};
  };
  const auto run = [&](int worker) {
    while (auto piece = next()) {
      Result<Outcome> outcome = piece->second ? work(worker, std::move(*piece->second))
                                              : Result<Outcome>(fail(piece->second));
      const std::scoped_lock lock(state);
      done.emplace(piece->first, std::move(outcome));
      changed.notify_all();
    }
  };
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < workers; ++worker) threads.emplace_back(run, worker);

  Result<> result;
  while (true) {
    std::unique_lock lock(state);
    changed.wait(lock, [&] { return done.contains(taken) || (no_more && taken == made); });
    const auto first = done.find(taken);
    if (first == done.end()) break;
    Result<Outcome> outcome = std::move(first->second);
    done.erase(first);
    ++taken;
    changed.notify_all();
    lock.unlock();
    Result<bool> more = outcome ? take(std::move(*outcome)) : Result<bool>(fail(outcome));
    if (more && *more) continue;
    if (!more) result = fail(more);
    lock.lock();
    no_more = true;
    changed.notify_all();
    break;
  }
  return result;
}

}  // namespace heddle::data
