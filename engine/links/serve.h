// The side of a measurement that listens: a process of its own, detached.
#pragma once

#include <chrono>
#include <string>

namespace heddle::links {

struct ServeOptions {
  std::string toward;  // the first host's address: this host listens where it is reached from there
  int host = 0;        // this one's number among the target's; 0: it is the first itself
  int guests = 0;      // that call, one after another; it ends after the last
  bool public_addresses = false;
  std::chrono::seconds patience{60};  // without any guest
};

/// The secret is the first line of stdin. Prints `{address, port}` and returns 0 once a detached
/// process listens; else an error on stderr and 1.
int serve(const ServeOptions& options);

}  // namespace heddle::links
