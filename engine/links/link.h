// A link between two hosts, as measured. Plain data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"

namespace heddle::links {

struct Link {
  double seconds = 0;  // a word there and back, the median
  double out = 0;      // bytes a second from the host that calls
  double back = 0;     // and to it
  bool operator==(const Link&) const = default;

  /// The slower direction's.
  double bytes_per_second() const { return out < back ? out : back; }
};

/// Where a host waits to be called.
struct Listener {
  std::string address;
  uint16_t port = 0;
};

nlohmann::json to_json(const Link& link);
/// Throws nlohmann::json::exception.
Link link_from_json(const nlohmann::json& json);

/// Two commands print it.
Result<Link> link_from(const std::string& printed);
Result<Listener> listener_from(const std::string& printed);

}  // namespace heddle::links
