#include "storage/trust.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/private_folder.h"
#include "storage/store.h"

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;

struct Identity {
  uint64_t device = 0, inode = 0;
  int64_t born = 0;  // nanoseconds; 0 where the file system does not say
  uint64_t owner = 0;
  bool empty = false;
};

std::optional<Identity> identity_of(const std::string& path) {
  struct statx about {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &about) != 0) return {};
  Identity identity{.device = uint64_t{about.stx_dev_major} << 32 | about.stx_dev_minor,
                    .inode = about.stx_ino,
                    .owner = about.stx_uid,
                    .empty = about.stx_size == 0};
  if (about.stx_mask & STATX_BTIME)
    identity.born = about.stx_btime.tv_sec * 1'000'000'000 + about.stx_btime.tv_nsec;
  return identity;
}

std::string words_of(const Identity& identity) {
  return fmt::format("{} {} {}", identity.device, identity.inode, identity.born);
}

std::string list_file() { return fs::path(default_path()).parent_path() / "trusted-stores"; }

/// The lines of the list: an identity, a blank, the path that it was last known by.
std::set<std::string> read_list() {
  std::set<std::string> lines;
  std::ifstream file(list_file());
  for (std::string line; std::getline(file, line);) lines.insert(line);
  return lines;
}

bool is_listed(const Identity& identity) {
  const std::string words = words_of(identity) + ' ';
  const auto lines = read_list();
  const auto found = lines.lower_bound(words);
  return found != lines.end() && found->starts_with(words);
}

/// Whether the file that a line names is still that one.
bool holds(const std::string& line) {
  std::istringstream in(line);
  std::string device, inode, born, path;
  in >> device >> inode >> born >> std::ws;
  std::getline(in, path);
  const auto identity = identity_of(path);
  return identity && line.starts_with(words_of(*identity) + ' ');
}

/// A store from before there was a list, where only its owner could have put it.
bool is_own_default(const std::string& path, const Identity& identity) {
  std::error_code error;
  return !fs::exists(list_file(), error) && fs::equivalent(path, default_path(), error) &&
         identity.owner == geteuid();
}

}  // namespace

bool is_trusted(const std::string& path) {
  const auto identity = identity_of(path);
  if (!identity || identity->empty) return true;
  return is_listed(*identity) || (is_own_default(path, *identity) && trust(path));
}

Result<> trust(const std::string& path) {
  const auto identity = identity_of(path);
  if (!identity) return fail("{}: there is no such store", path);
  const std::string file = list_file();
  std::error_code error;
  (void)make_private_folders(fs::path(file).parent_path());
  const int lock = open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return fail("{}: {}", file, std::strerror(errno));
  while (flock(lock, LOCK_EX) != 0 && errno == EINTR) {
  }
  auto lines = read_list();
  std::erase_if(lines, [](const std::string& line) { return !holds(line); });
  lines.insert(words_of(*identity) + ' ' + fs::absolute(path).lexically_normal().string());
  {
    std::ofstream part(file + ".part", std::ios::trunc);
    for (const std::string& line : lines) part << line << '\n';
    part.flush();
    if (part)
      fs::permissions(file + ".part", fs::perms::owner_read | fs::perms::owner_write, error);
    if (!part || error) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(file + ".part", file, error);
  close(lock);
  if (error) return fail("{}: cannot be written: {}", file, error.message());
  return {};
}

Error untrusted(const std::string& path) {
  return {fmt::format(
      "{}: this store was made elsewhere, and is only read: its rows name hosts to connect to and "
      "folders to delete. If you know who made it, `heddle trust --store {}` lets Heddle follow, "
      "stop and remove its runs",
      path, path)};
}

}  // namespace heddle::storage
