#include "remote/build_id.h"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "base/build_id.h"
#include "base/plain_file.h"

namespace heddle::remote {

Result<std::string> build_id_of(const std::string& file) {
  const auto opened = PlainFile::open_existing(file);
  if (!opened) return fail(opened);
  const size_t size = opened->size();
  void* bytes = MAP_FAILED;
  if (size > 0) bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened->fd(), 0);
  if (bytes == MAP_FAILED) return std::string();
  const std::string_view text(static_cast<const char*>(bytes), size);
  std::string id;
  if (const size_t mark = text.find(kBuildMark); mark != std::string_view::npos) {
    const std::string_view rest = text.substr(mark + kBuildMark.size(), kBuildIdLength);
    id = rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }
  munmap(const_cast<char*>(text.data()), text.size());
  return id;
}

}  // namespace heddle::remote
