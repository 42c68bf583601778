// The Launch page's facts before a launch: recipes that can be chosen, whether one can
// be trained, targets, recent launches. No widgets; read on background threads.
#pragma once

#include <QPair>
#include <QString>
#include <QVector>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/parse.h"
#include "gui/models/contact.h"
#include "gui/models/current_recipe.h"
#include "gui/models/fork_name.h"
#include "gui/models/target_entry.h"
#include "storage/queries.h"
#include "workbench/launch.h"
#include "workbench/preflight.h"
#include "workbench/targets.h"

namespace heddle::gui {

/// A recipe to launch.
using RecipeChoice = CurrentRecipe;

/// The recipes that ship with Heddle, those for this machine first.
std::vector<RecipeChoice> sampleRecipes();

/// A recipe as the launch would take it.
struct RecipeCheck {
  int64_t ranks = 0;                         // as asked for, or as the recipe says
  QVector<QPair<QString, QString>> facts;    // what it trains, in words
  std::vector<recipe::Fault> faults;         // empty: the recipe itself can be trained
  std::vector<workbench::Finding> findings;  // where and with what; empty: not looked for
  QString file;                              // as faults name it
  bool unsaved = false;                      // the file has another text
};

/// `ranks` 0: the recipe's own. Where the target is known, says too whether the recipe can be
/// trained there, and whether its folder of checkpoints is free (`store`: whose it is). Looks at
/// the input files: not on the GUI thread.
RecipeCheck checkRecipe(const RecipeChoice& recipe, int64_t ranks,
                        const std::optional<workbench::TargetNow>& target, const QString& store);

/// Why a recipe cannot start on a target: what fails first, and how much else does. Empty: it can.
QString whyNotOn(const QString& target, const std::vector<workbench::Finding>& findings);

/// A fault's line as it is shown: "debug.toml, unsaved:12:1: …" where the file does not have that
/// text, so that nobody looks for the line there.
QString faultLine(const RecipeCheck& check, const recipe::Fault& fault);

/// On screen, and what its run is called at first; never empty.
QString fileName(const RecipeChoice& recipe);
/// As faults and relative paths name it: an unsaved recipe gets a file's name.
QString namedFile(const RecipeChoice& recipe);
QString runName(const RecipeChoice& recipe);

/// The request as a fork's, checked against the run and its checkpoint.
Result<workbench::LaunchRequest> forkRequest(storage::Reader& reader,
                                             const workbench::LaunchRequest& request,
                                             const ForkOf& fork);

struct LaunchOptions {
  std::vector<TargetEntry> targets;
  std::vector<storage::RunSummary> recent;  // newest first
  std::vector<storage::QueuedRun> queue;
  std::vector<storage::RunSummary> going;  // newest first
  Contacts contacts;                       // theirs
};
Result<LaunchOptions> readLaunchOptions(storage::Reader& reader);

/// "0.4 of 2 cores busy, 7.8 GiB RAM, 12.1 GiB disk free", or "8 × NVIDIA H100, …".
QString describeReport(const probe::Report& report);

}  // namespace heddle::gui
