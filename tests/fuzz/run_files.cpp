// The files of a run directory: launch.json, state.json, end.json, and a supervisor's answer.

#include "engine/runs/run_files.h"

#include "base/read_json.h"
#include "engine/launch/run_logs.h"
#include "engine/runs/launch.h"
#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text(data, size);
  fuzz::file("launch.json", input);
  if (const auto launch = runs::read_launch(fuzz::folder())) (void)runs::launch_text(*launch);
  (void)launch::log_name(std::string(input));
  const auto json = read_json(input, runs::kRunFile);
  if (!json) return 0;
  if (const auto state = runs::state_from_json(*json)) (void)runs::to_json(*state).dump();
  if (const auto end = runs::end_from_json(*json)) (void)runs::to_json(*end).dump();
  if (const auto status = runs::status_from_json(*json)) (void)runs::to_json(*status).dump();
  return 0;
}
