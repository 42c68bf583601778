// `heddle-engine search`: the layouts that train a recipe fastest, as a page of text or as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/number_text.h"
#include "base/progress_line.h"
#include "base/read_file.h"
#include "base/say.h"
#include "engine/commands/commands.h"
#include "engine/commands/refuse.h"
#include "engine/commands/torch_library.h"
#include "engine/recipe/fault_lines.h"
#include "engine/recipe/units.h"

namespace heddle::commands {
namespace {

std::atomic<bool> interrupted = false;

std::string size_text(int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

void print(const plan::Found& found) {
  say("{:>10}  {:>16}  {:>10}  {}\n", seconds_text(found.step_seconds),
      rate_text(found.tokens_per_second), size_text(found.peak_bytes), found.words);
}

void print(const plan::SearchResult& result) {
  say("{} ranks of {}, {} tokens a step, {} a rank\n", result.ranks, result.hardware_words,
      count_text(static_cast<double>(result.tokens_per_step)),
      result.limit_bytes > 0 ? size_text(result.limit_bytes) : "no limit");
  if (result.margin_bytes > 0)
    say("{}: {} of its memory stay free for what is not known of it; --memory-limit sets another "
        "limit\n",
        result.never_measured, size_text(result.margin_bytes));
  say("{} layouts, {} planned in {}{}\n\n", count_text(static_cast<double>(result.candidates)),
      result.planned, seconds_text(result.seconds),
      result.complete ? "" : "; interrupted, there may be better ones");
  if (result.least) {
    say("nothing fits; least lacks {}:\n",
        size_text(result.least->peak_bytes - result.limit_bytes));
    print(*result.least);
    for (const std::string& words : result.closed_by) say("would close it: {}\n", words);
  }
  for (const plan::Found& found : result.front) print(found);
  if (!result.front.empty()) {
    say("\nthe first of them:");
    for (const std::string& set : result.front.front().sets) say(" --set '{}'", set);
    say("\n");
  }
  if (!result.given_why.empty()) say("\nthe recipe as it is: {}\n", result.given_why);
  for (const plan::Alternative& each : result.alternatives)
    say("{}{}: {}\n", each.name, each.found ? " (" + each.found->words + ")" : "", each.why);
}

std::string or_none(const std::optional<double>& value, const auto& text) {
  return value ? text(*value) : std::string();
}

std::string usd_text(double usd) {
  return usd < 100 ? fmt::format("${:.3g}", usd) : fmt::format("${}", count_text(usd));
}

void print(const plan::RankCounts& all) {
  say("{}, {} a rank\n", all.hardware_words,
      all.limit_bytes > 0 ? size_text(all.limit_bytes) : "no limit");
  if (all.usd_per_rank_hour)
    say("{} a rank and hour: {}\n", usd_text(*all.usd_per_rank_hour), all.price_source);
  else
    say("no price is known; valid: usd_per_device_hour in a file of your own\n");
  say("{} searches in {}{}\n\n", all.counts.size(), seconds_text(all.seconds),
      all.complete ? "" : "; interrupted, there may be better ones");
  say("{:>7} {:>15} {:>10} {:>12} {:>10} {:>10}", "ranks", "tokens/s", "efficiency", "tokens/step",
      "step", "memory");
  if (all.usd_per_rank_hour) say(" {:>10}", "$/M tokens");
  if (all.tokens > 0) say(" {:>10} {:>14}", "training", "costs");
  say("  layout\n");
  for (const plan::RankCount& count : all.counts) {
    if (!count.best) {
      say("{:>7} {}\n", count.ranks, count.why);
      continue;
    }
    const plan::Found& best = *count.best;
    say("{:>7} {:>15} {:>8.1f} % {:>12} {:>10} {:>10}", count.ranks,
        count_text(best.tokens_per_second), 100 * efficiency(all, count).value_or(0),
        count_text(static_cast<double>(count.tokens_per_step)), seconds_text(best.step_seconds),
        size_text(best.peak_bytes));
    if (all.usd_per_rank_hour)
      say(" {:>10}", or_none(usd_per_million_tokens(all, count), usd_text));
    if (all.tokens > 0)
      say(" {:>10} {:>14}",
          or_none(training_seconds(all, count), [](double value) { return seconds_text(value); }),
          or_none(training_usd(all, count), usd_text));
    say("  {}\n", best.words);
  }
}

ProgressLine progress;

plan::Hooks<plan::SearchResult> hooks() {
  return {.cancelled = [] { return interrupted.load(); },
          .progress =
              [](const plan::SearchResult& result, double share) {
                std::string text =
                    fmt::format("{:3.0f} %  {} planned", 100 * share, result.planned);
                if (!result.front.empty())
                  text += ", best " + seconds_text(result.front.front().step_seconds);
                progress.show(text);
              }};
}

plan::Hooks<plan::RankCounts> counting_hooks() {
  return {.cancelled = [] { return interrupted.load(); },
          .progress =
              [](const plan::RankCounts& all, double share) {
                progress.show(
                    fmt::format("{:3.0f} %  {} numbers of ranks", 100 * share, all.counts.size()));
              }};
}

bool has_layout(const plan::SearchResult& result) { return !result.front.empty(); }
bool has_layout(const plan::RankCounts& all) {
  return std::ranges::any_of(all.counts, [](const auto& each) { return each.best.has_value(); });
}

/// Prints what was found, or what is wrong; the exit code.
template <typename Found>
int tell(const std::string& path,
         const std::variant<Found, std::vector<recipe::Fault>, Error>& answer, bool json) {
  constexpr int kInterrupted = 130;
  if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer))
    return refuse(recipe::lines_of(*faults));
  if (const auto* error = std::get_if<Error>(&answer))
    return refuse(fmt::format("{}: {}", path, error->message));
  const auto& found = std::get<Found>(answer);
  progress.end();
  if (json)
    say("{}\n", json_text(plan::to_json(found)));
  else
    print(found);
  if (!found.complete) return kInterrupted;
  return has_layout(found) ? 0 : 1;
}

}  // namespace

