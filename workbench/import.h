// Runs made elsewhere, as runs of the store. No lease is needed: nobody else takes in the logs of a
// run that is being imported, so it goes next to an open window. An import that was interrupted
// leaves nothing for long: the next import or window removes what it had begun.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/run.h"
#include "storage/writer.h"
#include "workbench/importers/importer.h"
#include "workbench/place.h"

namespace heddle::workbench {

/// The target of such a run.
inline constexpr const char* kImported = "imported";

/// A run that an importer recognises.
struct FoundRun {
  std::string path;
  const Importer* importer = nullptr;
};

/// The runs at or below a path, by path; one run where the path is "STORE#RUN", its number or name
/// in that store. A run is not looked into; links are not followed; an error
/// where there is more to look at than a person can have meant. `goes_on`, called before each file
/// and folder is looked at, ends the search by returning false, which is an error too.
Result<std::vector<FoundRun>> find_runs(const std::string& path,
                                        const std::function<bool()>& goes_on = {});

/// Takes in a finished run as a new one called `name`, or when that is empty by its own name. A
/// path is imported once.
Result<storage::CreatedRun> import_run(storage::Writer& writer, const FoundRun& found,
                                       const std::string& name = {});

/// The outcome for one run, or for a path without one.
struct Imported {
  std::string path;
  Result<storage::CreatedRun> run;
  bool was_here = false;  // nothing was done: `run` is in the store already
  bool in_trash = false;  // where it was here
};

struct ImportProgress {
  size_t seen = 0;             // files and folders that were looked at
  size_t done = 0, total = 0;  // runs; 0 while they are looked for
};

/// Takes in every run at or below each of the paths that is not in the store yet, imported or
/// launched here: a copy of a run's directory is that run. `progress`, called before each file and
/// folder is looked at, each run, and each part of its logs, ends the import by returning false:
/// the runs before are in the store, nothing is of the one under way.
std::vector<Imported> import_runs(const std::string& store_path, storage::Writer& writer,
                                  const std::vector<std::string>& paths,
                                  const std::function<bool(const ImportProgress&)>& progress = {});

/// Whether an unfinished run is an import: its launcher, if it lives, sees to it.
bool is_import(const storage::RunSummary& run, const Place& place);

}  // namespace heddle::workbench
