// A disk under SQLite, in this process, from which the power can be cut and which can be full: what
// was written and not synced is then lost, sector by sector, by chance.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>

namespace heddle::storage {

/// For its life it holds all stores of this process. Any thread.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// The power goes with the nth write, truncation or sync from now on, n from 1.
  void cut_at(int64_t n);
  /// From the nth write on, n from 1, the disk is full.
  void full_at(int64_t n);
  /// There is power and room again. Unsynced writes are lost if the power was cut; no file may
  /// be open then.
  void mend(std::mt19937& random);

  bool is_cut() const { return cut_; }
  bool is_full() const { return full_; }

 private:
  friend struct DiskFile;
  /// A file's unsynced writes.
  struct Unsynced {
    uintmax_t durable_bytes = 0;
    std::map<int64_t, std::string> sectors;  // what they held, by number
  };
  enum class Step { write, other };
  /// The next step's result: SQLITE_OK, or why it fails.
  int take_step(Step step);
  void lose(const std::string& path, const Unsynced& unsynced, std::mt19937& random);

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
  std::mutex mutex_;
  std::map<std::string, Unsynced> files_;                // by path
  int64_t steps_until_cut_ = 0, writes_until_full_ = 0;  // 0: never
  bool cut_ = false, full_ = false;
};

}  // namespace heddle::storage
