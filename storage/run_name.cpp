#include "storage/run_name.h"

#include <string_view>

#include "base/one_line.h"

namespace heddle::storage {
namespace {

constexpr std::string_view kResumed = "→", kForked = "@";

void drop_digits(std::string_view& name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
}

/// Without the mark, its step, and the "-2" of a name that was taken.
std::string_view without(std::string_view name, std::string_view mark) {
  std::string_view rest = name;
  drop_digits(rest);
  if (rest.size() < name.size() && rest.ends_with('-')) {
    std::string_view shorter = rest.substr(0, rest.size() - 1);
    const size_t before = shorter.size();
    drop_digits(shorter);
    if (shorter.size() < before && shorter.ends_with(mark)) rest = shorter;
  }
  const bool marked = rest.size() < name.size() && rest.ends_with(mark);
  return marked && rest.size() > mark.size() ? rest.substr(0, rest.size() - mark.size()) : name;
}

}  // namespace

Result<> check_name(const std::string& name) {
  if (name.empty()) return fail("a run needs a name");
  const std::string shown = one_line(name);
  if (shown == name && name.front() != '-') return {};
  return fail(
      "a run cannot be called \"{}\"; valid: one line that begins with no -, without tabs and "
      "characters that nobody sees",
      shown);
}

std::string continued_name(const RunSummary& parent, Lineage::Kind kind, int64_t from_step,
                           int64_t last_step) {
  std::string_view root = parent.name;
  if (parent.lineage) root = without(root, kResumed);
  if (kind == Lineage::Kind::resume)
    return std::string(root) + std::string(kResumed) + std::to_string(last_step);
  if (parent.lineage) root = without(root, kForked);
  return std::string(root) + std::string(kForked) + std::to_string(from_step);
}

}  // namespace heddle::storage
