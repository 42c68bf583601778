#include "remote/master.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/socket.h"

namespace heddle::remote {

bool has_master(const std::string& control_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (control_path.empty() || control_path.size() >= sizeof(address.sun_path)) return false;
  // ssh would read ${NAME} in it.
  if (control_path.find("${") != control_path.npos) return false;
  struct stat info {};
  if (stat(control_path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
    return false;
  std::memcpy(address.sun_path, control_path.c_str(), control_path.size() + 1);
  const Socket tried(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(tried.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

std::vector<std::string> ssh_through_master(const std::string& control_path) {
  std::string path;
  for (const char c : control_path) path += c == '%' ? "%%" : std::string(1, c);
  return {"ssh", "-F", "none", "-T", "-S", path, "-o", "ControlMaster=no", "-o", "BatchMode=yes",
          "-o",
          // Where the master is gone meanwhile, ssh would connect by itself.
          "ProxyCommand=false"};
}

std::vector<std::string> forward_through_master(const std::string& control_path,
                                                const std::string& master_host,
                                                const std::string& address, uint16_t port) {
  std::vector<std::string> words = ssh_through_master(control_path);
  words.insert(words.end(), {"-W", fmt::format("[{}]:{}", address, port), "--", master_host});
  return words;
}

}  // namespace heddle::remote
