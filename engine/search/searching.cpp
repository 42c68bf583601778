#include "engine/search/searching.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/number_text.h"
#include "engine/predict/machine.h"

namespace heddle::search {
namespace {

using recipe::Fault;
using recipe::Parsed;

/// The keys that a search decides, with values by which any recipe can be read.
const std::map<std::string, std::string>& free_keys() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> keys = {{"parallelism.cp_mode", "\"allgather\""},
                                               {"parallelism.pp_schedule", "\"1f1b\""},
                                               {"parallelism.microbatches", "0"},
                                               {"parallelism.stage_layers", "[]"},
                                               {"parallelism.tp_chunks", "0"},
                                               {"training.local_batch", "1"},
                                               {"training.global_batch", "0"},
                                               {"training.loss_chunks", "0"},
                                               {"wrapping.reshard_after_forward", "true"},
                                               {"recompute.mode", "\"none\""},
                                               {"override", "[]"}};
    for (const recipe::Axis& axis : recipe::kAxes)
      keys[axis.key()] = std::to_string(recipe::Degrees{}.*axis.degree);
    return keys;
  }();
  return all;
}

std::string key_of(const std::string& set) {
  std::string key = set.substr(0, set.find('='));
  key.erase(key.find_last_not_of(" \t") + 1);
  return key;
}

Fault fault_of(std::string key, std::string what, std::string valid) {
  Fault fault;
  fault.file = "search";
  fault.key = std::move(key);
  fault.what = std::move(what);
  fault.valid = std::move(valid);
  return fault;
}

/// The exceptions' other settings.
std::vector<recipe::Override> without_recomputation(std::vector<recipe::Override> overrides) {
  for (recipe::Override& each : overrides) each.recompute.reset();
  std::erase_if(overrides, [](const recipe::Override& each) {
    recipe::Override nothing;
    nothing.modules = each.modules;
    return each == nothing;
  });
  return overrides;
}

bool is_possible(const search::Question& question) {
  bool possible = false;
  search::enumerate(question, [&](const search::Choice&) { possible = true; });
  return possible;
}

/// Explains why no layout answers: the fixed keys that rule each other out, or the ranks.
Fault contradiction(const search::Question& question, const std::vector<std::string>& fixes) {
  const auto possible_with = [&](std::set<std::string> fixed, int64_t ranks) {
    search::Question other = question;
    other.fixed = std::move(fixed);
    other.ranks = ranks;
    return is_possible(other);
  };
  const int64_t ranks = question.ranks;
  if (!possible_with({}, ranks)) {
    std::vector<std::string> near;
    constexpr int64_t kFar = 64;
    for (const int64_t way : {-1, 1})
      for (int64_t by = 1; by <= kFar && ranks + way * by > 0; ++by)
        if (possible_with({}, ranks + way * by)) {
          near.push_back(std::to_string(ranks + way * by));
          break;
        }
    return fault_of("hardware.ranks",
                    fmt::format("{} ranks cannot be laid out: no product of degrees that divide "
                                "the heads, the layers' number and the {} sequences of a step",
                                ranks, question.recipe.training.global_batch),
                    fmt::format("{}", fmt::join(near, " or ")));
  }
  std::vector<std::string> held;
  for (const std::string& fix : fixes)
    if (question.fixed.contains(key_of(fix))) held.push_back(fix);
  for (const std::string& fix : held)
    if (!possible_with({key_of(fix)}, ranks))
      return fault_of(key_of(fix), fmt::format("no layout of {} ranks has {}", ranks, fix),
                      "a value that divides what it cuts");
  for (size_t i = 0; i < held.size(); ++i)
    for (size_t k = i + 1; k < held.size(); ++k)
      if (!possible_with({key_of(held[i]), key_of(held[k])}, ranks))
        return fault_of(key_of(held[i]),
                        fmt::format("{} and {} contradict each other: no layout of {} ranks has "
                                    "both",
                                    held[i], held[k], ranks),
                        "one of them alone");
  return fault_of(key_of(held.front()),
                  fmt::format("{} contradict each other: no layout of {} ranks has all of them",
                              fmt::join(held, ", "), ranks),
                  "fewer of them");
}

class Asking {
 public:
  Asking(predict::Planning& planning, const plan::SearchQuestion& asked, const Hooks& hooks)
      : planning_(planning), asked_(asked), hooks_(hooks) {}

  plan::SearchAnswer answer() {
    const Parsed given = read({}, 0);
    if (!given.ok()) return given.faults;
    if (auto faults = pose(given.recipe); !faults.empty()) return faults;
    const auto machine =
        predict::machine_of(search::with(question_.recipe, search::sharded_over(question_.ranks)),
                            question_.hardware, "heddle");
    if (!machine) return machine.error();
    Parsed asked = given;
    asked.recipe.hardware.ranks = question_.ranks;
    if (auto fault = predict::partly_filled_node(asked, *machine))
      return std::vector{std::move(*fault)};
    if (!is_possible(question_)) return std::vector{contradiction(question_, asked_.fixes)};
    auto result = search::search(planning_, question_, given.recipe, hooks_);
    if (!result) return result.error();
    if (result->least && result->complete) add_remedies(*result);
    return std::move(*result);
  }

