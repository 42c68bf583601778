#include "engine/data/document_choice.h"

#include <xxhash.h>

namespace heddle::data {

bool DocumentChoice::takes(std::string_view identity) const {
  if (held_out == 0) return part == Part::training;
  constexpr double kAll = 18446744073709551616.0;  // 2^64
  const auto hash = static_cast<double>(XXH3_64bits(identity.data(), identity.size()));
  return (hash / kAll < held_out) == (part == Part::held_out);
}

}  // namespace heddle::data
