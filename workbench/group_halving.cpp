#include "workbench/group_halving.h"

#include <algorithm>
#include <optional>

#include "engine/telemetry/metrics.h"
#include "workbench/control.h"

namespace heddle::workbench {
namespace {

using std::chrono::steady_clock;

/// A run that was asked to stop and goes on may not have heard it.
constexpr std::chrono::seconds kAskAgain{15};
/// One step's value is noisy: the mean of so large a part of the steps before counts.
constexpr int64_t kPartOfSteps = 10;
constexpr size_t kLinesToLookFor = 1000;

/// The mean of a series over the last tenth of the steps up to there; else its last value. NaN
/// where any of them is not finite; nothing where there is none.
Result<std::optional<double>> mean_up_to(storage::Reader& reader, storage::RunId run,
                                         const std::string& metric, int32_t rank, int64_t step) {
  const int64_t first = step - std::max<int64_t>(step / kPartOfSteps, 1) + 1;
  auto samples = reader.samples(run, metric, rank, {first, step});
  if (samples && samples->empty()) {
    samples = reader.samples(run, metric, rank, {0, step});
    if (samples && samples->size() > 1) samples->erase(samples->begin(), samples->end() - 1);
  }
  if (!samples) return fail(samples);
  if (samples->empty()) return std::nullopt;
  double sum = 0;
  for (const storage::Sample& sample : *samples) sum += sample.value;
  return sum / static_cast<double>(samples->size());
}

}  // namespace

Result<> GroupHalving::look(storage::Reader& reader) {
  const auto halvings = reader.halvings();
  if (!halvings) return fail(halvings);
  for (const auto& [group, halving] : *halvings)
    if (Result<> looked = look_at(reader, group, halving); !looked) return looked;
  return {};
}

Result<> GroupHalving::look_at(storage::Reader& reader, const std::string& group,
                               const storage::Halving& halving) {
  const auto runs = reader.runs_of_group(group);
  if (!runs) return fail(runs);
  const auto is_going = [](const storage::RunSummary& run) { return storage::is_going(run.state); };
  if (std::ranges::none_of(*runs, is_going)) return {};
  std::vector<Contender> contenders;
  for (const storage::RunSummary& run : *runs) {
    Contender contender{.run = run.id, .going = is_going(run)};
    for (const storage::Rung& rung : halving.rungs) {
      if (run.steps < rung.step) break;
      const Result<double> value = value_at(reader, run.id, halving.metric, rung.step);
      if (!value) return fail(value);
      contender.values[rung.step] = *value;
    }
    contenders.push_back(std::move(contender));
  }
  for (const RungDecision& decision : decide(halving, contenders))
    if (Result<> done = carry_out(reader, decision); !done) return done;
  return {};
}

Result<double> GroupHalving::value_at(storage::Reader& reader, storage::RunId run,
                                      const std::string& metric, int64_t step) {
  const auto known = values_.find({run, step});
  if (known != values_.end()) return known->second;
  const auto detail = reader.run(run);
  if (!detail) return fail(detail);
  telemetry::RankFold fold(telemetry::metric(metric));
  for (const int32_t rank : detail->ranks) {
    const auto value = mean_up_to(reader, run, metric, rank, step);
    if (!value) return fail(value);
    if (*value) fold.add(rank, **value);
  }
  values_[{run, step}] = fold.value();
  return fold.value();
}

Result<> GroupHalving::carry_out(storage::Reader& reader, const RungDecision& decision) {
  const RunAndStep key{decision.run, decision.step};
  const auto known = decided_.find(key);
  if (known == decided_.end() || known->second != decision.stop) {
    // The process before this one may have written it.
    const auto lines = reader.last_lines(decision.run, kLinesToLookFor);
    if (!lines) return fail(lines);
    const std::string head = decision.words.substr(0, decision.words.find(": ", 8) + 2);
    const std::string verdict = head + (decision.stop ? "stopped" : "goes on");
    const bool written = std::ranges::any_of(
        *lines, [&](const storage::LogLine& line) { return line.text.starts_with(verdict); });
    if (!written)
      if (Result<> added = writer_.add_line(decision.run, {.text = decision.words}).get(); !added)
        return added;
    decided_[key] = decision.stop;
  }
  if (!decision.stop) return {};
  const auto now = steady_clock::now();
  const auto asked = asked_.find(decision.run);
  if (asked != asked_.end() && now < asked->second + kAskAgain) return {};
  asked_[decision.run] = now;
  const auto run = reader.run(decision.run);
  if (!run) return fail(run);
  // A host that does not answer is asked again.
  if (const Result<> stopped = stop(*run); !stopped)
    return writer_
        .add_line(decision.run,
                  {.level = telemetry::Level::warning,
                   .text = "halving: it could not be asked to stop: " + stopped.error().message})
        .get();
  return {};
}

}  // namespace heddle::workbench
