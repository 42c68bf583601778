#include "base/private_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel

Result<std::optional<struct stat>> look_at_own(const fs::path& path) {
  struct stat about {};
  if (lstat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) return std::optional<struct stat>();
    return fail("{}: cannot be looked at: {}", path.string(), strerror(errno));
  }
  if (about.st_uid == 0 || about.st_uid == geteuid()) return std::optional(about);
  return fail(
      "{} belongs to someone else (user {}), who could put other files in the place of yours; "
      "valid: a folder in a place of your own",
      path.string(), about.st_uid);
}

Result<> check_writers(const fs::path& path, mode_t mode) {
  if ((mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return fail(
      "others can write to {}, and could put other files in the place of yours; valid: chmod go-w "
      "'{}', or a folder in a place of your own",
      path.string(), path.string());
}

}  // namespace

Result<> make_private_folders(const std::string& path) {
  fs::path folder;
  for (const fs::path& part : fs::absolute(path).lexically_normal()) {
    folder /= part;
    if (part.empty() || mkdir(folder.c_str(), 0700) == 0) continue;
    struct stat about {};
    const int error = errno;
    if (stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) continue;
    return fail("cannot make the folder {}: {}", folder.string(), strerror(error));
  }
  return {};
}

Result<> check_private_folder(const std::string& path) {
  std::error_code unknown;
  std::vector<fs::path> rest;  // of the way, the next part last
  const auto go = [&](const fs::path& way) {
    const std::vector<fs::path> parts(way.begin(), way.end());
    rest.insert(rest.end(), parts.rbegin(), parts.rend());
  };
  go(fs::absolute(path, unknown).relative_path());
  fs::path here("/");
  for (int links = 0; !rest.empty();) {
    const fs::path part = std::move(rest.back());
    rest.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      here = here.parent_path();
      continue;
    }
    const fs::path next = here / part;
    const auto about = look_at_own(next);
    if (!about) return fail(about);
    if (!*about) return {};
    if (!S_ISLNK((*about)->st_mode)) {
      here = next;
      if (((*about)->st_mode & S_ISVTX) != 0) continue;
      if (auto safe = check_writers(here, (*about)->st_mode); !safe) return safe;
      continue;
    }
    if (++links > kMaxLinks) return fail("too many links on the way to {}", path);
    const fs::path target = fs::read_symlink(next, unknown);
    if (target.is_absolute()) here = "/";
    go(target.relative_path());
  }
  const auto itself = look_at_own(here);
  if (!itself) return fail(itself);
  return *itself ? check_writers(here, (*itself)->st_mode) : Result<>();
}

}  // namespace heddle
