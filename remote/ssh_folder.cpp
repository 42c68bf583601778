#include "remote/ssh_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace heddle::remote {

std::string home() {
  if (const char* folder = std::getenv("HOME"); folder && *folder) return folder;
  const passwd* user = getpwuid(getuid());
  return user ? user->pw_dir : "/";
}

std::string in_home(const std::string& path) {
  if (!path.starts_with('~')) return path;
  const size_t slash = path.find('/');
  const std::string rest = slash == path.npos ? "" : path.substr(slash);
  const std::string name = path.substr(1, slash == path.npos ? path.npos : slash - 1);
  if (name.empty()) return home() + rest;
  const passwd* user = getpwnam(name.c_str());
  return user ? user->pw_dir + rest : path;
}

std::string ssh_folder_or_default(const std::string& folder) {
  return folder.empty() ? home() + "/.ssh" : folder;
}

}  // namespace heddle::remote
