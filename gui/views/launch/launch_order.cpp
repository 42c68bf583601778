#include "gui/views/launch/launch_order.h"

#include "gui/views/launch/launch_data.h"
#include "workbench/queue.h"

namespace heddle::gui {
namespace {

Result<workbench::Enqueuing> enqueuingOf(storage::Reader& reader, const LaunchOrder& order) {
  if (!order.sweep) return workbench::Enqueuing{.requests = {order.request}};
  const SweptRecipe recipe{QString::fromStdString(order.request.recipe_text),
                           QString::fromStdString(order.request.recipe_file), order.ranks};
  auto runs = runsOf(*order.sweep, recipe);
  if (!runs) return fail(runs);
  auto halving = halvingOf(*order.sweep, recipe, *runs);
  if (!halving) return fail(halving);
  // A sweep over the ranks has its own.
  const std::string ranks = "hardware.ranks=" + std::to_string(order.ranks);
  for (workbench::SweepRun& run : *runs) run.sets.insert(run.sets.begin(), ranks);
  auto requests = workbench::requests_of(reader, order.request, *runs);
  if (!requests) return fail(requests);
  return workbench::Enqueuing{.requests = std::move(*requests),
                              .at_once = order.sweep->atOnce,
                              .halving = std::move(*halving)};
}

}  // namespace

Result<LaunchOutcome> carryOut(workbench::Workbench& workbench, LaunchOrder order,
                               const workbench::LaunchProgress& progress) {
  if (!order.sweep) order.request.sets = {"hardware.ranks=" + std::to_string(order.ranks)};
  if (order.fork || order.queued || order.sweep) {
    auto reader = storage::Reader::open(workbench.store_path());
    if (!reader) return fail(reader);
    if (!order.fork) {
      const auto wanted = enqueuingOf(*reader, order);
      if (!wanted) return fail(wanted);
      return workbench::enqueue(workbench.writer(), *wanted, progress);
    }
    auto forked = forkRequest(*reader, order.request, *order.fork);
    if (!forked) return fail(forked);
    order.request = std::move(*forked);
  }
  auto run = workbench::launch(workbench.writer(), order.request, progress);
  if (!run) return LaunchOutcome(tl::unexpected(std::move(run.error())));
  return LaunchOutcome(std::vector<storage::CreatedRun>{std::move(*run)});
}

}  // namespace heddle::gui
