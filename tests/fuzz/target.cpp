// A target as the store keeps it, and a host as it is typed.
#include "remote/target.h"

#include "tests/fuzz/input.h"

using namespace heddle::remote;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(heddle::fuzz::text(data, size));
  (void)parse_host(text);
  if (const auto target = target_from_json(text))
    if (const auto again = target_from_json(to_json(*target)); !again || !(*again == *target))
      std::abort();
  return 0;
}
