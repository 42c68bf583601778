// Layouts that one would try without a search, or that others have run; and why one was not chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/search_result.h"
#include "engine/search/space.h"

namespace heddle::search {

struct Obvious {
  std::string name;
  std::function<bool(const Choice&)> is;  // which layouts are of this kind
};

/// For so many ranks on nodes of so many devices (0: one machine). The layouts of published runs
/// are among them: TorchTitan's 8B, 70B and 405B, Llama 3's own 405B (arXiv 2407.21783, table 4).
std::vector<Obvious> obvious_layouts(const Question& question, int64_t node_devices);

/// "does not fit: …" or "12 % slower: …", in one sentence with numbers. `best`: the chosen one.
std::string why_not(const plan::Found& found, const plan::Found& best, int64_t limit_bytes);

}  // namespace heddle::search
