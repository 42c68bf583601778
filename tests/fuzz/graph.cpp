// A graph as text; one that can be read is written, and read again as it was.
#include "engine/graph/text.h"
#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = graph::parse_text(fuzz::text(data, size), "file");
  if (!graph) {
    if (!graph.error().message.starts_with("file:")) std::abort();
    return 0;
  }
  const std::string written = graph::to_text(*graph);
  const auto again = graph::parse_text(written, "again");
  if (!again || graph::to_text(*again) != written) std::abort();
  return 0;
}
