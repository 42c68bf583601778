#include "base/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/plain_file.h"

namespace heddle {
namespace {

Result<std::optional<PlainFile>> open(const std::string& path) {
  return PlainFile::open(path, PlainFile::Links::follow);
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t most) {
  const auto unread = [&](const std::string& why) {
    return fail("{}: cannot be read: {}", path, why);
  };
  auto file = open(path);
  // The path stands before the reason already.
  if (!file) return unread(file.error().message.substr(path.size() + 2));
  if (!*file) return unread(std::strerror(ENOENT));
  if ((*file)->size() > most)
    return fail("{}: {} bytes; at most {} are read", path, (*file)->size(), most);
  return (*file)->read(most);
}

std::optional<std::string> read_part(const std::string& path, uint64_t from, size_t most) {
  auto file = open(path);
  if (!file || !*file) return std::nullopt;
  (*file)->skip_to(from);
  auto bytes = (*file)->read(most);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::string tail_of_file(const std::string& path, uint64_t from, size_t most) {
  auto file = open(path);
  if (!file || !*file) return {};
  (*file)->skip_to(std::max(from, (*file)->size() - std::min<uint64_t>(most, (*file)->size())));
  return (*file)->read(most).value_or("");
}

}  // namespace heddle
