// The document of a plan, as a run's log carries it.
#include "base/read_json.h"
#include "engine/plan/document.h"
#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = read_json(fuzz::text(data, size), telemetry::kPlanDocument);
  if (!json) return 0;
  try {
    (void)plan::to_json(plan::from_json(*json)).dump();
  } catch (const nlohmann::json::exception&) {
    // As it says.
  }
  return 0;
}
