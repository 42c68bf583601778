#include "engine/search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "engine/hardware/catalogue.h"
#include "engine/hardware/nodes_in_use.h"
#include "engine/predict/machine.h"
#include "engine/predict/predict.h"
#include "engine/predict/published_interval.h"
#include "engine/recipe/parse.h"
#include "engine/search/alternatives.h"
#include "engine/search/budget_search.h"
#include "engine/search/families.h"
#include "engine/search/refine.h"

namespace heddle::search {
namespace {

// Planning takes longer the more layers there are: so many layers are planned in all, which is
// seconds.
constexpr int64_t kLayersToPlan = 2400;
constexpr size_t kMinPlans = 12;
constexpr double kBoundIsOff = 0.97;   // profiles are of three layers
constexpr double kMemoryIsOff = 0.85;  // and planned steps may need less than estimated
constexpr double kPromiseIsOff = 0.9;
constexpr size_t kPlansABudget = 12;
constexpr size_t kFastestRefined = 3;
constexpr size_t kMinRefined = 8;      // plans that spend memory on keeping instead of recomputing
constexpr size_t kInputsKept = 3;      // layouts that are tried so
constexpr double kSlowest = 2;         // times the fastest step: nobody chooses slower ones
constexpr int64_t kMaxNodes = 20'000;  // larger steps are put together from a few micro-batches

struct Planned {
  Choice choice;
  plan::Found found;
  std::vector<int64_t> stage_bytes;  // by pipeline rank
};

class Search {
 public:
  Search(predict::Planning& planning, const Question& question, const recipe::Recipe& given,
         const Hooks& hooks)
      : planning_(planning), question_(question), given_(given), hooks_(hooks) {}

  Result<plan::SearchResult> run() {
    const auto begin = Clock::now();
    if (auto ready = prepare(); !ready) return fail(ready);
    if (auto rated = rate(); !rated) return fail(rated);
    result_.complete = plan_all();
    if (result_.complete && planned_.empty())
      return fail("none of the {} layouts of {} ranks can be planned: {}", result_.candidates,
                  question_.ranks, refused_);
    finish();
    result_.seconds = seconds_since(begin);
    return std::move(result_);
  }

 private:
  Result<> prepare() {
    const recipe::Recipe plain = with(question_.recipe, sharded_over(question_.ranks));
    auto machine = predict::machine_of(plain, question_.hardware, "heddle");
    if (!machine) return fail(machine);
    if (!predict::is_this_machine(question_.hardware)) {
      entry_ = *hardware::load_catalogue().find(question_.hardware);
      entry_->node = hardware::in_use(entry_->node, question_.ranks);
    }
    result_.hardware = machine->name;
    result_.hardware_words = machine->words;
    result_.ranks = question_.ranks;
    result_.tokens_per_step =
        question_.recipe.training.global_batch * question_.recipe.data.seq_len;
    result_.limit_bytes =
        question_.memory_limit > 0 ? question_.memory_limit : machine->limit_bytes;
    result_.never_measured = machine->never_measured;
    if (question_.memory_limit == 0 && !machine->never_measured.empty()) {
      result_.margin_bytes =
          static_cast<int64_t>(predict::kMemoryMargin * static_cast<double>(machine->limit_bytes));
      result_.limit_bytes -= result_.margin_bytes;
    }
    node_devices_ = machine->node_devices;
    process_bytes_ = machine->rates.process_bytes;
    return {};
  }

  Result<> rate() {
    estimator_.emplace(question_, entry_ ? &*entry_ : nullptr, process_bytes_);
    std::optional<Error> error;
    enumerate(question_, [&](const Choice& choice) {
      ++result_.candidates;
      if (hooks_.cancelled()) return;
      const auto estimate = estimator_->of(choice);
      if (estimate) {
        rated_.push_back({choice, *estimate});
      } else if (!error) {
        error = estimate.error();
      }
    });
    if (rated_.empty() && error) return fail("{}", error->message);
    if (result_.candidates == 0)
      return fail("no layout of {} ranks is possible with this recipe", question_.ranks);
    std::ranges::stable_sort(rated_, [&](const Rated& a, const Rated& b) {
      return std::tuple(!likely_fits(a), a.estimate.seconds, a.estimate.bytes) <
             std::tuple(!likely_fits(b), b.estimate.seconds, b.estimate.bytes);
    });
    return {};
  }

