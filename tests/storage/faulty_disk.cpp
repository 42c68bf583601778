#include "tests/storage/faulty_disk.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

namespace heddle::storage {
namespace {

constexpr int kSector = 512;
constexpr int kKept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;

}  // namespace

/// An open file: SQLite's own follows it in memory.
struct DiskFile {
  sqlite3_file base;
  FaultyDisk* disk;
  FaultyDisk::Unsynced* unsynced;  // null where the file does not outlive a power loss
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }

  static DiskFile& of(sqlite3_file* file) { return *reinterpret_cast<DiskFile*>(file); }
  static const sqlite3_io_methods& real_methods(sqlite3_file* file) {
    return *of(file).real()->pMethods;
  }

  /// Keeps the bytes of [from, to) until the next sync; zeros after the file's end.
  void keep(int64_t from, int64_t to) {
    for (int64_t sector = from / kSector; sector * kSector < to; ++sector) {
      const auto [at, added] = unsynced->sectors.try_emplace(sector);
      if (!added) continue;
      at->second.resize(kSector);
      real()->pMethods->xRead(real(), at->second.data(), kSector, sector * kSector);
    }
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* disk = static_cast<FaultyDisk*>(vfs->pAppData);
    auto* made = new (file) DiskFile{{nullptr}, disk, nullptr};
    const std::lock_guard lock(disk->mutex_);
    if (disk->cut_) return SQLITE_CANTOPEN;
    const int opened = disk->real_->xOpen(disk->real_, name, made->real(), flags, out);
    if (made->real()->pMethods == nullptr) return opened;
    made->base.pMethods = methods();
    if (name == nullptr || !(flags & kKept)) return opened;
    const auto [entry, added] = disk->files_.try_emplace(name);
    made->unsynced = &entry->second;
    if (added) {
      sqlite3_int64 size = 0;
      made->real()->pMethods->xFileSize(made->real(), &size);
      entry->second.durable_bytes = static_cast<uintmax_t>(size);
    }
    return opened;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    auto* disk = static_cast<FaultyDisk*>(vfs->pAppData);
    const std::lock_guard lock(disk->mutex_);
    if (disk->cut_) return SQLITE_IOERR_DELETE;
    if (const auto found = disk->files_.find(name); found != disk->files_.end()) found->second = {};
    return disk->real_->xDelete(disk->real_, name, sync_folder);
  }

  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
    DiskFile& self = of(file);
    const std::lock_guard lock(self.disk->mutex_);
    if (const int fault = self.disk->take_step(FaultyDisk::Step::write); fault != SQLITE_OK)
      return fault;
    if (self.unsynced) self.keep(at, at + count);
    return real_methods(file).xWrite(self.real(), bytes, count, at);
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    DiskFile& self = of(file);
    const std::lock_guard lock(self.disk->mutex_);
    if (const int fault = self.disk->take_step(FaultyDisk::Step::other); fault != SQLITE_OK)
      return fault;
    sqlite3_int64 before = 0;
    real_methods(file).xFileSize(self.real(), &before);
    if (self.unsynced) self.keep(size, before);
    return real_methods(file).xTruncate(self.real(), size);
  }

  /// Nothing waits for the machine's own disk: its power stays on.
  static int sync(sqlite3_file* file, int) {
    DiskFile& self = of(file);
    const std::lock_guard lock(self.disk->mutex_);
    if (const int fault = self.disk->take_step(FaultyDisk::Step::other); fault != SQLITE_OK)
      return fault;
    if (!self.unsynced) return SQLITE_OK;
    sqlite3_int64 size = 0;
    const int known = real_methods(file).xFileSize(self.real(), &size);
    *self.unsynced = {.durable_bytes = static_cast<uintmax_t>(size), .sectors = {}};
    return known;
  }

  static int close(sqlite3_file* file) { return real_methods(file).xClose(of(file).real()); }

  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods kMethods = {
        .iVersion = 2,
        .xClose = close,
        .xRead =
            [](sqlite3_file* file, void* bytes, int count, sqlite3_int64 at) {
              return real_methods(file).xRead(of(file).real(), bytes, count, at);
            },
        .xWrite = write,
        .xTruncate = truncate,
        .xSync = sync,
        .xFileSize =
            [](sqlite3_file* file, sqlite3_int64* size) {
              return real_methods(file).xFileSize(of(file).real(), size);
            },
        .xLock = [](sqlite3_file* file,
                    int level) { return real_methods(file).xLock(of(file).real(), level); },
        .xUnlock = [](sqlite3_file* file,
                      int level) { return real_methods(file).xUnlock(of(file).real(), level); },
        .xCheckReservedLock =
            [](sqlite3_file* file, int* held) {
              return real_methods(file).xCheckReservedLock(of(file).real(), held);
            },
        .xFileControl =
            [](sqlite3_file* file, int what, void* argument) {
              return real_methods(file).xFileControl(of(file).real(), what, argument);
            },
        .xSectorSize =
            [](sqlite3_file* file) { return real_methods(file).xSectorSize(of(file).real()); },
        .xDeviceCharacteristics =
            [](sqlite3_file* file) {
              return real_methods(file).xDeviceCharacteristics(of(file).real());
            },
        .xShmMap =
            [](sqlite3_file* file, int page, int bytes, int extend, void volatile** at) {
              return real_methods(file).xShmMap(of(file).real(), page, bytes, extend, at);
            },
        .xShmLock =
            [](sqlite3_file* file, int offset, int count, int flags) {
              return real_methods(file).xShmLock(of(file).real(), offset, count, flags);
            },
        .xShmBarrier =
            [](sqlite3_file* file) { return real_methods(file).xShmBarrier(of(file).real()); },
        .xShmUnmap =
            [](sqlite3_file* file, int remove) {
              return real_methods(file).xShmUnmap(of(file).real(), remove);
            },
        .xFetch = nullptr,
        .xUnfetch = nullptr,
    };
    return &kMethods;
  }
};

