#include "remote/logged_in.h"

#include <atomic>
#include <map>
#include <mutex>

namespace heddle::remote {
namespace {

struct Kept {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<SshSession>> sessions;
};

std::atomic<bool> has_kept{false};

/// Not before the first session is open: at the process's end the sessions are closed by the
/// libraries that opened them, which go in the reverse order.
Kept& kept() {
  static Kept all;
  has_kept = true;
  return all;
}

/// A target that trusts other keys has to look at the host's key itself.
std::string key_of(const Target& target, const Host& host) {
  Target alone;
  alone.hosts = {host};
  alone.accepted_keys = target.accepted_keys;
  return to_json(alone);
}

}  // namespace

std::shared_ptr<SshSession> logged_in(const Target& target, const Host& host) {
  if (!has_kept) return nullptr;
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().sessions.find(key_of(target, host));
  if (found == kept().sessions.end()) return nullptr;
  if (found->second->connected()) return found->second;
  kept().sessions.erase(found);
  return nullptr;
}

void keep_logged_in(const Target& target, const Host& host, std::shared_ptr<SshSession> session) {
  const std::lock_guard lock(kept().mutex);
  kept().sessions[key_of(target, host)] = std::move(session);
}

}  // namespace heddle::remote
