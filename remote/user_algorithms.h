// The signature algorithms that a host takes for users' keys (RFC 8308, server-sig-algs). libssh
// hears them and shows them in its log alone.
#pragma once

#include <string>
#include <vector>

namespace heddle::remote {

/// Listens to libssh's log of this thread for as long as it lives. Only one may live in a thread.
class UserAlgorithms {
 public:
  UserAlgorithms();
  ~UserAlgorithms();
  UserAlgorithms(const UserAlgorithms&) = delete;
  UserAlgorithms& operator=(const UserAlgorithms&) = delete;

  /// Empty: the host has not said.
  std::vector<std::string> heard() const;
};

}  // namespace heddle::remote
