// The status bar's words about the run that is training now. Plain data.
#pragma once

#include <QString>
#include <optional>

#include "base/result.h"
#include "gui/models/contact.h"
#include "gui/models/run_pace.h"
#include "storage/queries.h"

namespace heddle::gui {

struct RunStatus {
  storage::RunSummary run;
  RunPace pace;
  Contact contact;
  int others = 0;  // how many more are running
};

/// The newest run that is preparing or running; nullopt: there is none.
Result<std::optional<RunStatus>> runStatus(storage::Reader& reader);

}  // namespace heddle::gui