 private:
  Parsed read(const std::vector<std::string>& sets, int64_t ranks) {
    plan::PlanQuestion plan = plan_question();
    plan.sets.insert(plan.sets.end(), sets.begin(), sets.end());
    plan.ranks = ranks;
    return planning_.read(plan);
  }

  plan::PlanQuestion plan_question() const {
    plan::PlanQuestion plan;
    plan.text = asked_.text;
    plan.file = asked_.file;
    plan.sets = asked_.sets;
    return plan;
  }

  std::vector<Fault> pose(const recipe::Recipe& given) {
    std::vector<std::string> sets = asked_.sets;
    sets.insert(sets.end(), asked_.fixes.begin(), asked_.fixes.end());
    Parsed wanted = recipe::parse(asked_.text, asked_.file, sets);
    if (wanted.ok()) wanted.faults = recipe::unsupported(wanted);
    for (Fault& fault : wanted.faults)
      if (fault.file == "--set") fault.file = "--fix";
    if (!wanted.ok()) return wanted.faults;

    const int64_t ranks = asked_.ranks > 0 ? asked_.ranks : given.hardware.ranks;
    std::vector<std::string> plain;
    for (const std::string& fix : asked_.fixes)
      if (!free_keys().contains(key_of(fix))) plain.push_back(fix);
    for (const auto& [key, value] : free_keys()) plain.push_back(fmt::format("{}={}", key, value));
    std::set<std::string> fixed;
    for (const std::string& fix : asked_.fixes) fixed.insert(key_of(fix));
    if (!fixed.contains("wrapping.mode")) {
      plain.emplace_back("wrapping.mode=\"layers\"");
      plain.emplace_back("wrapping.buckets=[]");
    }
    const Parsed neutral = read(plain, ranks);
    if (!neutral.ok()) return neutral.faults;

    question_.written = recipe::parse(asked_.text, asked_.file, asked_.sets).recipe;
    question_.recipe = neutral.recipe;
    recipe::Recipe& recipe = question_.recipe;
    const recipe::Recipe& value = wanted.recipe;
    recipe.parallelism = value.parallelism;
    if (!fixed.contains("parallelism.stage_layers")) recipe.parallelism.stage_layers.clear();
    recipe.training.local_batch = value.training.local_batch;
    recipe.training.global_batch =
        fixed.contains("training.global_batch") && value.training.global_batch > 0
            ? value.training.global_batch
            : global_batch(given, ranks);
    recipe.wrapping.reshard_after_forward = value.wrapping.reshard_after_forward;
    recipe.recompute.mode = value.recompute.mode;
    recipe.overrides =
        fixed.contains("override") ? value.overrides : without_recomputation(value.overrides);
    if (value.parallelism.*recipe::kRest.degree == -1) fixed.erase(recipe::kRest.key());
    if (value.parallelism.microbatches == 0) fixed.erase("parallelism.microbatches");
    question_.hardware = asked_.hardware.empty() ? given.hardware.name : asked_.hardware;
    question_.ranks = ranks;
    question_.memory_limit = asked_.memory_limit;
    question_.fixed = std::move(fixed);
    return {};
  }

  /// Sequences of a step.
  int64_t global_batch(const recipe::Recipe& given, int64_t ranks) const {
    const int64_t written = question_.written.training.global_batch;
    if (written > 0) return written;
    return std::max<int64_t>(given.training.global_batch * ranks / given.hardware.ranks, 1);
  }

  /// The planner tries changes that would make room for the layout that lacks least.
  void add_remedies(plan::SearchResult& result) {
    plan::PlanQuestion plan = plan_question();
    plan.sets.insert(plan.sets.end(), result.least->sets.begin(), result.least->sets.end());
    plan.ranks = question_.ranks;
    plan.hardware = question_.hardware;
    const plan::PlanAnswer answer = planning_.answer(plan, hooks_.cancelled);
    const auto* document = std::get_if<plan::Document>(&answer);
    if (document == nullptr || !document->shortfall) return;
    for (const plan::Variant& variant : document->shortfall->closed_by) {
      std::string words =
          variant.ranks != question_.ranks ? fmt::format("{} ranks, ", variant.ranks) : "";
      words += fmt::format("{}: {} of {}", fmt::join(variant.sets, ", "),
                           bytes_text(static_cast<double>(variant.peak_bytes)),
                           bytes_text(static_cast<double>(variant.limit_bytes)));
      result.closed_by.push_back(std::move(words));
    }
  }

  predict::Planning& planning_;
  const plan::SearchQuestion& asked_;
  const Hooks& hooks_;
  search::Question question_;
};

}  // namespace

plan::SearchAnswer search_layouts(predict::Planning& planning, const plan::SearchQuestion& asked,
                                  const Hooks& hooks) {
  return Asking(planning, asked, hooks).answer();
}

}  // namespace heddle::search
