#include "storage/trust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "base/file_lock.h"
#include "base/new_file.h"
#include "base/private_folder.h"
#include "base/read_file.h"
#include "storage/store.h"

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTrustPatience{5};
constexpr size_t kMaxList = size_t{16} << 20;

struct Identity {
  uint64_t device = 0, inode = 0;
  int64_t born = 0;  // nanoseconds; 0 where the file system does not say
  uint64_t owner = 0;
  bool own_and_empty = false;  // and nobody else can write it

  /// A device's number changes after a restart, or when a disk moves to another slot: it counts
  /// only where the file system keeps no birth times.
  bool operator==(const Identity& other) const {
    return inode == other.inode && born == other.born && (born != 0 || device == other.device);
  }
};

std::optional<Identity> identity_of(const std::string& path) {
  struct statx about {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &about) != 0) return {};
  Identity identity{.device = uint64_t{about.stx_dev_major} << 32 | about.stx_dev_minor,
                    .inode = about.stx_ino,
                    .owner = about.stx_uid,
                    .own_and_empty = about.stx_size == 0 && about.stx_uid == geteuid() &&
                                     (about.stx_mode & (S_IWGRP | S_IWOTH)) == 0};
  if (about.stx_mask & STATX_BTIME)
    identity.born = about.stx_btime.tv_sec * 1'000'000'000 + about.stx_btime.tv_nsec;
  return identity;
}

std::string list_file() { return fs::path(default_path()).parent_path() / "trusted-stores"; }

std::string whole(const std::string& path) { return fs::absolute(path).lexically_normal(); }

/// A line of the list: device, inode, time of birth, the path that the file was last known by.
struct Listed {
  Identity identity;
  std::string path;
};

std::vector<Listed> read_list() {
  std::vector<Listed> list;
  std::istringstream file(read_file(list_file(), kMaxList).value_or(""));
  for (std::string line; std::getline(file, line);) {
    Listed listed;
    std::istringstream in(line);
    in >> listed.identity.device >> listed.identity.inode >> listed.identity.born >> std::ws;
    if (in && std::getline(in, listed.path)) list.push_back(std::move(listed));
  }
  return list;
}

Result<> write_list(const std::vector<Listed>& list) {
  std::string text;
  for (const Listed& listed : list)
    text += fmt::format("{} {} {} {}\n", listed.identity.device, listed.identity.inode,
                        listed.identity.born, listed.path);
  Result<NewFile> file = NewFile::create(list_file());
  if (!file) return fail(file);
  const Result<> written = file->write(text);
  return written ? file->take_place() : written;
}

/// Whether another file has taken this one's path. A file that is out of reach stays listed.
bool is_replaced(const Listed& listed) {
  const auto now = identity_of(listed.path);
  return now && !(*now == listed.identity);
}

/// The default store, if it is from before the list existed: only its owner can have put it there.
std::optional<Identity> own_default() {
  std::error_code error;
  if (fs::exists(list_file(), error)) return std::nullopt;
  const auto identity = identity_of(default_path());
  return identity && identity->owner == geteuid() ? identity : std::nullopt;
}

}  // namespace

bool is_listed(const std::string& path) {
  const auto identity = identity_of(path);
  if (!identity) return false;
  const std::vector<Listed> list = read_list();
  const auto listed = std::ranges::find(list, *identity, &Listed::identity);
  if (listed == list.end()) return own_default() == identity && trust(path);
  // It was moved: known by its new path, it stays listed when another file takes the old one.
  if (listed->path != whole(path)) (void)trust(path);
  return true;
}

bool is_trusted(const std::string& path) {
  const auto identity = identity_of(path);
  return !identity || identity->own_and_empty || is_listed(path);
}

Result<> trust(const std::string& path) {
  if (Result<> valid = check_path(path); !valid) return valid;
  const auto identity = identity_of(path);
  if (!identity) return fail("{}: there is no such store", path);
  const std::string file = list_file();
  (void)make_private_folders(fs::path(file).parent_path());
  const Result<FileLock> lock = FileLock::take(file + ".lock", kTrustPatience);
  if (!lock) return fail(lock);
  if (lock->state() == FileLock::State::of_another)
    return fail("{}: {} has been writing it for 5 s: try again", file, lock->holder());
  auto list = read_list();
  if (const auto before = own_default()) list.push_back({*before, whole(default_path())});
  std::erase_if(list, [&](const Listed& listed) {
    return is_replaced(listed) || listed.identity == *identity;
  });
  list.push_back({*identity, whole(path)});
  return write_list(list);
}

Error untrusted(const std::string& path) {
  return {fmt::format(
      "{}: this store is not known to have been made here, and is only read: its rows name hosts "
      "to "
      "connect to and folders to delete. If you know who made it, `heddle trust --store {}` lets "
      "Heddle follow, stop and remove its runs, in the folders that it names",
      path, path)};
}

}  // namespace heddle::storage
