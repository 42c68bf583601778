#include "remote/user_algorithms.h"

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <string_view>

namespace heddle::remote {
namespace {

thread_local std::string heard_here;

void listen(int, const char*, const char* line, void*) {
  constexpr std::string_view kBefore = "server-sig-algs=<";
  const std::string_view text(line);
  const size_t at = text.find(kBefore);
  if (at == text.npos) return;
  const size_t begin = at + kBefore.size();
  const size_t end = text.find('>', begin);
  if (end != text.npos) heard_here = text.substr(begin, end - begin);  // else it was cut off
}

}  // namespace

UserAlgorithms::UserAlgorithms() {
  heard_here.clear();
  ssh_set_log_callback(listen);
  ssh_set_log_level(SSH_LOG_PACKET);
}

UserAlgorithms::~UserAlgorithms() { ssh_set_log_level(SSH_LOG_NONE); }

std::vector<std::string> UserAlgorithms::heard() const {
  std::vector<std::string> names;
  for (std::string_view left = heard_here; !left.empty();) {
    const size_t comma = left.find(',');
    names.emplace_back(left.substr(0, comma));
    left.remove_prefix(comma == left.npos ? left.size() : comma + 1);
  }
  return names;
}

}  // namespace heddle::remote
