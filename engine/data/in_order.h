// Work done side by side, its outcome taken in order.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/guard.h"
#include "base/result.h"

namespace heddle::data {

/// Bytes of pieces that are made and not taken yet, unless one alone has more.
inline constexpr size_t kMaxAhead = size_t{128} << 20;

/// `make()` gives pieces of work one after the other until it gives none, `work(worker, piece)`
/// does them on `workers` threads, and `take(outcome)` gets what comes of them in the order in
/// which they were made, on the calling thread, until it says false. `weigh(piece)`: its bytes; no
/// more are made than kMaxAhead allows. The first error ends all, so does an exception on a thread.
/// `make` is called by one thread at a time; a worker by the same one always.
template <typename Piece, typename Outcome, typename Make, typename Weigh, typename Work,
          typename Take>
Result<> in_order(int workers, Make&& make, Weigh&& weigh, Work&& work, Take&& take) {
  struct Done {
    Result<Outcome> outcome;
    size_t bytes = 0;  // of its piece
  };
  std::mutex making, state;
  std::condition_variable changed;
  std::map<size_t, Done> done;  // and not taken yet
  size_t made = 0, taken = 0, ahead = 0;
  bool no_more = false;
  Result<> result;
  const size_t most_ahead = 4 * static_cast<size_t>(workers);

  struct Next {
    size_t number;
    Result<Piece> piece;
    size_t bytes = 0;
  };
  const auto next = [&]() -> std::optional<Next> {
    const std::scoped_lock one(making);
    {
      std::unique_lock lock(state);
      changed.wait(lock, [&] {
        return no_more || (made < taken + most_ahead && (ahead == 0 || ahead < kMaxAhead));
      });
      if (no_more) return std::nullopt;
    }
    Result<std::optional<Piece>> piece = make();
    const std::scoped_lock lock(state);
    no_more |= !piece || !*piece;
    changed.notify_all();
    if (!piece) return Next{made++, fail(piece)};
    if (!*piece) return std::nullopt;
    const size_t bytes = weigh(**piece);
    ahead += bytes;
    return Next{made++, std::move(**piece), bytes};
  };
  const auto run = [&](int worker) -> Result<> {
    while (auto one = next()) {
      Result<Outcome> outcome =
          one->piece ? work(worker, std::move(*one->piece)) : Result<Outcome>(fail(one->piece));
      const std::scoped_lock lock(state);
      done.emplace(one->number, Done{std::move(outcome), one->bytes});
      changed.notify_all();
    }
    return {};
  };
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      Result<> ran = caught([&] { return run(worker); });
      if (ran) return;
      const std::scoped_lock lock(state);
      result = std::move(ran);
      no_more = true;
      changed.notify_all();
    });

  while (true) {
    std::unique_lock lock(state);
    changed.wait(lock,
                 [&] { return !result || done.contains(taken) || (no_more && taken == made); });
    const auto first = done.find(taken);
    if (!result || first == done.end()) break;
    Done one = std::move(first->second);
    done.erase(first);
    ++taken;
    ahead -= one.bytes;
    changed.notify_all();
    lock.unlock();
    const Result<bool> more = caught([&] {
      return one.outcome ? take(std::move(*one.outcome)) : Result<bool>(fail(one.outcome));
    });
    if (more && *more) continue;
    lock.lock();
    if (!more) result = fail(more);
    no_more = true;
    changed.notify_all();
    break;
  }
  threads.clear();  // a thread may still have an error to say
  return result;
}

}  // namespace heddle::data
