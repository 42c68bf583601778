// Which linear layers multiply in 8 bits.
#pragma once

#include <string_view>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// GPUs multiply matrices in 8 bits whose sides are multiples of this; CPUs do as they do.
inline constexpr int64_t kFloat8Multiple = 16;

class Float8Layers {
 public:
  /// None.
  Float8Layers() = default;
  /// `tied`: the output multiplies with the embedding's weight.
  explicit Float8Layers(const Precisions& precision, bool tied = false);

  /// How the linear layer with this module's name multiplies ("layers.3.attention.wq", "output").
  Float8 of(std::string_view module) const;

  /// Whether a parameter of so many dimensions of that module, where ranks hold shards of it, is
  /// gathered in 8 bits: a linear layer's weight with a scale a tensor. With a scale a row backward
  /// has other scales than forward. The embedding's stays, also where the output is tied to it.
  bool gathers(std::string_view module, size_t dimensions) const;

 private:
  Float8 float8_ = Float8::none;
  bool tied_ = false;
  std::vector<std::string> except_;  // ranges written out
};

}  // namespace heddle::recipe
