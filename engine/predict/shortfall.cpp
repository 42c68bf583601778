#include "engine/predict/shortfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/holdings/needs.h"

namespace heddle::predict {
namespace {

constexpr size_t kMaxHere = 3, kMax = 4;  // ways that close it: on these ranks, and in all
constexpr int kMaxPlansHere = 4, kMaxPlansElsewhere = 6;
constexpr double kFormulaIsOff = 1.1;

struct Change {
  std::vector<std::string> sets;
  int64_t ranks = 0;
};
/// Changes of one kind, from mild to strong: the first one that closes it is enough.
using Family = std::vector<Change>;

class Finder {
 public:
  Finder(const plan::Document& plan, const plan::PlanQuestion& question,
         const recipe::Parsed& parsed, int64_t node_devices, const Variants& variants)
      : plan_(plan),
        question_(question),
        recipe_(parsed.recipe),
        layout_is_open_(!parsed.places.contains(recipe::kRest.key())),
        node_devices_(node_devices),
        variants_(variants),
        bytes_by_formula_(formula(recipe_)) {}

  plan::Shortfall find() {
    const auto& bytes = plan_.memory.bytes;
    found_.bytes = plan_.peak_bytes - plan_.limit_bytes;
    found_.largest =
        static_cast<plan::Category>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
    for (const Family& family : on_these_ranks())
      if (found_.closed_by.size() < kMaxHere && planned_ < kMaxPlansHere) close(family);
    if (found_.closed_by.empty()) {
      if (!found_.least && promising_) look_at(*promising_);
    } else {
      found_.least.reset();
    }
    if (found_.closed_by.size() < kMax) close(more_ranks());
    return std::move(found_);
  }

 private:
  static double formula(const recipe::Recipe& recipe) {
    return static_cast<double>(std::max<int64_t>(holdings::needs_of(recipe).on_device(), 1));
  }

  /// For another layout: the written number of shards no longer holds.
  Change layout(std::vector<std::string> sets, int64_t ranks = 0) const {
    if (!layout_is_open_) sets.push_back(recipe::kRest.key() + "=-1");
    return {std::move(sets), ranks};
  }

  std::vector<Family> on_these_ranks() const {
    const std::string full = "recompute.mode=full";
    const auto batch = [](int64_t n) { return fmt::format("training.local_batch={}", n); };
    const recipe::Parallelism& p = recipe_.parallelism;
    const int64_t most_tp = std::min(node_devices_ > 0 ? node_devices_ : recipe_.hardware.ranks,
                                     recipe_.hardware.ranks);
    const bool recomputes = recipe_.recompute.mode == recipe::RecomputeMode::full;
    Family batches, both, tensors, stages, all;
    for (int64_t n = recipe_.training.local_batch / 2; n >= 1; n /= 2) {
      batches.push_back({{batch(n)}});
      if (!recomputes) both.push_back({{full, batch(n)}});
    }
    for (int64_t tp = 2 * p.tp; tp <= most_tp; tp *= 2)
      tensors.push_back(layout({fmt::format("parallelism.tp={}", tp)}));
    for (int64_t pp = 2 * p.pp; pp <= recipe_.model.n_layers && pp <= recipe_.hardware.ranks;
         pp *= 2)
      stages.push_back(layout({fmt::format("parallelism.pp={}", pp)}));
    for (int64_t pp = p.pp; pp <= recipe_.model.n_layers && pp <= recipe_.hardware.ranks; pp *= 2)
      for (int64_t tp = p.tp; tp <= most_tp; tp *= 2)
        all.push_back(layout({full, batch(pp), fmt::format("parallelism.tp={}", tp),
                              fmt::format("parallelism.pp={}", pp)}));
    std::vector<Family> families;
    if (!recomputes) families.push_back({{{full}}});
    families.push_back(batches);
    families.push_back(both);
    if (p.dp_replicate > 1) families.push_back({layout({"parallelism.dp_replicate=1"})});
    families.insert(families.end(), {tensors, stages, all});
    return families;
  }

  Family more_ranks() const {
    Family family;
    if (node_devices_ == 0) return family;
    constexpr int64_t kMaxTimes = 1024;
    for (const bool full : {false, true})
      for (int64_t times = 2; times <= kMaxTimes; times *= 2)
        family.push_back(layout(
            full ? std::vector<std::string>{"recompute.mode=full"} : std::vector<std::string>{},
            recipe_.hardware.ranks * times));
    return family;
  }

  /// Changes that have closed it with more on top, or that give the same recipe, are no other
  /// remedy.
  bool is_known(const Change& change, const recipe::Recipe& recipe) {
    const auto holds = [&](const plan::Variant& closed) {
      return (closed.ranks == recipe_.hardware.ranks || closed.ranks == change.ranks) &&
             std::ranges::all_of(closed.sets, [&](const std::string& set) {
               return std::ranges::find(change.sets, set) != change.sets.end();
             });
    };
    if (std::ranges::any_of(found_.closed_by, holds)) return true;
    if (std::ranges::find(tried_, recipe) != tried_.end()) return true;
    tried_.push_back(recipe);
    return false;
  }

  void close(const Family& family) {
    for (const Change& change : family) {
      const auto recipe = variants_.read(question_with(change));
      if (!recipe || is_known(change, *recipe)) continue;
      const double bytes = formula(*recipe);
      const bool here = change.ranks == 0;
      if (here && (!promising_ || bytes < promised_)) {
        promising_ = change;
        promised_ = bytes;
      }
      const double expected = static_cast<double>(plan_.peak_bytes) * bytes / bytes_by_formula_;
      if (expected > kFormulaIsOff * static_cast<double>(plan_.limit_bytes)) continue;
      if (planned_ == (here ? kMaxPlansHere : kMaxPlansElsewhere) || look_at(change)) return;
    }
  }

  plan::PlanQuestion question_with(const Change& change) const {
    plan::PlanQuestion question = question_;
    question.sets.insert(question.sets.end(), change.sets.begin(), change.sets.end());
    if (change.ranks > 0) question.ranks = change.ranks;
    question.timeline = question.closes = false;
    return question;
  }

  /// True if it closes it.
  bool look_at(const Change& change) {
    ++planned_;
    const auto plan = variants_.plan(question_with(change));
    if (!plan) return false;
    plan::Variant variant{change.sets, plan->ranks, plan->peak_bytes, plan->limit_bytes,
                          plan->step_seconds};
    if (variant.lacks() == 0) {
      found_.closed_by.push_back(std::move(variant));
      return true;
    }
    const int64_t least = found_.least ? found_.least->lacks() : found_.bytes;
    if (change.ranks == 0 && variant.lacks() < least) found_.least = std::move(variant);
    return false;
  }

  const plan::Document& plan_;
  const plan::PlanQuestion& question_;
  const recipe::Recipe& recipe_;
  const bool layout_is_open_;
  const int64_t node_devices_;
  const Variants& variants_;
  const double bytes_by_formula_;
  plan::Shortfall found_;
  std::vector<recipe::Recipe> tried_;
  int planned_ = 0;
  std::optional<Change> promising_;  // on these ranks: what needs least by the formula
  double promised_ = std::numeric_limits<double>::infinity();
};

}  // namespace

plan::Shortfall shortfall_of(const plan::Document& plan, const plan::PlanQuestion& question,
                             const recipe::Parsed& parsed, int64_t node_devices,
                             const Variants& variants) {
  return Finder(plan, question, parsed, node_devices, variants).find();
}

}  // namespace heddle::predict
