// The output of a host's probe, and a report as the store keeps it.
#include "engine/probe/report.h"
#include "tests/fuzz/input.h"

using namespace heddle::probe;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(heddle::fuzz::text(data, size));
  for (const auto& report :
       {judge(text, 1.7e9, 1.7e9 + 1), judge(text + "\nend\tyes\n", 0, 0), report_from_json(text)})
    if (report) (void)to_text(*report);
  return 0;
}
