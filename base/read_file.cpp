#include "base/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace heddle {
namespace {

Result<std::optional<PlainFile>> open_followed(const std::string& path) {
  return PlainFile::open(path, PlainFile::Links::follow);
}

}  // namespace

Result<std::optional<std::string>> read_file_if_there(const std::string& path, size_t most,
                                                      PlainFile::Links links,
                                                      PlainFile::Owner owner) {
  auto file = PlainFile::open(path, links, owner);
  if (!file) return fail(file);
  if (!*file) return std::optional<std::string>();
  const uint64_t size = (*file)->size();
  if (size > most) return fail("{}: {} bytes; at most {} are read", path, size, most);
  Result<std::string> text = (*file)->read(most);
  if (!text) return fail(text);
  return std::optional(std::move(*text));
}

Result<std::string> read_file(const std::string& path, size_t most) {
  auto text = read_file_if_there(path, most);
  if (!text) return fail(text);
  if (!*text) return fail("{}: cannot be read: {}", path, std::strerror(ENOENT));
  return std::move(**text);
}

Result<std::string> read_named_file(const std::string& path, size_t most) {
  std::error_code unknown;
  const auto about = std::filesystem::status(path, unknown);
  if (!std::filesystem::is_fifo(about) && !std::filesystem::is_character_file(about))
    return read_file(path, most);
  std::ifstream stream(path, std::ios::binary);
  std::string text(most + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad())
    return fail("{}: cannot be read: {}", path, std::strerror(errno));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > most) return fail("{}: more than {} bytes; no more are read", path, most);
  return text;
}

std::optional<std::string> read_part(const std::string& path, uint64_t from, size_t most) {
  auto file = open_followed(path);
  if (!file || !*file) return std::nullopt;
  (*file)->skip_to(from);
  auto bytes = (*file)->read(most);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::string tail_of_file(const std::string& path, uint64_t from, size_t most) {
  auto file = open_followed(path);
  if (!file || !*file) return {};
  (*file)->skip_to(std::max(from, (*file)->size() - std::min<uint64_t>(most, (*file)->size())));
  return (*file)->read(most).value_or("");
}

}  // namespace heddle
