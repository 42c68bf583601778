#include "gui/window/run_status.h"

#include <algorithm>

#include "gui/models/value.h"

namespace heddle::gui {
namespace {

constexpr int64_t kRecentSteps = 20;

}  // namespace

Result<std::optional<RunStatus>> runStatus(storage::Reader& reader) {
  auto runs = reader.runs();
  if (!runs) return fail(runs);
  std::optional<RunStatus> status;
  for (const storage::RunSummary& run : *runs) {
    if (storage::has_ended(run.state)) continue;
    if (status) {
      ++status->others;
      continue;
    }
    status.emplace();
    status->id = run.id;
    status->name = QString::fromStdString(run.name);
    status->state = run.state;
    status->step = run.steps;
  }
  if (!status) return status;
  const auto steps = reader.column("recipe.training.steps");
  if (!steps) return fail(steps);
  if (const auto found = steps->find(status->id); found != steps->end())
    status->steps = static_cast<int64_t>(number(found->second).value_or(0));
  const storage::StepRange recent{std::max<int64_t>(2, status->step - kRecentSteps), status->step};
  const auto seconds = reader.series(status->id, "step_seconds", 0, recent, 1);
  if (seconds && !seconds->empty()) status->stepSeconds = seconds->front().mean;
  const auto rate = reader.series(status->id, "tokens_per_second", 0, recent, 1);
  if (rate && !rate->empty()) status->tokensPerSecond = rate->front().mean;
  return status;
}

}  // namespace heddle::gui
