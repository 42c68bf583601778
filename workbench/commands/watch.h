// A run's progress on a terminal, read from the store while someone (this process or another)
// ingests it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "storage/run.h"

namespace heddle::workbench {

/// Prints steps and log lines from the beginning on until the run has ended, then how it ended. The
/// exit code: 0 done, 1 failed or lost, 130 stopped. After a run that goes on by itself without a
/// lost host comes the one that it goes on as. `interrupted` (may be empty) is called with the run
/// at SIGINT and SIGTERM, which then do not end the process; a second one does.
Result<int> watch(const std::string& store_path, storage::RunId run,
                  const std::function<void(storage::RunId)>& interrupted = {});

/// The same without steps and log lines: waits until the run has ended, then prints how it ended.
Result<int> await_end(const std::string& store_path, storage::RunId run);

/// 0 done, 1 failed or lost, 130 stopped.
int exit_code_of(storage::RunState state);

/// "done after 20 steps, loss 0.400, 1,000 tok/s a rank".
std::string end_text(const storage::RunSummary& run);

}  // namespace heddle::workbench
