// The files of a run directory: launch.json, state.json, end.json, and a supervisor's answer.
#include "engine/launch/run_files.h"

#include "base/read_json.h"
#include "engine/launch/launch.h"
#include "engine/launch/run_logs.h"
#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text(data, size);
  fuzz::file("launch.json", input);
  if (const auto launch = launch::read_launch(fuzz::folder())) (void)launch::launch_text(*launch);
  (void)launch::log_name(std::string(input));
  const auto json = read_json(input, launch::kRunFile);
  if (!json) return 0;
  if (const auto state = launch::state_from_json(*json)) (void)launch::to_json(*state).dump();
  if (const auto end = launch::end_from_json(*json)) (void)launch::to_json(*end).dump();
  if (const auto status = launch::status_from_json(*json)) (void)launch::to_json(*status).dump();
  return 0;
}
