// The output of a host's small programs on files and folders.
#include "remote/answers.h"

#include "tests/fuzz/input.h"

using namespace heddle::remote;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = heddle::fuzz::text(data, size);
  for (const Entry& entry : entries_from(input))
    if (entry.name.find('/') != std::string::npos) std::abort();
  const std::vector<Range> ranges = {{"/a", 0, 100}, {"/b", 0, 1 << 20}};
  if (const auto pieces = pieces_from(input, ranges))
    for (size_t i = 0; i < ranges.size(); ++i)
      if ((*pieces)[i] && (*pieces)[i]->size() > ranges[i].max_bytes) std::abort();
  return 0;
}
