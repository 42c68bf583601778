#include "engine/graph/name.h"

#include "engine/graph/kept.h"

namespace heddle::graph {
namespace {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

Name::Name(std::string_view text) {
  if (text.empty()) return;
  using Texts = Kept<std::string, TextHash, std::equal_to<>>;
  static Texts& texts = *new Texts;  // never destroyed: names may outlive static objects
  text_ = texts.find_or_keep(text);
}

}  // namespace heddle::graph
