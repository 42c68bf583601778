// `heddle-engine search`: the layouts that train a recipe fastest, as a page of text or as JSON.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "base/say.h"
#include "engine/commands.h"
#include "engine/recipe/fault_lines.h"
#include "engine/recipe/units.h"
#include "engine/searching.h"

namespace heddle::engine {
namespace {

std::atomic<bool> interrupted = false;

std::string text_of(int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

void print(const plan::Found& found) {
  say("{:>10}  {:>16}  {:>10}  {}\n", seconds_text(found.step_seconds),
      rate_text(found.tokens_per_second), text_of(found.peak_bytes), found.words);
}

void print(const plan::SearchResult& result) {
  say("{} ranks of {}, {} tokens a step, {} a rank\n", result.ranks, result.hardware_words,
      count_text(static_cast<double>(result.tokens_per_step)),
      result.limit_bytes > 0 ? text_of(result.limit_bytes) : "no limit");
  say("{} layouts, {} planned in {}{}\n\n", count_text(static_cast<double>(result.candidates)),
      result.planned, seconds_text(result.seconds),
      result.complete ? "" : "; interrupted, there may be better ones");
  if (result.least) {
    say("nothing fits; least lacks {}:\n", text_of(result.least->peak_bytes - result.limit_bytes));
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

search::Hooks hooks() {
  return {.cancelled = [] { return interrupted.load(); },
          .progress =
              [](const plan::SearchResult& result, double share) {
                say(stderr, "\r{:3.0f} %  {} planned", 100 * share, result.planned);
                if (!result.front.empty())
                  say(stderr, ", best {}", seconds_text(result.front.front().step_seconds));
                say(stderr, "   ");
              }};
}

}  // namespace

int search(const RecipeOptions& options, const SearchOptions& what) {
  constexpr int kInterrupted = 130;
  const auto text = read_named_file(options.path, recipe::kMostRecipeBytes);
  if (!text) {
    say(stderr, "{}\n", text.error().message);
    return 2;
  }
  const auto limit = what.memory_limit.empty() ? std::optional<int64_t>(0)
                                               : recipe::parse_bytes(what.memory_limit);
  if (!limit || (*limit <= 0 && !what.memory_limit.empty())) {
    say(stderr, "--memory-limit: \"{}\" is no size; valid: as in \"60 GiB\"\n", what.memory_limit);
    return 2;
  }
  struct sigaction once {};
  once.sa_handler = [](int) { interrupted = true; };
  once.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &once, nullptr);

  Planning planning;
  const SearchAnswer answer = search_layouts(planning,
                                             {.text = *text,
                                              .file = options.path,
                                              .sets = options.sets,
                                              .ranks = options.ranks,
                                              .hardware = what.hardware,
                                              .memory_limit = *limit,
                                              .fixes = what.fixes},
                                             hooks());
  if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer)) {
    say(stderr, "{}\n", recipe::lines_of(*faults));
    return 2;
  }
  if (const auto* error = std::get_if<Error>(&answer)) {
    say(stderr, "{}: {}\n", options.path, error->message);
    return 2;
  }
  const auto& result = std::get<plan::SearchResult>(answer);
  say(stderr, "\n");
  if (what.json) {
    say("{}\n", json_text(plan::to_json(result)));
  } else {
    print(result);
  }
  if (!result.complete) return kInterrupted;
  return result.front.empty() ? 1 : 0;
}

}  // namespace heddle::engine
