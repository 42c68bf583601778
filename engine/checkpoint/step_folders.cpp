#include "engine/checkpoint/step_folders.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/durable_file.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-", kPartial = ".partial", kDamaged = ".damaged";
constexpr size_t kLongestName = 64;

/// The names of the folders in a folder.
std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable))
    if (entry.is_directory(unreadable)) names.push_back(entry.path().filename());
  return names;
}

Result<> remove_folder(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return fail("{}: cannot be removed: {}", path, error.message());
  return {};
}

bool is_named(std::string_view folder) {
  return folder.find('-', kStep.size()) != std::string_view::npos;
}

}  // namespace

std::string step_folder(int64_t step, const std::string& name) {
  return fmt::format("{}{}{}{}", kStep, step, name.empty() ? "" : "-", name);
}

bool is_checkpoint_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= kLongestName &&
         name.find_first_not_of(kAllowed) == std::string_view::npos && !name.ends_with(kPartial) &&
         !name.ends_with(kDamaged);
}

std::optional<int64_t> step_of(std::string_view folder) {
  if (!folder.starts_with(kStep)) return {};
  int64_t step = 0;
  const char* end = folder.data() + folder.size();
  const auto [rest, error] = std::from_chars(folder.data() + kStep.size(), end, step);
  if (error != std::errc() || step < 0) return {};
  if (rest == end) return step;
  if (*rest != '-' || !is_checkpoint_name({rest + 1, end})) return {};
  return step;
}

bool is_newer(const std::string& a, const std::string& b) {
  return std::pair(*step_of(a), b) > std::pair(*step_of(b), a);
}

std::vector<std::string> checkpoints_in(const std::string& folder) {
  std::vector<std::string> names = folders_in(folder);
  std::erase_if(names, [](const std::string& name) { return !step_of(name); });
  std::ranges::sort(names, is_newer);
  return names;
}

std::string lock_file(const std::string& folder) { return folder + "/lock"; }

Result<std::string> begin_checkpoint(const std::string& path) {
  std::string partial = path + std::string(kPartial);
  std::error_code error;
  // Not the folders above: a run directory that somebody has moved away must not come back.
  fs::create_directory(fs::path(path).parent_path(), error);
  if (!error) fs::create_directory(partial, error);
  if (error) return fail("{}: cannot be created: {}", partial, error.message());
  return partial;
}

Result<> commit_checkpoint(const std::string& partial, const std::string& path,
                           const Manifest& manifest) {
  if (auto done = write_atomically(partial + "/" + kManifest, to_text(manifest), kReadable); !done)
    return done;
  return rename_durably(partial, path);
}

Result<> remove_partials(const std::string& folder) {
  for (const std::string& name : folders_in(folder))
    if (name.starts_with(kStep) && name.ends_with(kPartial))
      if (auto done = remove_folder(folder + "/" + name); !done) return done;
  return {};
}

Result<> keep_newest(const std::string& folder, int64_t keep) {
  std::vector<std::string> names = checkpoints_in(folder);
  std::erase_if(names, is_named);
  for (size_t i = static_cast<size_t>(keep); i < names.size(); ++i) {
    const std::string path = folder + "/" + names[i], partial = path + std::string(kPartial);
    if (auto done = rename_durably(path, partial); !done) return done;
    if (auto done = remove_folder(partial); !done) return done;
  }
  return {};
}

Result<> set_aside(const std::string& path) {
  const std::string aside = path + std::string(kDamaged);
  if (auto done = remove_folder(aside); !done) return done;
  return rename_durably(path, aside);
}

}  // namespace heddle::checkpoint
