// A tensor that an optimizer keeps for a parameter from one step to the next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::optim {

/// How a number is kept. The factors of blocks are a state by themselves.
enum class Element : uint8_t { fp32, bf16, blocks_of_8_bits, blocks_of_4_bits };

enum class Place : uint8_t { device, host };

constexpr int64_t bits_of(Element element) {
  switch (element) {
    case Element::fp32:
      return 32;
    case Element::bf16:
      return 16;
    case Element::blocks_of_8_bits:
      return 8;
    case Element::blocks_of_4_bits:
      return 4;
  }
  return 0;
}

struct State {
  std::string name;            // "exp_avg" of "layers.3.attention.wq.weight.exp_avg"
  std::vector<int64_t> shape;  // on a rank, which holds a shard of the parameter
  Element element = Element::fp32;
  Place place = Place::device;
};

}  // namespace heddle::optim
