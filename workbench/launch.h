// From a recipe and a target to a running supervisor. Blocks for as long as uploads take: never
// call from the GUI thread. May be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/parse.h"
#include "remote/connect.h"
#include "remote/target.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "workbench/preflight.h"

namespace heddle::workbench {

/// The run and the checkpoint that a run goes on from; plan_continuation makes it.
struct Begin {
  storage::Lineage lineage;
  /// By host: folders of checkpoints there, the first that is whole is taken.
  std::vector<std::vector<std::string>> checkpoints;
  bool shares_folder = false;  // it saves where its parent did
  int32_t restarts = 0;        // of a run that goes on by itself: how often it did so, all in all
  std::string restart_cause = {};
};

struct LaunchRequest {
  std::string recipe_text;
  std::string recipe_file;  // names it in faults; its relative paths start at this file's folder
  std::vector<std::string> sets;  // "key=value", on top of the text
  remote::Target target = remote::this_machine();
  std::string name;              // empty: the recipe file's, without its ending
  std::string mode = "planned";  // planned | eager
  std::string group;             // the sweep that it belongs to; empty: none
  std::optional<Begin> begin;    // unset: a new run
};

/// Reads the recipe's file.
Result<LaunchRequest> request_from_file(const std::string& recipe_file);

struct LaunchError {
  std::string message;                     // for people; of a bad recipe: its fault lines
  std::vector<recipe::Fault> faults = {};  // not empty: the recipe is bad, and there is no run
  bool refused = false;  // by the preflight: the message has a line a finding, and there is no run
  bool cancelled = false;
  std::optional<storage::RunId> run =
      {};  // the attempt, kept as failed with the message as its cause
  std::optional<remote::ConnectError> connection = {};  // a host could not be reached or trusted
};

/// Told what is being done and, where it takes long, bytes done and in total (else 0, 0). Returning
/// false cancels the launch. Called from the launching thread.
using LaunchProgress = std::function<bool(const std::string& what, uint64_t done, uint64_t total)>;

/// Told what the preflight found, before anything is shipped, and where several hosts are to start,
/// which of them the network is slow to. Called from the launching thread.
using OnFindings = std::function<void(const std::vector<Finding>&)>;

/// Checks the recipe here (a new run takes no folder that holds checkpoints) and the
/// target as it is now (see preflight.h), keeps the attempt in the store, brings engine and input
/// files to the hosts, and starts the supervisors. When it returns the ranks have been started.
tl::expected<storage::CreatedRun, LaunchError> launch(storage::Writer& writer,
                                                      const LaunchRequest& request,
                                                      const LaunchProgress& progress = {},
                                                      const OnFindings& on_findings = {});

/// The same of a run that waits in the store's queue (queue.h). It stays there where a host cannot
/// be reached and when it is cancelled; else it runs or has failed afterwards.
tl::expected<storage::CreatedRun, LaunchError> launch_queued(storage::Writer& writer,
                                                             const storage::RunDetail& run,
                                                             const std::string& mode,
                                                             const LaunchProgress& progress = {});

/// Reasons against the folder of checkpoints that a new run names on this machine: it holds some
/// already, or a run saves there. Never call from the GUI thread.
Result<std::optional<recipe::Fault>> folder_fault(const std::string& store_path,
                                                  const recipe::Parsed& resolved,
                                                  const remote::Target& target);

/// The checks alone: what `launch` would find now. An error is a bad recipe.
tl::expected<std::vector<Finding>, LaunchError> check_launch(const std::string& store_path,
                                                             const LaunchRequest& request);

}  // namespace heddle::workbench
