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

Result<> write_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return fail("{}: cannot be created: {}", temporary, std::strerror(errno));
  Result<> done = write_all(descriptor, content.data(), content.size(), temporary);
  if (done && file_calls.fsync(descriptor) != 0)
    done = fail("{}: cannot be written: {}", temporary, std::strerror(errno));
  ::close(descriptor);
  if (done) done = rename_durably(temporary, path);
  if (!done) ::unlink(temporary.c_str());
  return done;
}

}  // namespace heddle::checkpoint