  bool likely_fits(const Rated& rated) const {
    return result_.limit_bytes == 0 || rated.estimate.bytes <= result_.limit_bytes;
  }

  /// False: cancelled.
  bool plan_all() {
    to_plan_ = std::max<size_t>(
        static_cast<size_t>(kLayersToPlan / question_.recipe.model.n_layers), kMinPlans);
    plan_given();
    for (const Obvious& obvious : obvious_layouts(question_, node_devices_)) {
      if (hooks_.cancelled()) return false;
      plan_obvious(obvious);
    }
    const size_t spread = to_plan_ / 4, fastest = to_plan_ - spread - to_plan_ / 6,
                 refined = std::max(to_plan_ / 2, kMinRefined);
    to_plan_ = fastest + refined + spread;
    if (!plan_fastest(fastest)) return false;
    if (!refine_best(refined)) return false;
    keep_inputs();
    if (!plan_spread(tried() + spread)) return false;
    if (planned_.empty()) plan_leanest();
    return !hooks_.cancelled();
  }

  /// All may be too large by their bounds, or refused: the one that lacks least is worth knowing.
  void plan_leanest() {
    std::vector<Rated> leanest = rated_;
    std::ranges::stable_sort(leanest, {}, [](const Rated& rated) { return rated.estimate.bytes; });
    for (size_t i = 0; i < std::min(leanest.size(), kMinPlans); ++i) {
      if (!planned_.empty() || hooks_.cancelled()) return;
      plan(leanest[i].choice);
    }
  }

  /// Layouts that were planned, or cannot be.
  size_t tried() const { return planned_.size() + refusals_; }

  void plan_given() {
    if (given_.hardware.ranks != question_.ranks) return;
    auto [planned, why] = predict(given_);
    result_.given_why = why;
    if (planned) result_.given = planned->found;
    if (const Choice own = choice_of(given_); keeps_fixed_keys(own)) plan(own);
  }

  bool keeps_fixed_keys(const Choice& choice) const {
    const auto wanted = recipe::flatten(question_.recipe),
               chosen = recipe::flatten(with(question_.recipe, choice));
    return std::ranges::all_of(chosen, [&](const auto& each) {
      return !question_.fixed.contains(each.first) ||
             std::ranges::find(wanted, each) != wanted.end();
    });
  }

  void plan_obvious(const Obvious& obvious) {
    // `rated_` is by promise.
    const auto best =
        std::ranges::find_if(rated_, [&](const Rated& rated) { return obvious.is(rated.choice); });
    plan::Alternative alternative{obvious.name, std::nullopt, ""};
    if (best == rated_.end()) {
      alternative.why = "no layout of this kind divides the ranks, the batch and the model";
    } else if (const Planned* planned = plan(best->choice)) {
      alternative.found = planned->found;
    } else {
      alternative.why = refused_;
    }
    result_.alternatives.push_back(std::move(alternative));
  }

  bool plan_fastest(size_t until) {
    for (const Rated& rated : rated_) {
      if (hooks_.cancelled()) return false;
      if (tried() >= until) break;
      if (hopeless(rated)) continue;
      plan(rated.choice);
    }
    return true;
  }

  /// By its bounds it does not fit, or is no faster than a known one.
  bool hopeless(const Rated& rated) const {
    const bool too_large =
        result_.limit_bytes > 0 && kMemoryIsOff * static_cast<double>(rated.estimate.bytes) >
                                       static_cast<double>(result_.limit_bytes);
    return too_large || (best_ && kBoundIsOff * rated.estimate.least_seconds >= *best_);
  }

  bool refine_best(size_t most) {
    if (result_.limit_bytes == 0) return true;
    for (const Planned& planned : fastest_planned(kFastestRefined)) {
      if (hooks_.cancelled()) return false;
      spend_memory(planned);
    }
    const size_t until = tried() + most;
    // One with a budget is planned several times in it.
    size_t budgets = std::max(to_plan_ / kPlansABudget, size_t{1});
    for (const Family& family : families_of(rated_, result_.limit_bytes)) {
      if (hooks_.cancelled()) return false;
      if (tried() >= until || !std::isfinite(family.promise)) break;
      if (best_ && kPromiseIsOff * family.promise >= *best_) break;
      if (budgets > 0) {
        --budgets;
        spend_by_budget(family);
      }
      if (hooks_.cancelled()) return false;
      if (const auto fits = fastest_fitting(family)) spend_memory(*fits);
    }
    return true;
  }

