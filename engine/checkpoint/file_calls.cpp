#include "engine/checkpoint/file_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace heddle::checkpoint {

FileCalls file_calls = {::write, ::fsync, ::rename};

Result<> write_all(int descriptor, const void* bytes, size_t count, const std::string& path) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = file_calls.write(descriptor, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail("{}: cannot be written: {}", path, std::strerror(errno));
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

Result<NewFile> new_file(const std::string& path) { return NewFile::create(path, 0644); }

Result<> finish(NewFile& file, const std::string& path) {
  if (file_calls.fsync(file.fd()) != 0)
    return fail("{}: cannot be written: {}", path, std::strerror(errno));
  if (auto done = rename_durably(file.part(), path); !done) return done;
  file.has_place();
  return {};
}

Result<> write_file(const std::string& path, std::string_view content) {
  Result<NewFile> file = new_file(path);
  if (!file) return fail(file);
  if (auto done = write_all(file->fd(), content.data(), content.size(), path); !done) return done;
  return finish(*file, path);
}

}  // namespace heddle::checkpoint
