#include "storage/run_name.h"

#include "base/one_line.h"

namespace heddle::storage {

Result<> check_name(const std::string& name) {
  if (name.empty()) return fail("a run needs a name");
  const std::string shown = one_line(name);
  if (shown == name && name.front() != '-') return {};
  return fail(
      "a run cannot be called \"{}\"; valid: one line that begins with no -, without tabs and "
      "characters that nobody sees",
      shown);
}

}  // namespace heddle::storage
