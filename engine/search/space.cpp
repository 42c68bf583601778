#include "engine/search/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/recipe/mesh.h"
#include "engine/recipe/parse.h"

namespace heddle::search {
namespace {

using recipe::ContextMode;
using recipe::Divides;
using recipe::PipelineSchedule;
using recipe::RecomputeMode;
using recipe::WrappingMode;

std::vector<int64_t> divisors(int64_t number) {
  std::vector<int64_t> low, high;
  for (int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    low.push_back(i);
    if (i != number / i) high.push_back(number / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// The values that a key may have.
class Options {
 public:
  explicit Options(const Question& question) : question_(question) {}

  template <typename T>
  std::vector<T> of(const std::string& key, T own, std::vector<T> all) const {
    if (!question_.fixed.contains(key)) return all;
    if constexpr (std::is_same_v<T, int64_t>)
      if (std::ranges::find(all, own) == all.end()) return {};
    return {own};
  }

 private:
  const Question& question_;
};

/// Micro-batches of so many of a rank's sequences are worth telling apart: 1, 2, 4 … and all.
std::vector<int64_t> micro_batch_sizes(int64_t sequences) {
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size < sequences; size *= 2)
    if (sequences % size == 0) sizes.push_back(size);
  sizes.push_back(sequences);
  return sizes;
}

bool shards_parameters(const Choice& choice) {
  return recipe::Mesh(choice).size(recipe::kSharing) > 1;
}

class Enumeration {
 public:
  Enumeration(const Question& question, const std::function<void(const Choice&)>& each)
      : recipe_(question.recipe),
        ranks_(question.ranks),
        options_(question),
        batch_is_fixed_(question.fixed.contains("training.local_batch") ||
                        question.fixed.contains("parallelism.microbatches")),
        mesh_is_fixed_(std::ranges::any_of(
            recipe::keys_along(recipe::kTokens),
            [&](const std::string& key) { return question.fixed.contains(key); })),
        each_(each) {}

  void run() {
    Choice choice;
    static_cast<recipe::Degrees&>(choice) = recipe::keep_degrees({}, 0);
    choice.gather_again = recipe_.parallelism.tp_gather_again;
    choice.overrides = recipe_.overrides;
    cut(choice, recipe::kAxesAsSearched.begin(), ranks_);
  }

 private:
  using Axes = decltype(recipe::kAxesAsSearched)::const_iterator;

  /// Cuts the model along this axis and the following ones; samples take the ranks that are `left`.
  void cut(Choice choice, Axes at, int64_t left) {
    const recipe::Axis& axis = **at;
    if (axis.divides == Divides::samples) return spread_samples(choice, left);
    const int64_t own = recipe_.parallelism.*axis.degree;
    for (const int64_t degree : options_.of(axis.key(), own, divisors(left))) {
      choice.*axis.degree = degree;
      if (divides(axis, choice)) cut(choice, at + 1, left / degree);
    }
  }

  bool divides(const recipe::Axis& axis, const Choice& choice) const {
    switch (axis.divides) {
      case Divides::layers:
        return choice.pp <= recipe_.model.n_layers;
      case Divides::matrices:
        return tensor_parallel(choice.tp);
      case Divides::sequences:
        return recipe_.data.seq_len % (choice.cp * (choice.cp > 1 ? 2 : 1)) == 0 &&
               sequence_parallel(choice.tp, choice.cp);
      case Divides::samples:
        return true;
    }
    return false;
  }

  bool tensor_parallel(int64_t tp) const {
    const recipe::Model& model = recipe_.model;
    return model.n_heads % tp == 0 && model.n_kv_heads % tp == 0 && model.ffn_dim % tp == 0;
  }

  bool sequence_parallel(int64_t tp, int64_t cp) const {
    return tp == 1 || !recipe_.parallelism.sequence_parallel ||
           recipe_.data.seq_len % (tp * cp) == 0;
  }

  bool deals_heads(const Choice& choice) const {
    const int64_t heads = recipe_.model.n_heads / choice.tp;
    const int64_t kv_heads = recipe_.model.n_kv_heads / choice.tp;
    return heads % choice.cp == 0 && (kv_heads % choice.cp == 0 || choice.cp % kv_heads == 0);
  }

  void spread_samples(Choice choice, int64_t data) {
    const recipe::Parallelism& own = recipe_.parallelism;
    if (recipe_.training.global_batch % data != 0) return;
    const int64_t sequences = recipe_.training.global_batch / data;
    for (const int64_t shard : options_.of("parallelism.dp_shard", own.dp_shard, divisors(data))) {
      choice.dp_shard = shard;
      choice.dp_replicate = data / shard;
      if (options_.of("parallelism.dp_replicate", own.dp_replicate, {choice.dp_replicate}) !=
          std::vector{choice.dp_replicate})
        continue;
      for (const int64_t size : micro_batch_sizes(sequences)) {
        choice.sequences = size;
        choice.micro_batches = sequences / size;
        if (batches(choice) && worthwhile(choice)) modes(choice);
      }
    }
  }

  /// Whether the batch is cut as the fixed keys say.
  bool batches(const Choice& choice) const {
    const int64_t at_once = choice.sequences * (choice.pp > 1 ? choice.micro_batches : 1);
    return !options_.of("training.local_batch", recipe_.training.local_batch, {at_once}).empty() &&
           (choice.pp == 1 || !options_
                                   .of("parallelism.microbatches", recipe_.parallelism.microbatches,
                                       {choice.micro_batches})
                                   .empty());
  }

  /// See `enumerate`; fixed keys are not judged.
  bool worthwhile(const Choice& choice) const {
    constexpr int64_t kMaxTokens = 32768, kMinTokens = 256;
    if (batch_is_fixed_) return true;
    const int64_t parts = choice.tp * choice.cp;
    const int64_t tokens = choice.sequences * recipe_.data.seq_len / parts;
    if (choice.sequences > 1 && tokens > kMaxTokens) return false;
    if (!mesh_is_fixed_ && choice.cp > 1 &&
        (tokens < kMinTokens || (choice.cp % 2 == 0 && choice.sequences % 2 == 0)))
      return false;
    return true;
  }

  void modes(Choice choice) {
    const recipe::Recipe& own = recipe_;
    const auto context = options_.of(
        "parallelism.cp_mode", own.parallelism.cp_mode,
        choice.cp == 1
            ? std::vector{ContextMode::allgather}
            : std::vector{ContextMode::allgather, ContextMode::ring, ContextMode::ulysses});
    const auto schedules = options_.of(
        "parallelism.pp_schedule", own.parallelism.pp_schedule,
        choice.pp == 1 ? std::vector{PipelineSchedule::one_f_one_b}
                       : std::vector{PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,
                                     PipelineSchedule::interleaved, PipelineSchedule::zero_bubble});
    const bool whole = own.parallelism.dp_shard_states != recipe::ShardStates::all;
    const auto reshard =
        options_.of("wrapping.reshard_after_forward", own.wrapping.reshard_after_forward != 0,
                    whole                        ? std::vector{false}
                    : !shards_parameters(choice) ? std::vector{true}
                                                 : std::vector{true, false});
    const auto recompute = options_.of(
        "recompute.mode", own.recompute.mode,
        std::vector{RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full});
    for (const ContextMode mode : context) {
      choice.cp_mode = mode;
      if (choice.cp > 1 && mode == ContextMode::ulysses && !deals_heads(choice)) continue;
      for (const PipelineSchedule schedule : schedules) {
        choice.schedule = schedule;
        if (schedule == PipelineSchedule::interleaved && choice.pp > 1 &&
            own.model.n_layers < 2 * choice.pp)
          continue;
        for (const bool frees : reshard) {
          choice.reshard = frees;
          for (const RecomputeMode again : recompute) {
            choice.recompute = again;
            choice.budget = again == RecomputeMode::budget ? own.recompute.budget : 0;
            each_(choice);
          }
        }
      }
    }
  }

  const recipe::Recipe& recipe_;
  const int64_t ranks_;
  const Options options_;
  const bool batch_is_fixed_, mesh_is_fixed_;
  const std::function<void(const Choice&)>& each_;
};

std::string in_words(RecomputeMode mode, double budget) {
  switch (mode) {
    case RecomputeMode::none:
      return "no recomputation";
    case RecomputeMode::full:
      return "full recomputation";
    case RecomputeMode::selective:
      return "selective recomputation";
    case RecomputeMode::budget:
      return fmt::format("recomputation by a budget of {:.3g}", budget);
  }
  return "";
}

std::string in_words(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::gpipe:
      return "gpipe";
    case PipelineSchedule::one_f_one_b:
      return "1f1b";
    case PipelineSchedule::interleaved:
      return "interleaved";
    case PipelineSchedule::zero_bubble:
      return "zero-bubble";
  }
  return "";
}

}  // namespace

recipe::Recipe with(const recipe::Recipe& recipe, const Choice& choice) {
  recipe::Recipe changed = recipe;
  recipe::Parallelism& p = changed.parallelism;
  static_cast<recipe::Degrees&>(p) = choice;
  p.cp_mode = choice.cp_mode;
  p.tp_chunks = 0;
  p.tp_gather_again = choice.gather_again;
  p.pp_schedule = choice.schedule;
  p.microbatches = choice.pp > 1 ? choice.micro_batches : 0;
  const auto stages = static_cast<int64_t>(p.stage_layers.size());
  if (stages != choice.pp) p.stage_layers.clear();
  changed.training.local_batch =
      choice.sequences * (choice.pp > 1 ? choice.micro_batches : int64_t{1});
  changed.training.loss_chunks = 0;
  int64_t& reshard = changed.wrapping.reshard_after_forward;
  if (choice.reshard != (reshard != 0)) reshard = choice.reshard ? -1 : 0;
  changed.recompute.mode = choice.recompute;
  if (choice.recompute == RecomputeMode::budget) changed.recompute.budget = choice.budget;
  changed.overrides = choice.overrides;
  return changed;
}

Choice sharded_over(int64_t ranks) {
  Choice choice;
  choice.dp_shard = ranks;
  return choice;
}

Choice choice_of(const recipe::Recipe& resolved) {
  const recipe::Parallelism& p = resolved.parallelism;
  Choice choice{p};
  choice.cp_mode = p.cp_mode;
  choice.schedule = p.pp_schedule;
  choice.sequences = resolved.micro_batch_size();
  choice.micro_batches = resolved.micro_batches();
  choice.reshard = resolved.wrapping.reshard_after_forward != 0;
  choice.gather_again = p.tp_gather_again;
  choice.recompute = resolved.recompute.mode;
  if (choice.recompute == RecomputeMode::budget) choice.budget = resolved.recompute.budget;
  choice.overrides = resolved.overrides;
  return choice;
}

std::vector<std::string> sets_of(const Question& question, const Choice& choice) {
  static const std::set<std::string> always = [] {
    const std::vector<std::string> degrees = recipe::keys_along(recipe::kWorld);
    std::set<std::string> keys(degrees.begin(), degrees.end());
    keys.insert({"hardware.ranks", "training.local_batch", "training.global_batch"});
    return keys;
  }();
  static const std::set<std::string> others = {"parallelism.cp_mode",
                                               "parallelism.pp_schedule",
                                               "parallelism.microbatches",
                                               "parallelism.stage_layers",
                                               "parallelism.tp_chunks",
                                               "parallelism.tp_gather_again",
                                               "training.loss_chunks",
                                               "wrapping.mode",
                                               "wrapping.buckets",
                                               "wrapping.reshard_after_forward",
                                               "recompute.mode",
                                               "recompute.budget",
                                               "override",
                                               "hardware.name"};
  recipe::Recipe wanted = with(question.recipe, choice);
  wanted.hardware.name = question.hardware;
  const auto before = recipe::flatten(question.written);
  const std::map<std::string, std::string> old(before.begin(), before.end());
  std::vector<std::string> sets;
  for (const auto& [key, value] : recipe::flatten(wanted)) {
    const auto known = old.find(key);
    const bool changed = known == old.end() || known->second != value;
    const bool decided = others.contains(key) || question.fixed.contains(key);
    if (always.contains(key) || (changed && decided)) sets.push_back(key + "=" + value);
  }
  return sets;
}

std::string words_of(const Choice& choice) {
  std::string text = recipe::degrees_text(choice);
  if (choice.cp > 1)
    text += choice.cp_mode == ContextMode::ring      ? " (ring)"
            : choice.cp_mode == ContextMode::ulysses ? " (ulysses)"
                                                     : " (all-gather)";
  text += choice.micro_batches == 1
              ? fmt::format(", {} sequence{} at once", choice.sequences,
                            choice.sequences == 1 ? "" : "s")
              : fmt::format(", {} micro-batches of {}", choice.micro_batches, choice.sequences);
  if (choice.pp > 1) text += ", " + in_words(choice.schedule);
  text += ", " + in_words(choice.recompute, choice.budget);
  if (!choice.overrides.empty()) text += " but for some layers";
  if (shards_parameters(choice) && !choice.reshard) text += ", parameters stay gathered";
  if (choice.tp > 1 && !choice.gather_again) text += ", inputs kept";
  return text;
}

void enumerate(const Question& question, const std::function<void(const Choice&)>& each) {
  Enumeration(question, each).run();
}

}  // namespace heddle::search
