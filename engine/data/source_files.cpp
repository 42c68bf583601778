#include "engine/data/source_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "engine/data/patterns.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kValid =
    ".txt, .jsonl or .json, as it is or with .gz or .zst, or .parquet";
constexpr size_t kNamedSkips = 3;

/// What is found below a folder.
class Folder {
 public:
  Result<> look(const fs::path& folder) {
    struct stat about {};
    if (stat(folder.c_str(), &about) != 0)
      return fail("{}: cannot be read: {}", folder.string(), std::strerror(errno));
    // A link may lead to a folder that it lies in.
    if (!seen_.emplace(about.st_dev, about.st_ino).second) {
      skip(folder);
      return {};
    }
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code unknown;
      if (entry->is_directory(unknown)) {
        if (auto looked = look(entry->path()); !looked) return looked;
      } else if (entry->is_regular_file(unknown) && text_format(entry->path())) {
        found_.push_back(entry->path());
      } else {
        skip(entry->path());
      }
    }
    if (error) return fail("{}: {}", folder.string(), error.message());
    return {};
  }

  Result<> add_to(Sources& sources, const std::string& folder) {
    if (found_.empty()) return fail("{}: no text file in this folder; valid: {}", folder, kValid);
    std::ranges::sort(found_);
    for (const fs::path& path : found_) {
      auto file = look_at(path);
      if (!file) return fail(file);
      sources.files.push_back(std::move(*file));
    }
    if (skips_ > 0)
      sources.skipped += fmt::format("{}{}: {} skipped, which is not {}: {}{}",
                                     sources.skipped.empty() ? "" : "; ", folder, skips_, kValid,
                                     named_, skips_ > kNamedSkips ? ", …" : "");
    return {};
  }

 private:
  void skip(const fs::path& path) {
    if (skips_++ < kNamedSkips) named_ += (named_.empty() ? "" : ", ") + path.filename().string();
  }

  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<fs::path> found_;
  size_t skips_ = 0;
  std::string named_;
};

Result<> add(const std::string& path, Sources& sources) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    Folder folder;
    if (auto looked = folder.look(path); !looked) return looked;
    return folder.add_to(sources, path);
  }
  auto file = look_at(path);
  if (!file) return fail(file);
  sources.files.push_back(std::move(*file));
  return {};
}

}  // namespace

std::optional<TextFormat> text_format(const std::string& path) {
  static const std::map<std::string, Packing> packings = {{".gz", Packing::gzip},
                                                          {".zst", Packing::zstd}};
  static const std::map<std::string, TextKind> kinds = {{".txt", TextKind::plain},
                                                        {".jsonl", TextKind::json_lines},
                                                        {".json", TextKind::json},
                                                        {".parquet", TextKind::parquet}};
  fs::path name = fs::path(path).filename();
  TextFormat format;
  if (const auto packing = packings.find(name.extension()); packing != packings.end()) {
    format.packing = packing->second;
    name = name.stem();
  }
  const auto kind = kinds.find(name.extension());
  if (kind == kinds.end()) return std::nullopt;
  // Parquet packs its pages itself.
  if (kind->second == TextKind::parquet && format.packing != Packing::none) return std::nullopt;
  format.kind = kind->second;
  return format;
}

Result<SourceFile> look_at(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0)
    return errno == ENOENT ? fail("{}: no such file or folder", path)
                           : fail("{}: cannot be read: {}", path, std::strerror(errno));
  const auto format = text_format(path);
  if (!format || !S_ISREG(about.st_mode))
    return fail("{}: not a text file; valid: {}, or a folder of them", path, kValid);
  return SourceFile{path, *format, static_cast<uint64_t>(about.st_size),
                    about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec};
}

Result<Sources> find_sources(const std::vector<std::string>& paths) {
  Sources sources;
  for (const std::string& path : paths) {
    const std::vector<std::string> meant = matches_of(path);
    if (meant.empty()) return fail("{}: no file matches this pattern", path);
    for (const std::string& each : meant)
      if (auto added = add(each, sources); !added) return fail(added);
  }
  return sources;
}

}  // namespace heddle::data
