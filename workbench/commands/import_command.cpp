// heddle import PATH... [--filter F]
#include <fmt/format.h>

#include "base/one_line.h"
#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/import.h"
#include "workbench/importers/heddle_store.h"
#include "workbench/run_values.h"

namespace heddle::workbench {
namespace {

/// The runs of a store that the filter lets through, as paths.
Result<std::vector<std::string>> chosen_runs(const std::string& store, const std::string& text) {
  if (!kHeddleStore.recognise(store))
    return fail("{}: --filter chooses among the runs of a store; valid: a store, or no filter",
                store);
  const RunFilter filter(text);
  auto reader = storage::Reader::open(store);
  auto runs = reader ? reader->runs() : fail(reader);
  if (!runs) return fail(runs);
  auto chosen = filtered(*reader, filter, std::move(*runs));
  if (!chosen) return fail(chosen);
  if (chosen->empty()) return fail("{}: no run of it is as the filter says", store);
  std::vector<std::string> paths;
  for (const storage::RunSummary& run : *chosen) paths.push_back(path_of_run(store, run.id));
  return paths;
}

}  // namespace

int import_command(const Context& context, const std::vector<std::string>& given,
                   const std::string& filter) {
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  int exit_code = kExitDone;
  std::vector<std::string> paths;
  for (const std::string& path : given) {
    if (filter.empty()) {
      paths.push_back(path);
    } else if (const auto chosen = chosen_runs(path, filter); chosen) {
      paths.insert(paths.end(), chosen->begin(), chosen->end());
    } else {
      exit_code = report(chosen.error());
    }
  }
  for (const Imported& one : import_runs(context.store, **writer, paths)) {
    if (!one.run) {
      exit_code = report(one.run.error());
    } else if (one.in_trash) {
      say("{} (run {}) is in the trash, from {}; `heddle restore {}` brings it back\n",
          one.run->name, one.run->id, one_line(one.path), one.run->id);
    } else {
      say("{} (run {}) {} {}\n", one.run->name, one.run->id,
          one.was_here ? "is here already, from" : "is imported from", one_line(one.path));
    }
  }
  return exit_code;
}

}  // namespace heddle::workbench
