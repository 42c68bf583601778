// `heddle-engine plan`: a recipe's predicted plan, as a page of text or as JSON.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "engine/commands.h"
#include "engine/planning.h"
#include "engine/train/inputs.h"

namespace heddle::engine {
namespace {

std::string text_of(int64_t count) { return bytes_text(static_cast<double>(count)); }

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100.0 * part / whole) : "0 %";
}

void print_memory(const plan::Document& plan) {
  fmt::print("memory of rank {}, which needs most: {}", plan.peak_rank, text_of(plan.peak_bytes));
  if (plan.limit_bytes > 0)
    fmt::print(" of {}: {}", text_of(plan.limit_bytes),
               plan.fits() ? "it fits" : "it does not fit");
  fmt::print("\n");
  for (size_t i = 0; i < plan::kCategories; ++i)
    if (const int64_t bytes = plan.memory.bytes[i]; bytes > 0)
      fmt::print("  {:<14} {:>12} {:>8}\n", plan::kCategoryNames[i], text_of(bytes),
                 share(static_cast<double>(bytes), static_cast<double>(plan.peak_bytes)));
}

void print(const plan::Document& plan) {
  fmt::print("{}: {} ranks of {}", plan.recipe, plan.ranks, plan.hardware_words);
  if (plan.executor != "heddle") fmt::print(", as {}", plan.executor);
  fmt::print("\nplan: {}\n\n", plan.choice);
  fmt::print("step {}, {:.0f} tokens/s a rank", seconds_text(plan.step_seconds),
             plan.tokens_per_second_per_rank);
  for (const plan::Mfu& mfu : plan.mfu)
    fmt::print("\n  MFU {:.1f} %: {}", 100 * mfu.mfu, mfu.convention);
  fmt::print("\nexposed {} ({} of the step)", seconds_text(plan.exposed_seconds),
             share(plan.exposed_seconds, plan.step_seconds));
  if (plan.bubble_seconds > 0)
    fmt::print(", bubble {} ({})", seconds_text(plan.bubble_seconds),
               share(plan.bubble_seconds, plan.step_seconds));
  fmt::print("\n\n");
  print_memory(plan);
  if (!plan.exposed.empty()) fmt::print("\nwhat compute waits for:\n");
  for (const plan::Exposed& each : plan.exposed)
    fmt::print("  {:>10}  rank {}: {}: {}\n", seconds_text(each.seconds), each.rank, each.node,
               each.why);
  fmt::print("\n{} collectives a step", plan.collectives);
  for (const auto& [group, bytes] : plan.bytes_by_group)
    fmt::print("; {} over {}", text_of(bytes), group);
  fmt::print("\n");
  if (!plan.uncertain_words.empty()) fmt::print("{}\n", plan.uncertain_words);
  for (const std::string& remark : plan.remarks) fmt::print("note: {}\n", remark);
}

}  // namespace

int plan(const RecipeOptions& options, const PlanOptions& what) {
  std::ifstream file(options.path);
  PlanRequest request{.text = {std::istreambuf_iterator<char>(file), {}},
                      .file = options.path,
                      .sets = options.sets,
                      .ranks = options.ranks,
                      .hardware = what.hardware,
                      .executor = what.executor,
                      .timeline = !what.timeline.empty()};
  if (!file) {
    fmt::print(stderr, "{}: cannot be read\n", options.path);
    return 2;
  }
  Planning planning;
  PlanAnswer answer = planning.answer(request);
  if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer)) {
    fmt::print(stderr, "{}\n", train::lines_of(*faults));
    return 2;
  }
  if (const auto* error = std::get_if<Error>(&answer)) {
    fmt::print(stderr, "{}: {}\n", options.path, error->message);
    return 2;
  }
  auto& document = std::get<plan::Document>(answer);
  if (!what.timeline.empty()) {
    std::ofstream timeline(what.timeline);
    timeline << plan::to_json(document).dump() << "\n";
    if (!timeline.flush()) {
      fmt::print(stderr, "--timeline: {}: cannot be written\n", what.timeline);
      return 1;
    }
    document.timelines.clear();
  }
  if (what.json) {
    fmt::print("{}\n", plan::to_json(document).dump());
  } else {
    print(document);
  }
  return 0;
}

}  // namespace heddle::engine
