#include "workbench/control.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "remote/connect.h"
#include "storage/queries.h"
#include "workbench/backend.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

/// Does something on each host of a run; hosts that fail keep nothing from the others.
template <typename Action>
Result<> on_each_host(const storage::RunDetail& run, Action action) {
  const Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", run.summary.name, place.error().message);
  std::vector<std::string> errors;
  for (size_t i = 0; i < place->shares.size(); ++i) {
    const auto node = remote::connect(place->target, place->target.host_of(i));
    const Result<> done = node ? action(backend_of(place->target), **node, place->shares[i])
                               : Result<>(fail("{}", node.error().message));
    if (!done) errors.push_back(done.error().message);
  }
  if (!errors.empty()) return fail("{}", fmt::join(errors, "; "));
  return {};
}

Result<> ask(const storage::RunDetail& run, Order order) {
  if (storage::has_ended(run.summary.state)) {
    return fail("{} has ended already: {}", run.summary.name,
                storage::to_string(run.summary.state));
  }
  if (const auto place = place_from_json(run.hosts); place && place->shares.empty())
    return fail("{} is still being launched: cancel the launch, or ask again once it runs",
                run.summary.name);
  return on_each_host(
      run, [&](const Backend& backend, remote::Node& node, const Share& share) -> Result<> {
        const auto status = backend.order(node, share, order);
        return status ? Result<>{} : fail(status);
      });
}

/// Nothing but what a launch has made is deleted, whatever the store says.
Result<> check_run_folder(remote::Node& node, const std::string& run_dir) {
  const auto entries = node.list(run_dir);
  if (!entries) return fail(entries);
  const bool ours = std::ranges::any_of(*entries, [](const remote::Entry& entry) {
    // An earlier removal may have been interrupted.
    return entry.name == "launch.json" || entry.name == "recipe.toml" ||
           entry.name == "checkpoints" || entry.name == "state.json" ||
           entry.name.ends_with(".hlog");
  });
  if (ours || entries->empty()) return {};
  return fail(
      "{}: {} is no run's directory: none of launch.json, recipe.toml, state.json, "
      "checkpoints and *.hlog is in it",
      node.name(), run_dir);
}

/// A run that goes on from this one's checkpoint has it once it has done a step of its own.
Result<> check_unneeded(const storage::Writer& writer, const storage::RunSummary& parent) {
  Result<storage::Reader> reader = storage::Reader::open(writer.path());
  if (!reader) return fail(reader);
  const auto runs = reader->runs();
  if (!runs) return fail(runs);
  for (const storage::RunSummary& run : *runs)
    if (run.lineage && run.lineage->parent == parent.id && !storage::has_ended(run.state) &&
        run.steps == 0)
      return fail("{} is just beginning with a checkpoint of {}; remove {} once it trains",
                  run.name, parent.name, parent.name);
  return {};
}

}  // namespace

Result<> stop(const storage::RunDetail& run) { return ask(run, Order::stop); }

Result<> kill(const storage::RunDetail& run) { return ask(run, Order::kill); }

Result<> checkpoint(const storage::RunDetail& run) { return ask(run, Order::checkpoint); }

Result<> change_job(const storage::RunDetail& run, const JobChange& change) {
  if (change.nice && (*change.nice < 0 || *change.nice > kMaxNice))
    return fail("nice {}; valid: 0 to {}", *change.nice, kMaxNice);
  const Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", run.summary.name, place.error().message);
  if (storage::has_ended(run.summary.state) || place->shares.empty())
    return fail("{} is {}: it has no job that waits", run.summary.name,
                storage::to_string(run.summary.state));
  const auto node = remote::connect(place->target, place->target.host_of(0));
  if (!node) return fail("{}", node.error().message);
  return backend_of(place->target).change(**node, place->shares[0], change);
}

Result<> remove(storage::Writer& writer, const storage::RunDetail& run) {
  const bool waited = run.summary.state == storage::RunState::queued;
  if (waited)
    if (Result<> out = writer.take_out(run.summary.id).get(); !out) return out;
  if (!waited && !storage::has_ended(run.summary.state)) {
    return fail("{} is {}; stop it first", run.summary.name, storage::to_string(run.summary.state));
  }
  if (Result<> unneeded = check_unneeded(writer, run.summary); !unneeded) return unneeded;
  const Result<> removed =
      on_each_host(run, [](const Backend&, remote::Node& node, const Share& share) -> Result<> {
        if (Result<> ours = check_run_folder(node, share.run_dir()); !ours) return ours;
        return node.remove(share.run_dir());
      });
  if (!removed) return removed;
  return writer.remove(run.summary.id).get();
}

}  // namespace heddle::workbench
