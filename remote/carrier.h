// What carries a session's bytes where there is no plain TCP connection to the host: a host to go
// through (jump.h), a program (proxy.h).
#pragma once

#include <string>

namespace heddle::remote {

class Carrier {
 public:
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// The near end, to be used and closed by the session that runs through it. Valid once.
  virtual int take_socket() = 0;
  /// Why nothing comes through any more, as a sentence; empty where it says nothing.
  virtual std::string why_ended() { return {}; }

 protected:
  Carrier() = default;
};

}  // namespace heddle::remote
