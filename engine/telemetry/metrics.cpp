#include "engine/telemetry/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <unordered_map>

namespace heddle::telemetry {
namespace {

/// How the table below is written.
namespace table {

struct Row : Metric {
  constexpr Row from(Reporter who) const {
    return with([&](Row& row) { row.reporter = who; });
  }
  constexpr Row less_is_better() const {
    return with([](Row& row) { row.better = Better::less; });
  }
  constexpr Row more_is_better() const {
    return with([](Row& row) { row.better = Better::more; });
  }
  constexpr Row mean_of_ranks() const {
    return with([](Row& row) { row.over_ranks = Fold::mean; });
  }
  constexpr Row most_of_ranks() const {
    return with([](Row& row) { row.over_ranks = Fold::most; });
  }
  constexpr Row median_of_steps(int after = 0) const {
    return with([&](Row& row) { row.over_steps = Average::median, row.warm_up = after; });
  }
  constexpr Row last_of_steps() const {
    return with([](Row& row) { row.over_steps = Average::last; });
  }
  constexpr Row on_step_line(std::string_view text) const {
    return with([&](Row& row) { row.step_line = text; });
  }
  constexpr Row on_end_line(std::string_view text) const {
    return with([&](Row& row) { row.end_line = text; });
  }
  constexpr Row in_live() const {
    return with([](Row& row) { row.live = true; });
  }
  constexpr Row in_drawer() const {
    return with([](Row& row) { row.drawer = true; });
  }
  constexpr Row called(std::string_view names) const {
    return with([&](Row& row) { row.elsewhere = names; });
  }
  constexpr Row means(std::string_view text) const {
    return with([&](Row& row) { row.meaning = text; });
  }