int search(const RecipeOptions& options, const SearchOptions& what) {
  const auto text = read_named_file(options.path, recipe::kMaxRecipeBytes);
  if (!text) return refuse(text.error().message);
  const auto limit = what.memory_limit.empty() ? std::optional<int64_t>(0)
                                               : recipe::parse_bytes(what.memory_limit);
  if (!limit || (*limit <= 0 && !what.memory_limit.empty()))
    return refuse(fmt::format("--memory-limit: \"{}\" is no size; valid: as in \"60 GiB\"",
                              what.memory_limit));
  std::vector<int64_t> counts;
  if (!what.ranks.empty()) {
    auto parsed = plan::parse_rank_counts(what.ranks);
    if (!parsed) return refuse(fmt::format("--ranks: {}", parsed.error().message));
    counts = std::move(*parsed);
  }
  double tokens = 0;
  if (!what.tokens.empty()) {
    const auto parsed = plan::parse_tokens(what.tokens);
    if (!parsed) return refuse(fmt::format("--tokens: {}", parsed.error().message));
    if (counts.empty())
      return refuse("--tokens: without --ranks; valid: with the numbers of ranks, as in 8,16,64");
    tokens = *parsed;
  }
  struct sigaction once {};
  once.sa_handler = [](int) { interrupted = true; };
  once.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &once, nullptr);

  plan::SearchQuestion question;
  question.text = *text;
  question.file = options.path;
  question.sets = options.sets;
  question.ranks = counts.empty() ? 0 : counts.front();
  question.hardware = what.hardware;
  question.memory_limit = *limit;
  question.fixes = what.fixes;
  question.tokens = tokens;
  const bool counting = counts.size() > 1 || tokens > 0;
  if (counting) question.counts = std::move(counts);
  inputs::PlanRecipes recipes;
  plan::PlanQuestion as_it_is;
  static_cast<plan::Subject&>(as_it_is) = question;
  as_it_is.ranks = 0;
  // A recipe with faults does not wait for LibTorch.
  if (const recipe::Parsed parsed = recipes.read(as_it_is); !parsed.ok())
    return refuse(recipe::lines_of(parsed.faults));
  return with_torch([&](const TorchCommands& torch) {
    if (counting)
      return tell(options.path, torch.count_ranks(std::move(recipes), question, counting_hooks()),
                  what.json);
    return tell(options.path, torch.search(std::move(recipes), question, hooks()), what.json);
  });
}

}  // namespace heddle::commands
