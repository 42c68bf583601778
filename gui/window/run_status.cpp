#include "gui/window/run_status.h"

namespace heddle::gui {

Result<std::optional<RunStatus>> runStatus(storage::Reader& reader) {
  auto runs = reader.runs();
  if (!runs) return fail(runs);
  std::optional<RunStatus> status;
  for (storage::RunSummary& run : *runs) {
    if (!storage::is_going(run.state)) continue;
    if (status) {
      ++status->others;
      continue;
    }
    status.emplace();
    status->run = std::move(run);
  }
  if (!status) return status;
  const auto pace = readPace(reader, status->run);
  if (!pace) return fail(pace);
  status->pace = *pace;
  const auto contacts = readContacts(reader);
  if (!contacts) return fail(contacts);
  status->contact = contacts->of(status->run);
  return status;
}

}  // namespace heddle::gui