 private:
  constexpr Row with(const auto& change) const {
    Row row = *this;
    change(row);
    return row;
  }
};

constexpr Row row(std::string_view name, std::string_view words, Unit unit) {
  Row made;
  made.name = name;
  made.words = words;
  made.unit = unit;
  return made;
}
constexpr Row loss(std::string_view name, std::string_view words) {
  return row(name, words, Unit::loss).less_is_better();
}
constexpr Row time(std::string_view name, std::string_view words) {
  return row(name, words, Unit::seconds).less_is_better();
}
constexpr Row speed(std::string_view name, std::string_view words) {
  return row(name, words, Unit::tokens_per_second).more_is_better();
}
constexpr Row memory(std::string_view name, std::string_view words) {
  return row(name, words, Unit::bytes);
}
/// A lower or higher prediction is not a better one.
constexpr Row predicted(std::string_view name, std::string_view words, Unit unit) {
  return row(name, words, unit).from(Reporter::plan);
}

}  // namespace table

constexpr auto kMetrics = [] {
  using namespace table;
  using enum Reporter;
  return std::to_array<Metric>({
      loss("loss", "loss")
          .on_step_line("loss {}")
          .called("train_loss train_loss_step train/loss training_loss"),
      loss("best_loss", "best loss").from(comparison),
      loss("last_loss", "last loss").from(end).on_end_line("loss {}"),
      loss("validation_loss", "validation loss")
          .on_step_line("validation loss {}")
          .called("val_loss valid_loss eval_loss val/loss eval/loss")
          .in_live(),
      loss("best_validation_loss", "best validation loss").from(comparison),
      loss("loss_max", "loss max"),
      row("grad_norm", "gradient norm", Unit::number)
          .on_step_line("gradient {}")
          .called("gradient_norm train/grad_norm")
          .in_live(),
      row("lr", "learning rate", Unit::number)
          .called("learning_rate train/learning_rate")
          .in_live(),
      row("tokens_seen", "tokens seen", Unit::tokens)
          .called("total_tokens num_input_tokens_seen")
          .last_of_steps()
          .on_end_line("{} tokens seen")
          .in_live()
          .in_drawer(),

      speed("tokens_per_second", "tokens per second").mean_of_ranks().on_step_line("{} a rank"),
      speed("tokens_per_second_per_rank", "tok/s a rank")
          .from(end)
          .median_of_steps(kWarmUpSteps)
          .on_end_line("{} a rank")
          .in_drawer(),
      predicted("predicted_tokens_per_second_per_rank", "predicted tok/s", Unit::tokens_per_second),
      time("step_seconds", "step")
          .median_of_steps(kWarmUpSteps)
          .on_end_line("{} a step")
          .in_drawer(),
      predicted("predicted_step_seconds", "predicted step", Unit::seconds).in_drawer(),
      predicted("predicted_uncertain", "prediction ±", Unit::share)
          .means(
              "Known before the launch: how far predictions for that machine were off in earlier "
              "runs. Compare the step with the predicted step to see how far off this run's own "
              "is."),
      row("uncertain", "prediction ±", Unit::share).from(comparison),
      time("exposed_seconds", "exposed").mean_of_ranks().median_of_steps().in_drawer(),
      predicted("predicted_exposed_seconds", "predicted exposed", Unit::seconds).in_drawer(),
      time("bubble_seconds", "bubble").mean_of_ranks().median_of_steps(),
      predicted("predicted_bubble_seconds", "predicted bubble", Unit::seconds),
      time("data_seconds", "data loading"),
      row("cpu_seconds", "CPU time", Unit::seconds)
          .mean_of_ranks()
          .median_of_steps(kWarmUpSteps)
          .in_live()
          .in_drawer(),
      row("mfu", "MFU", Unit::share).more_is_better(),
      row("predicted_mfu", "predicted MFU", Unit::share).from(comparison),

      memory("resident_bytes", "resident memory").most_of_ranks().on_step_line("{}"),
      memory("device_bytes", "GPU memory")
          .most_of_ranks()
          .in_live()
          .means("In use on the rank's GPU, by whomever: as nvidia-smi shows it."),
      memory("device_memory_bytes", "GPU memory in all").from(start).in_drawer(),
      memory("peak_bytes", "peak memory")
          .less_is_better()
          .from(end)
          .on_end_line("{} at most")
          .in_drawer(),
      memory("predicted_peak_bytes", "predicted peak").from(start).in_drawer(),
      time("first_step_seconds", "time to first step").from(end).in_live().in_drawer(),
      time("capture_seconds", "capture").from(start).in_live().in_drawer(),
      row("nodes", "graph nodes", Unit::count).from(start).in_live().in_drawer(),
      row("collectives", "collectives a step", Unit::count)
          .less_is_better()
          .from(start)
          .in_live()
          .in_drawer(),
      row("predicted_collectives", "predicted collectives", Unit::count).from(comparison),
      time("plan_seconds", "plan").from(start),
      row("model_forward_calls", "model forward calls", Unit::count).from(end),
      row("restarts", "restarts", Unit::count)
          .less_is_better()
          .from(start)
          .in_live()
          .in_drawer()
          .means("How often the ranks were started again after one had failed."),
      memory("arena_bytes", "arena bytes").from(start),
      memory("state_bytes", "state bytes").from(start),
      row("clock_ahead_seconds", "clock ahead", Unit::seconds).from(follower),

      memory("parameters_bytes", "memory, parameters").from(comparison),
      memory("gradients_bytes", "memory, gradients").from(comparison),
      memory("optimizer_bytes", "memory, optimizer").from(comparison),
      memory("activations_bytes", "memory, activations").from(comparison),
      memory("communication_bytes", "memory, communication").from(comparison),
      memory("workspace_bytes", "memory, workspace").from(comparison),
      memory("other_bytes", "memory, other").from(comparison),
      memory("predicted_parameters_bytes", "predicted memory, parameters").from(comparison),
      memory("predicted_gradients_bytes", "predicted memory, gradients").from(comparison),
      memory("predicted_optimizer_bytes", "predicted memory, optimizer").from(comparison),
      memory("predicted_activations_bytes", "predicted memory, activations").from(comparison),
      memory("predicted_communication_bytes", "predicted memory, communication").from(comparison),
      memory("predicted_workspace_bytes", "predicted memory, workspace").from(comparison),
      memory("predicted_other_bytes", "predicted memory, other").from(comparison),
  });
}();

/// The metric of that name; null: it is unknown.
const Metric* find_metric(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Metric*> all;
    for (const Metric& each : kMetrics) all.emplace(each.name, &each);
    return all;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric& metric(std::string_view name) {
  static constexpr Metric kUnknown;
  const Metric* found = find_metric(name);
  return found ? *found : kUnknown;
}

const Metric& foreign_metric(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string, const Metric*> all;
    for (const Metric& each : kMetrics) {
      all.emplace(each.name, &each);
      std::istringstream names{std::string(each.elsewhere)};
      for (std::string other; names >> other;) all.emplace(other, &each);
    }
    return all;
  }();
  std::string small(name);
  for (char& c : small) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  const auto found = by_name.find(small);
  return found == by_name.end() ? metric(name) : *found->second;
}

size_t order_of(std::string_view name) {
  const Metric* found = find_metric(name);
  return found ? static_cast<size_t>(found - kMetrics.data()) : kMetrics.size();
}

std::string words_of(std::string_view name) {
  const Metric* found = find_metric(name);
  std::string words(found ? found->words : name);
  if (!found) std::ranges::replace(words, '_', ' ');
  return words;
}

std::string value_text(std::string_view name, double value, int more) {
  return unit_text(metric(name).unit, value, more);
}

void RankFold::add(int32_t rank, double value) {
  switch (how_) {
    case Fold::first:
      if (ranks_ == 0 || rank < lowest_) value_ = value;
      break;
    case Fold::mean:
      value_ += value;
      break;
    case Fold::most:
      if (ranks_ == 0 || std::isnan(value_) || value > value_) value_ = value;
      break;
  }
  lowest_ = ranks_ == 0 ? rank : std::min(lowest_, rank);
  ++ranks_;
}

double RankFold::value() const {
  if (ranks_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return how_ == Fold::mean ? value_ / ranks_ : value_;
}

}  // namespace heddle::telemetry
