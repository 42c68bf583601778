#include "engine/graph/traits.h"

#include <mutex>
#include <unordered_map>

namespace heddle::graph {

// The table. An operator that is named before its kernels enter it has its place already.
class Operators {
 public:
  static Operators& all() {
    static Operators& table = *new Operators;  // never destroyed: static objects name operators
    return table;
  }

  const OperatorEntry* find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return &place(name);
  }

  void enter(const OperatorEntry& entry) {
    const std::lock_guard lock(mutex_);
    OperatorEntry& at = place(entry.name);
    at.traits = entry.traits;
    at.is_entered = true;
  }

  std::vector<Op> known() {
    const std::lock_guard lock(mutex_);
    std::vector<Op> ops;
    for (const auto& [name, entry] : entries_)
      if (entry.is_entered) {
        ops.emplace_back();
        ops.back().entry_ = &entry;
      }
    return ops;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  Operators() {
    for (const OperatorEntry& entry : libtorch_operators()) enter(entry);
  }

  OperatorEntry& place(std::string_view name) {
    if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
    OperatorEntry& entry = entries_[std::string(name)];
    entry.name = name;
    return entry;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, OperatorEntry, Hash, std::equal_to<>> entries_;
};

Op::Op(std::string_view name) {
  if (!name.empty()) entry_ = Operators::all().find(name);
}

OperatorEntries::OperatorEntries(std::initializer_list<OperatorEntry> entries) {
  for (const OperatorEntry& entry : entries) Operators::all().enter(entry);
}

std::vector<Op> all_operators() { return Operators::all().known(); }

}  // namespace heddle::graph
