// A graph as text; one that can be read is written, and what was written is read again as it was.
#include "engine/graph/text.h"
#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = graph::parse_text(fuzz::text(data, size), "file");
  if (!graph) {
    if (!graph.error().message.starts_with("file:")) std::abort();
    return 0;
  }
  // Values are numbered anew as they are written: what has been written once stays as it is.
  const auto numbered = graph::parse_text(graph::to_text(*graph), "numbered");
  if (!numbered) std::abort();
  const std::string written = graph::to_text(*numbered);
  const auto again = graph::parse_text(written, "again");
  if (!again || graph::to_text(*again) != written) std::abort();
  return 0;
}
