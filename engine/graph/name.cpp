#include "engine/graph/name.h"

#include <mutex>
#include <unordered_set>

namespace heddle::graph {
namespace {

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct Texts {
  std::mutex mutex;
  std::unordered_set<std::string, Hash, std::equal_to<>> all;
};

}  // namespace

Name::Name(std::string_view text) {
  if (text.empty()) return;
  static Texts& texts = *new Texts;  // never destroyed: names may outlive static objects
  const std::lock_guard lock(texts.mutex);
  auto found = texts.all.find(text);
  if (found == texts.all.end()) found = texts.all.emplace(text).first;
  text_ = &*found;
}

}  // namespace heddle::graph