  /// Some layers are recomputed in another way than the others. `fits`: a copy, since plans move.
  void spend_memory(const Planned fits) {
    constexpr int64_t kManyLayers = 64;  // whose plans take longer
    // All of the remaining memory may be too much: then tries shrink towards the part that fits.
    double fits_with = 0, too_much = 1, share = 1;
    for (int tries = question_.recipe.model.n_layers > kManyLayers ? 2 : 4; tries > 0;
         --tries, share = std::midpoint(fits_with, too_much)) {
      const auto better = mixed_recomputation(question_, fits.choice, fits.stage_bytes,
                                              result_.limit_bytes, share, *estimator_);
      const Planned* planned = better ? plan(*better) : nullptr;
      const bool is_fitting = planned && planned->found.fits;
      if (!better || (is_fitting && share == 1)) return;
      (is_fitting ? fits_with : too_much) = share;
    }
  }

  /// The fastest plans that fit unchanged.
  std::vector<Planned> fastest_planned(size_t most) const {
    std::vector<Planned> fastest;
    for (const Planned& planned : planned_)
      if (planned.found.fits && planned.choice.overrides.empty()) fastest.push_back(planned);
    std::ranges::stable_sort(fastest, {},
                             [](const Planned& each) { return each.found.step_seconds; });
    if (fastest.size() > most)
      fastest.erase(fastest.begin() + static_cast<std::ptrdiff_t>(most), fastest.end());
    return fastest;
  }

  std::optional<Planned> fastest_fitting(const Family& family) {
    std::vector<Rated> ways = family.ways;
    std::ranges::sort(ways, {}, [](const Rated& way) { return way.estimate.seconds; });
    for (const Rated& way : ways) {
      if (!likely_fits(way)) continue;
      const Planned* planned = plan(way.choice);
      if (planned && planned->found.fits) return *planned;
    }
    return std::nullopt;
  }

  void spend_by_budget(const Family& family) {
    if (question_.fixed.contains("recompute.mode") ||
        question_.fixed.contains("recompute.budget") || !question_.recipe.overrides.empty())
      return;
    search_budget(family.layout, question_.recipe.model.n_layers, result_.limit_bytes,
                  [this](const Choice& choice) -> std::optional<plan::Found> {
                    const Planned* planned = plan(choice);
                    return planned ? std::optional(planned->found) : std::nullopt;
                  });
  }

  /// The fastest of those that gather inputs again, with inputs kept: faster where memory allows.
  void keep_inputs() {
    if (question_.fixed.contains("parallelism.tp_gather_again") ||
        !question_.recipe.parallelism.sequence_parallel)
      return;
    std::vector<std::pair<double, Choice>> fastest;
    for (const Planned& planned : planned_)
      if (planned.found.fits && planned.choice.tp > 1 && planned.choice.gather_again)
        fastest.emplace_back(planned.found.step_seconds, planned.choice);
    std::ranges::sort(fastest, {}, &std::pair<double, Choice>::first);
    if (fastest.size() > kInputsKept) fastest.resize(kInputsKept);
    for (auto& [seconds, choice] : fastest) {
      if (hooks_.cancelled()) return;
      choice.gather_again = false;
      plan(choice);
    }
  }

  /// Plans along the expected front, so that layouts with less memory are known as well.
  bool plan_spread(size_t until) {
    std::vector<const Rated*> front;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Rated& rated : rated_) {
      if (!likely_fits(rated) || rated.estimate.bytes >= least) continue;
      if (best_ && rated.estimate.seconds > kSlowest * *best_) continue;
      least = rated.estimate.bytes;
      front.push_back(&rated);
    }
    const size_t room = until > tried() ? until - tried() : 0;
    const size_t every = room == 0 ? 1 : front.size() / room + 1;
    for (size_t i = front.size(); i > 0; i -= std::min(i, every)) {
      if (hooks_.cancelled()) return false;
      if (tried() >= until) break;
      plan(front[i - 1]->choice);
    }
    return true;
  }

