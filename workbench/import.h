// Run directories made elsewhere, as runs of the store. No lease is needed: nobody else takes in
// the logs of a run that is being imported, so it goes beside an open window. An import that was
// interrupted leaves nothing for long: whoever comes next removes what it had begun.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/run.h"
#include "storage/writer.h"
#include "workbench/place.h"

namespace heddle::workbench {

/// The target of such a run.
inline constexpr const char* kImported = "imported";

/// Takes in a finished run's directory (launch.json, recipe.toml, *.hlog, end.json) as a new run
/// called `name`, or when that is empty as it was launched. A directory is imported once.
Result<storage::CreatedRun> import_run(storage::Writer& writer, const std::string& run_dir,
                                       const std::string& name = {});

/// The run directories at or below a folder, by path. A run directory is not looked into; links are
/// not followed; an error where there is more to look at than a person can have meant.
Result<std::vector<std::string>> run_dirs_in(const std::string& folder);

/// The outcome for one run directory.
struct Imported {
  std::string run_dir;
  Result<storage::CreatedRun> run;
  bool was_here = false;  // nothing was done: `run` is in the store already
  bool in_trash = false;  // where it was here
};

/// Takes in every run at or below each of the paths that is not in the store yet, imported or
/// launched here: a copy of a run's directory is that run. `progress`, told how many are done, may
/// end it by returning false.
std::vector<Imported> import_runs(
    const std::string& store_path, storage::Writer& writer, const std::vector<std::string>& paths,
    const std::function<bool(size_t done, size_t total)>& progress = {});

/// Whether an unfinished run is an import: its launcher, if it lives, sees to it.
bool is_import(const storage::RunSummary& run, const Place& place);

}  // namespace heddle::workbench