FaultyDisk::FaultyDisk() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
  vfs_.zName = "faulty-disk";
  vfs_.szOsFile = static_cast<int>(sizeof(DiskFile)) + real_->szOsFile;
  vfs_.pAppData = this;
  vfs_.xOpen = DiskFile::open;
  vfs_.xDelete = DiskFile::remove;
  sqlite3_vfs_register(&vfs_, 1);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(real_, 1);
}

void FaultyDisk::cut_at(int64_t n) {
  const std::lock_guard lock(mutex_);
  steps_until_cut_ = n;
}

void FaultyDisk::full_at(int64_t n) {
  const std::lock_guard lock(mutex_);
  writes_until_full_ = n;
}

int FaultyDisk::take_step(Step step) {
  if (steps_until_cut_ > 0 && --steps_until_cut_ == 0) cut_ = true;
  if (cut_) return SQLITE_IOERR_WRITE;
  if (step != Step::write) return SQLITE_OK;
  if (writes_until_full_ > 0 && --writes_until_full_ == 0) full_ = true;
  return full_ ? SQLITE_FULL : SQLITE_OK;
}

void FaultyDisk::mend(std::mt19937& random) {
  const std::lock_guard lock(mutex_);
  if (cut_) {
    for (const auto& [path, unsynced] : files_) lose(path, unsynced, random);
    files_.clear();
  }
  steps_until_cut_ = writes_until_full_ = 0;
  cut_ = full_ = false;
}

void FaultyDisk::lose(const std::string& path, const Unsynced& unsynced, std::mt19937& random) {
  std::error_code none;
  std::filesystem::remove(path + "-shm", none);  // it was in memory
  if (!std::filesystem::exists(path, none)) return;
  const auto written = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (const auto& [sector, bytes] : unsynced.sectors) {
      if (random() % 2) continue;
      file.seekp(sector * kSector);
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
  }
  std::filesystem::resize_file(path, random() % 2 ? unsynced.durable_bytes : written);
}

}  // namespace heddle::storage
