#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/unique_name.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part";
constexpr size_t kNameDigits = 16;

bool is_part_of(std::string_view entry, std::string_view name) {
  return entry.size() == name.size() + 1 + kNameDigits + kPart.size() && entry.starts_with(name) &&
         entry[name.size()] == '.' && entry.ends_with(kPart) &&
         entry.substr(name.size() + 1, kNameDigits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

/// Whether nobody writes it any more; a process that is about to lock it sees that by its link
/// count.
void remove_unless_written(const std::string& part) {
  const int fd = open(part.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat about {};
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
      flock(fd, LOCK_EX | LOCK_NB) == 0)
    unlink(part.c_str());
  close(fd);
}

/// False: it was taken for a leftover and removed before it was locked.
bool lock(int fd) {
  // A file system that has no locks has none that could be taken for a leftover either.
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat about {};
  return fstat(fd, &about) != 0 || about.st_nlink > 0;
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path, mode_t mode) {
  remove_leftovers(path);
  while (true) {
    std::string part = fmt::format("{}.{}{}", path, unique_name(), kPart);
    const int fd = open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return fail("{}: cannot be created: {}", path, strerror(errno));
    NewFile file(path, std::move(part), fd);
    if (lock(fd)) return file;
  }
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

NewFile& NewFile::operator=(NewFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(part_, other.part_);
  std::swap(fd_, other.fd_);
  return *this;
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  if (!part_.empty()) unlink(part_.c_str());
  close(fd_);
}

Result<> NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("{}: cannot be written: {}", path_, strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Result<> NewFile::take_place() {
  if (rename(part_.c_str(), path_.c_str()) != 0)
    return fail("{}: cannot be written: {}", path_, strerror(errno));
  has_place();
  return {};
}

void remove_leftovers(const std::string& path) {
  const fs::path file(path);
  const std::string name = file.filename();
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::vector<std::string> left;
  std::error_code unreadable;
  for (fs::directory_iterator next(folder, unreadable), end; !unreadable && next != end;
       next.increment(unreadable))
    if (is_part_of(next->path().filename().native(), name)) left.push_back(next->path());
  for (const std::string& part : left) remove_unless_written(part);
}

}  // namespace heddle
