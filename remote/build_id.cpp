#include "remote/build_id.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "engine/build_id.h"

namespace heddle::remote {

Result<std::string> build_id_of(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("{}: {}", file, strerror(errno));
  struct stat about {};
  void* bytes = MAP_FAILED;
  if (fstat(fd, &about) == 0 && about.st_size > 0)
    bytes = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return std::string();
  const std::string_view text(static_cast<const char*>(bytes), static_cast<size_t>(about.st_size));
  std::string id;
  if (const size_t mark = text.find(kBuildMark); mark != std::string_view::npos) {
    const std::string_view rest = text.substr(mark + kBuildMark.size(), kBuildIdLength);
    id = rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }
  munmap(const_cast<char*>(text.data()), text.size());
  return id;
}

}  // namespace heddle::remote
