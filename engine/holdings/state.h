// A tensor that a rank holds from one step to the next: one row of the table `states_of`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/holdings/parameter.h"
#include "engine/optim/state.h"

namespace heddle::holdings {

/// `scale`: the factors of another state's blocks. `table`: neither trained nor stored, such as
/// RoPE's.
enum class Role : uint8_t { parameter, optimizer, gradient_sum, scale, table };

using optim::Element;
using optim::Place;

/// A rank's part of a tensor of a checkpoint.
struct Part {
  std::string name;            // in the checkpoint
  std::vector<int64_t> shape;  // of the whole tensor
  recipe::Box box;             // this rank's rows and columns; may be empty

  int64_t numbers() const { return box.rows() * box.columns(); }
};

struct Stored {
  Part part;
  bool writes = false;  // one of the ranks with the same box writes it
};

struct State {
  std::string name;  // "layers.3.attention.wq.weight.exp_avg"
  Role role = Role::parameter;
  std::string of;              // the parameter's name; empty: of the whole step
  std::vector<int64_t> shape;  // on this rank, zeros at its end included
  Element element = Element::fp32;
  Place place = Place::device;
  std::optional<Stored> stored;  // none: checkpoints leave it out

  int64_t elements() const { return elements_of(shape); }
  int64_t bytes() const { return (elements() * optim::bits_of(element) + 7) / 8; }
};

}  // namespace heddle::holdings
