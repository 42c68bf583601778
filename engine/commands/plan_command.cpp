// `heddle-engine plan`: a recipe's predicted plan, as a page of text or as JSON.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "base/say.h"
#include "engine/commands/commands.h"
#include "engine/commands/refuse.h"
#include "engine/commands/torch_library.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::commands {
namespace {

std::string text_of(int64_t count) { return bytes_text(static_cast<double>(count)); }

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100.0 * part / whole) : "0 %";
}

void print_memory(const plan::Document& plan) {
  say("memory of rank {}, which needs most: {}", plan.peak_rank, text_of(plan.peak_bytes));
  if (plan.limit_bytes > 0)
    say(" of {}: {}", text_of(plan.limit_bytes), plan.fits() ? "it fits" : "it does not fit");
  say("\n");
  for (size_t i = 0; i < plan::kCategories; ++i)
    if (const int64_t bytes = plan.memory.bytes[i]; bytes > 0)
      say("  {:<14} {:>12} {:>8}\n", plan::kCategoryNames[i], text_of(bytes),
          share(static_cast<double>(bytes), static_cast<double>(plan.peak_bytes)));
}

std::string in_words(const plan::Variant& variant, int64_t ranks) {
  std::string text;
  if (variant.ranks != ranks) text += fmt::format("--ranks {} ", variant.ranks);
  for (const std::string& set : variant.sets) text += fmt::format("--set {} ", set);
  text.back() = ':';
  return fmt::format("{} {} of {}, step {}", text, text_of(variant.peak_bytes),
                     text_of(variant.limit_bytes), seconds_text(variant.step_seconds));
}

void print(const plan::Shortfall& shortfall, const plan::Document& plan) {
  say("\nit lacks {} on rank {}, most of whose memory is for {}\n", text_of(shortfall.bytes),
      plan.peak_rank, plan::kCategoryNames[static_cast<size_t>(shortfall.largest)]);
  for (const plan::Variant& variant : shortfall.closed_by)
    say("would close it: {}\n", in_words(variant, plan.ranks));
  if (shortfall.least)
    say("nothing that was tried on {} ranks closes it; least lacks {}: {}\n", plan.ranks,
        text_of(shortfall.least->lacks()), in_words(*shortfall.least, plan.ranks));
  else if (shortfall.closed_by.empty())
    say("nothing that was tried closes it, or lacks less\n");
}

void print(const plan::Document& plan) {
  say("{}: {} ranks of {}", plan.recipe, plan.ranks, plan.hardware_words);
  if (plan.executor != "heddle") say(", as {}", plan.executor);
  say("\nplan: {}\n\n", plan.choice);
  say("step {}, {:.0f} tokens/s a rank", seconds_text(plan.step_seconds),
      plan.tokens_per_second_per_rank);
  if (plan.interval)
    say("\n  between {} and {}: {}", seconds_text(plan.interval->step_low),
        seconds_text(plan.interval->step_high), plan.interval->words);
  if (!plan.never_measured.empty()) say("\n  {}", plan.never_measured);
  if (!plan.busy_now.empty()) say("\n  {}", plan.busy_now);
  for (const plan::Mfu& mfu : plan.mfu) say("\n  MFU {:.1f} %: {}", 100 * mfu.mfu, mfu.convention);
  say("\nexposed {} ({} of the step)", seconds_text(plan.exposed_seconds),
      share(plan.exposed_seconds, plan.step_seconds));
  if (plan.bubble_seconds > 0)
    say(", bubble {} ({})", seconds_text(plan.bubble_seconds),
        share(plan.bubble_seconds, plan.step_seconds));
  say("\n\n");
  print_memory(plan);
  if (plan.shortfall) print(*plan.shortfall, plan);
  if (!plan.exposed.empty()) say("\nwhat compute waits for:\n");
  for (const plan::Exposed& each : plan.exposed)
    say("  {:>10}  rank {}: {}: {}\n", seconds_text(each.seconds), each.rank, each.node, each.why);
  say("\n{} collectives a step", plan.collectives);
  for (const auto& [group, bytes] : plan.bytes_by_group) say("; {} over {}", text_of(bytes), group);
  say("\n");
  if (!plan.uncertain_words.empty()) say("{}\n", plan.uncertain_words);
  for (const std::string& remark : plan.remarks) say("note: {}\n", remark);
  if (!plan.published.empty()) say("\npublished of others, the most alike first:\n");
  for (const std::string& line : plan.published) say("  {}\n", line);
}

/// Prints the plan, and writes its timelines where they are wanted.
int print_plan(plan::Document document, const PlanOptions& what) {
  if (!what.timeline.empty()) {
    std::ofstream timeline(what.timeline);
    timeline << json_text(plan::to_json(document)) << "\n";
    if (!timeline.flush()) {
      say(stderr, "--timeline: {}: cannot be written\n", what.timeline);
      return 1;
    }
    document.timelines.clear();
  }
  if (what.json)
    say("{}\n", json_text(plan::to_json(document)));
  else
    print(document);
  return 0;
}

}  // namespace

int plan(const RecipeOptions& options, const PlanOptions& what) {
  const auto text = read_named_file(options.path, recipe::kMaxRecipeBytes);
  if (!text) return refuse(text.error().message);
  plan::PlanQuestion question;
  question.text = *text;
  question.file = options.path;
  question.sets = options.sets;
  question.ranks = options.ranks;
  question.hardware = what.hardware;
  question.executor = what.executor;
  question.timeline = !what.timeline.empty();
  inputs::PlanRecipes recipes;
  // A recipe with faults does not wait for LibTorch.
  if (const recipe::Parsed parsed = recipes.read(question); !parsed.ok())
    return refuse(recipe::lines_of(parsed.faults));
  return with_torch([&](const TorchCommands& torch) {
    plan::PlanAnswer answer = torch.plan(std::move(recipes), question);
    if (auto* document = std::get_if<plan::Document>(&answer))
      return print_plan(std::move(*document), what);
    if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer))
      return refuse(recipe::lines_of(*faults));
    return refuse(fmt::format("{}: {}", options.path, std::get<Error>(answer).message));
  });
}

}  // namespace heddle::commands
