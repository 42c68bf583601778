#include "storage/store.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/one_line.h"
#include "base/plain_file.h"
#include "base/private_folder.h"
#include "storage/connection.h"
#include "storage/reading.h"
#include "storage/schema.h"
#include "storage/trust.h"

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string default_path() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data && *data) return std::string(data) + "/heddle/heddle.sqlite";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.local/share/heddle/heddle.sqlite";
}

bool is_network_filesystem(long f_type) {
  // linux/magic.h and, for CIFS, SMB2, AFS, Ceph and Lustre, the kernel's own sources; for GPFS and
  // BeeGFS their modules'. FUSE may bring anything (sshfs, s3fs, GlusterFS, virtiofs).
  switch (static_cast<uint32_t>(f_type)) {
    case 0x6969:      // NFS
    case 0x517B:      // SMB
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
    case 0x5346414F:  // AFS
    case 0x00C36400:  // Ceph
    case 0x0BD00BD0:  // Lustre
    case 0x47504653:  // GPFS
    case 0x19830326:  // BeeGFS
    case 0x65735546:  // FUSE
    case 0x01021997:  // 9P
    case 0x20030528:  // OrangeFS
    case 0x73757245:  // Coda
    case 0x7461636F:  // OCFS2
    case 0x01161970:  // GFS2
      return true;
    default:
      return false;
  }
}

Result<> check_path(const std::string& path) {
  const std::string whole = fs::absolute(path).string();
  if (!path.empty() &&
      std::ranges::none_of(whole, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return {};
  return fail("a store cannot be called \"{}\"; valid: --store FILE, without line ends in its path",
              one_line(path));
}

Result<> check_files(const std::string& path) {
  if (Result<> valid = check_path(path); !valid) return valid;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    if (auto plain = check_plain_file(path + suffix); !plain)
      return fail("the store {}", plain.error().message);
  return {};
}

Result<> prepare(const std::string& path) {
  if (auto checked = check_files(path); !checked) return checked;
  if (!is_writable(path)) return tl::unexpected(unwritable(path));
  const fs::path folder = fs::absolute(path).parent_path();
  if (const Result<> made = make_private_folders(folder); !made)
    return fail("the store's folder: {}", made.error().message);
  struct statfs about {};
  if (statfs(folder.c_str(), &about) == 0 && is_network_filesystem(about.f_type)) {
    return fail(
        "{}: the store is on a network file system, or on one of FUSE, where several hosts "
        "could damage it: choose a file on a local disk with --store",
        path);
  }
  return migrate(path, migrations());
}

Result<> prepare_to_read(const std::string& path) {
  std::error_code none;
  const bool has_room = !fs::exists(path, none) || !is_disk_full(path);
  return is_trusted(path) && is_writable(path) && has_room ? prepare(path) : check_newest(path);
}

Result<> make_one_file(const std::string& path) {
  return guarded(path, [&]() -> Result<> {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA journal_mode = DELETE");
    database.exec("VACUUM");
    return {};
  });
}

}  // namespace heddle::storage
