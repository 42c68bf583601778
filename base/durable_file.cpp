#include "base/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace heddle {
namespace {

Error not_written(const std::string& path) {
  return {fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
}

}  // namespace

FileCalls file_calls = {::write, ::fsync, ::rename};

Result<> write_all(int descriptor, const void* bytes, size_t count, const std::string& path) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = file_calls.write(descriptor, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(not_written(path));
    at += written;
    count -= static_cast<size_t>(written);
  }
  return {};
}

Result<> sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return fail("{}: cannot be opened: {}", folder, std::strerror(errno));
  const int synced = file_calls.fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  if (synced != 0 && error != EINVAL)
    return fail("{}: cannot be written: {}", folder, std::strerror(error));
  return {};
}

Result<> rename_durably(const std::string& from, const std::string& to) {
  if (file_calls.rename(from.c_str(), to.c_str()) != 0)
    return fail("{}: cannot be renamed to {}: {}", from, to, std::strerror(errno));
  return sync_folder(std::filesystem::absolute(to).parent_path());
}

Result<> place_durably(NewFile& file, const std::string& path) {
  if (file_calls.fsync(file.fd()) != 0) return tl::unexpected(not_written(path));
  if (auto done = rename_durably(file.part(), path); !done) return done;
  file.has_place();
  return {};
}

Result<> write_atomically(const std::string& path, std::string_view content, mode_t mode) {
  Result<NewFile> file = NewFile::create(path, mode);
  return file ? write_atomically(std::move(*file), path, content) : fail(file);
}

Result<NewFile> reserve(const std::string& path, int64_t bytes) {
  Result<NewFile> room = NewFile::create(path);
  if (!room) return room;
  const int error = posix_fallocate(room->fd(), 0, bytes);
  if (error == 0) return room;
  return fail("{}: there is no room for it: {}", path, strerror(error));
}

Result<> write_atomically(NewFile room, const std::string& path, std::string_view content) {
  // Not cut first: what is reserved for it stays its own.
  if (auto written = write_all(room.fd(), content.data(), content.size(), path); !written)
    return written;
  if (ftruncate(room.fd(), static_cast<off_t>(content.size())) != 0)
    return tl::unexpected(not_written(path));
  return place_durably(room, path);
}

}  // namespace heddle
