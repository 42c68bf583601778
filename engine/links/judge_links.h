// Which links between hosts are slow, compared with the others of the same target.
#pragma once

#include <string>
#include <vector>

#include "engine/links/link.h"

namespace heddle::links {

/// Two hosts, by their numbers among the target's, and what was measured between them.
struct Pair {
  size_t from = 0, to = 0;
  Link link;
  bool operator==(const Pair&) const = default;
};

/// A slow link, or a host all of whose links are slow, in words: "the link between a and b: …".
struct Slowness {
  std::string what;  // with its numbers
  bool operator==(const Slowness&) const = default;
};

/// `names`: of the hosts. `before`: what was measured there at another time, to compare with;
/// a link is slow below half of the rate that most others have, or that it had itself, and where a
/// word takes four times as long and a millisecond more.
std::vector<Slowness> judge_links(const std::vector<std::string>& names,
                                  const std::vector<Pair>& pairs, const std::vector<Pair>& before);

}  // namespace heddle::links
