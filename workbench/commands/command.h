// What the commands share. Each command is a file: it adds itself to the command line and, when
// called, does its work and sets the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "storage/queries.h"
#include "storage/run.h"

namespace heddle::workbench {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitStopped = 130;

struct Context {
  std::string store;
  int exit_code = kExitDone;
};

void add_launch(CLI::App& app, Context& context);
void add_stop(CLI::App& app, Context& context);
void add_tail(CLI::App& app, Context& context);
void add_remove(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_targets(CLI::App& app, Context& context);
void add_runs(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_demo(CLI::App& app, Context& context);

/// Prints the message to stderr; gives `exit_code`.
int report(const Error& error, int exit_code = kExitFailed);

/// A run of the store by its name or id.
Result<storage::RunDetail> find_run(storage::Reader& reader, const std::string& name_or_id);

/// `work(storage::Reader&)` returns a Result<int>, the exit code; errors are printed.
template <typename Work>
int with_reader(const Context& context, Work work) {
  Result<storage::Reader> reader = storage::Reader::open(context.store);
  if (!reader) return report(reader.error());
  const Result<int> exit_code = work(*reader);
  return exit_code ? *exit_code : report(exit_code.error());
}

}  // namespace heddle::workbench
