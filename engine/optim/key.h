// A key of [optimizer] that only some optimizers have.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle::optim {

/// Values of such keys, by name: one number, two of a pair, 0 or 1 of a flag. A key that is missing
/// has its default.
using Settings = std::map<std::string, std::vector<double>, std::less<>>;

struct Key {
  enum class Kind : uint8_t { number, pair, flag };
  enum class Range : uint8_t { positive, below_1 };  // more than 0; 0 or more and less than 1

  std::string name;  // "betas" of "optimizer.betas"
  Kind kind = Kind::number;
  Range range = Range::positive;  // of each number
  std::vector<double> fallback;   // the default
  std::string label, help;        // for people: a word or two, a sentence

  const std::vector<double>& values(const Settings& settings) const {
    const auto set = settings.find(name);
    return set == settings.end() ? fallback : set->second;
  }
  double value(const Settings& settings) const { return values(settings).front(); }
};

}  // namespace heddle::optim
