// A tensor that a rank holds from one step to the next: one row of the table `states_of`.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "engine/holdings/box.h"
#include "engine/holdings/parameter.h"
#include "engine/optim/state.h"

namespace heddle::holdings {

/// `gradient_sum`: gradients, or losses, of several micro-batches. `scale`: the factors of another
/// state's blocks. `table`: neither trained nor stored, such as RoPE's.
enum class Role : uint8_t { parameter, optimizer, gradient_sum, scale, table };

using optim::Element;
using optim::Place;

/// Elements of a tensor of these sizes.
inline int64_t elements_of(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

struct Stored {
  Part part;
  bool writes = false;  // one of the ranks with the same box writes it
};

struct State {
  std::string name;  // "layers.3.attention.wq.weight.exp_avg"
  Role role = Role::parameter;
  std::string of = {};              // the parameter's name; empty: of the whole step
  std::vector<int64_t> shape = {};  // on this rank, zeros at its end included
  Element element = Element::fp32;
  Place place = Place::device;
  std::optional<Stored> stored = {};  // none: checkpoints leave it out

  int64_t elements() const { return elements_of(shape); }
  int64_t bytes() const { return (elements() * optim::bits_of(element) + 7) / 8; }
};

}  // namespace heddle::holdings