  /// Nothing where the recipe cannot be run so; `refused_` says why.
  const Planned* plan(const Choice& choice) {
    for (const Planned& known : planned_)
      if (known.choice == choice) return &known;
    recipe::Parsed asked;
    asked.recipe = with(question_.recipe, choice);
    const recipe::Parsed resolved = recipe::resolve(asked);
    std::optional<Planned> planned;
    if (resolved.ok()) {
      std::tie(planned, refused_) = predict(resolved.recipe);
    } else {
      refused_ = resolved.faults.front().key + ": " + resolved.faults.front().what;
    }
    if (!planned) {
      ++refusals_;
      return nullptr;
    }
    if (planned->found.fits && (!best_ || planned->found.step_seconds < *best_))
      best_ = planned->found.step_seconds;
    planned_.push_back(std::move(*planned));
    result_.planned = static_cast<int64_t>(planned_.size());
    find_front();
    hooks_.progress(result_, std::min(1.0, static_cast<double>(planned_.size()) /
                                               static_cast<double>(to_plan_)));
    return &planned_.back();
  }

  std::pair<std::optional<Planned>, std::string> predict(const recipe::Recipe& recipe) {
    const auto machine = predict::machine_of(recipe, question_.hardware, "heddle");
    if (!machine) return {std::nullopt, machine.error().message};
    const auto plan = predict::predict(
        recipe, *machine,
        {.hardware = {},
         .executor = "heddle",
         .timeline = false,
         .cancelled = [] { return false; },
         .capture = [this](const recipe::Recipe& of,
                           step::Work work) { return planning_.captured().capture(of, work); },
         .budgets = &planning_.budgets(),
         .most_nodes = kMaxNodes});
    if (!plan) return {std::nullopt, plan.error().message};
    const Choice choice = choice_of(recipe);
    const auto slowest =
        std::ranges::max_element(plan->ranks_shown, {}, &plan::RankFigures::step_seconds);
    Planned planned{choice,
                    {.sets = sets_of(question_, choice),
                     .words = words_of(choice),
                     .mesh = recipe::list_degrees(choice),
                     .step_seconds = plan->step_seconds,
                     .tokens_per_second = static_cast<double>(plan->tokens_per_step) /
                                          std::max(plan->step_seconds, 1e-12),
                     .compute_seconds = slowest->compute_seconds,
                     .exposed_seconds = slowest->exposed_seconds,
                     .bubble_seconds = slowest->bubble_seconds,
                     .peak_bytes = plan->peak_bytes,
                     .fits = result_.limit_bytes == 0 || plan->peak_bytes <= result_.limit_bytes},
                    {}};
    for (const plan::RankFigures& rank : plan->ranks_shown)
      planned.stage_bytes.push_back(rank.peak_bytes);
    return {std::move(planned), ""};
  }

  void find_front() {
    std::vector<const plan::Found*> fits;
    for (const Planned& planned : planned_)
      if (planned.found.fits) fits.push_back(&planned.found);
    std::ranges::stable_sort(fits, {}, [](const plan::Found* found) {
      return std::pair(found->step_seconds, found->peak_bytes);
    });
    result_.front.clear();
    for (const plan::Found* found : fits)
      if (result_.front.empty() || found->peak_bytes < result_.front.back().peak_bytes)
        result_.front.push_back(*found);
  }

  void finish() {
    if (result_.front.empty()) {
      if (!result_.complete) return;
      const auto least = std::ranges::min_element(
          planned_, {}, [](const Planned& planned) { return planned.found.peak_bytes; });
      if (least != planned_.end()) result_.least = least->found;
      return;
    }
    const plan::Found& best = result_.front.front();
    for (plan::Alternative& each : result_.alternatives)
      if (each.found) each.why = why_not(*each.found, best, result_.limit_bytes);
    if (result_.given) result_.given_why = why_not(*result_.given, best, result_.limit_bytes);
  }

  predict::Planning& planning_;
  const Question& question_;
  const recipe::Recipe& given_;
  const Hooks& hooks_;
  std::optional<hardware::Entry> entry_;
  std::optional<Estimator> estimator_;
  int64_t node_devices_ = 0, process_bytes_ = 0;
  std::vector<Rated> rated_;
  std::vector<Planned> planned_;
  std::optional<double> best_;  // seconds of a step that fits
  std::string refused_;
  size_t refusals_ = 0;
  size_t to_plan_ = 0;
  plan::SearchResult result_;
};

}  // namespace

Result<plan::SearchResult> search(predict::Planning& planning, const Question& question,
                                  const recipe::Recipe& given, const Hooks& hooks) {
  return Search(planning, question, given, hooks).run();
}

}  // namespace heddle::search
