// A communicator between processes: each posts what it sends to every other one, and reads what is
// for it, once all have come. Its memory is a file that all of them map.
//
// Thread contract: one collective at a time; `abort` from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fake {

inline constexpr int kMaxRanks = 64;

struct Sent {
  uint64_t address = 0, bytes = 0;
};

class Exchange {
 public:
  /// Makes an empty file for ranks to meet in; its path.
  static std::string make_file();
  /// Returns once all ranks have come. The file goes with the first that does.
  Exchange(const std::string& file, int rank, int size);

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// The data that each rank sends to this one, after all have come; false: aborted.
  bool swap(const std::vector<Sent>& sent, std::vector<std::vector<char>>& received);
  /// Returns once all ranks have called it as often; false: aborted.
  bool meet();

  void abort() { aborted_ = true; }
  bool aborted() const;

 private:
  struct Rank;
  struct Shared;
  template <typename Counter>
  bool all_at(Counter counter, uint64_t count) const;

  Shared* shared_ = nullptr;
  int rank_, size_;
  uint64_t swaps_ = 0, meetings_ = 0;
  std::atomic<bool> aborted_ = false;
};

}  // namespace fake
