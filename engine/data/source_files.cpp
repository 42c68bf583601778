#include "engine/data/source_files.h"

#include <fmt/ranges.h>
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

/// Names of what is left out for one reason: the first few, and how many there are.
struct LeftOut {
  size_t count = 0;
  std::string named;

  void add(const fs::path& path) {
    if (count++ < kNamedSkips) named += (named.empty() ? "" : ", ") + path.filename().string();
  }
  std::string names() const { return named + (count > kNamedSkips ? ", …" : ""); }
};

/// The files below a folder.
class Folder {
 public:
  explicit Folder(std::string folder) : folder_(std::move(folder)) {
    std::error_code unknown;
    root_ = fs::canonical(folder_, unknown);
  }

  Result<> look() { return look_into(folder_); }

  Result<> add_to(Sources& sources) {
    const std::string skipped = words();
    if (found_.empty())
      return fail("{}: no text file in this folder{}{}; valid: {}", folder_,
                  skipped.empty() ? "" : "; left out: ", skipped, kValid);
    std::ranges::sort(found_);
    for (const fs::path& path : found_) {
      auto file = look_at(path);
      if (!file) return fail(file);
      sources.files.push_back(std::move(*file));
    }
    if (!skipped.empty())
      sources.skipped +=
          fmt::format("{}{}: left out: {}", sources.skipped.empty() ? "" : "; ", folder_, skipped);
    return {};
  }

 private:
  Result<> look_into(const fs::path& folder) {
    struct stat about {};
    if (stat(folder.c_str(), &about) != 0)
      return fail("{}: cannot be read: {}", folder.string(), std::strerror(errno));
    // A link may lead to a folder that contains it.
    if (!seen_.emplace(about.st_dev, about.st_ino).second) return {};
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error);
         !error && entry != fs::directory_iterator(); entry.increment(error))
      if (auto looked = look_at_entry(*entry); !looked) return looked;
    if (error) return fail("{}: {}", folder.string(), error.message());
    return {};
  }

  Result<> look_at_entry(const fs::directory_entry& entry) {
    std::error_code unknown;
    const fs::path& path = entry.path();
    if (path.filename().native().starts_with('.')) {
      hidden_.add(path);
    } else if (entry.is_symlink(unknown) && leads_out(path)) {
      links_.add(path);
    } else if (entry.is_directory(unknown)) {
      return look_into(path);
    } else if (entry.is_regular_file(unknown) && text_format(path)) {
      found_.push_back(path);
    } else {
      others_.add(path);
    }
    return {};
  }

  /// So does one that leads nowhere.
  bool leads_out(const fs::path& link) const {
    std::error_code unknown;
    const fs::path target = fs::canonical(link, unknown);
    return unknown || std::ranges::mismatch(root_, target).in1 != root_.end();
  }

  std::string words() const {
    std::vector<std::string> words;
    const auto say = [&](const LeftOut& what, std::string_view why) {
      if (what.count > 0) words.push_back(fmt::format("{} {}: {}", what.count, why, what.names()));
    };
    say(others_, "of another kind");
    say(hidden_, "hidden, read where named");
    say(links_, fmt::format("link{} out of it, followed where named, also by a pattern",
                            links_.count == 1 ? "" : "s"));
    return fmt::format("{}", fmt::join(words, "; "));
  }

  std::string folder_;
  fs::path root_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<fs::path> found_;
  LeftOut others_, hidden_, links_;
};

Result<> add(const std::string& path, Sources& sources) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    Folder folder(path);
    if (auto looked = folder.look(); !looked) return looked;
    return folder.add_to(sources);
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
  if (path.find('\0') != std::string::npos)
    return fail("{}: no file's name holds a NUL", path.substr(0, path.find('\0')));
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
