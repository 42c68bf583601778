#include "storage/reading.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kImmutable = "?immutable=1";
constexpr std::uintmax_t kBesideStore = 64 << 10;  // bytes; an -shm file begins with half of it

bool may_write(const fs::path& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

/// A path as SQLite reads it in a URI.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : fs::absolute(path).lexically_normal().string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri;
}

bool has_changes_waiting(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(path + "-wal", none);
  return !none && size > 0;
}

}  // namespace

bool is_writable(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return true;
  return may_write(path) && may_write(fs::absolute(path).parent_path());
}

bool is_disk_full(const std::string& path) {
  std::error_code none;
  const fs::space_info space = fs::space(fs::absolute(path).parent_path(), none);
  return !none && space.available < kBesideStore;
}

Error unwritable(const std::string& path) {
  return {fmt::format(
      "{}: this store, or its folder, cannot be written to: it is shown as it is, and no run in it "
      "is followed or changed. A copy in a folder of yours can be written, once you trust it",
      path)};
}

std::string immutable_uri(const std::string& path) {
  return uri_of(path) + std::string(kImmutable);
}

std::string reading_uri(const std::string& path) {
  std::error_code none;
  const bool fits = fs::exists(path + "-shm", none) || !is_disk_full(path);
  return (is_writable(path) && fits) || has_changes_waiting(path) ? uri_of(path)
                                                                  : immutable_uri(path);
}

bool is_immutable(const std::string& uri) { return uri.ends_with(kImmutable); }

}  // namespace heddle::storage
