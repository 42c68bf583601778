// A run's checkpoints on its hosts. Blocks: never call from the GUI thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/manifest.h"
#include "engine/recipe/parse.h"
#include "remote/node.h"
#include "storage/queries.h"
#include "workbench/place.h"

namespace heddle::workbench {

/// The folder of a run's checkpoints on its hosts; empty: it keeps none. A folder that the recipe
/// names is one of this machine; without this machine's files they are in the run directory.
std::string checkpoint_folder(const recipe::Checkpoint& checkpoint, const remote::Target& target,
                              const std::string& run_dir);

struct SavedCheckpoint {
  std::string name;  // "step-30", "step-30-best"
  int64_t step = 0;
  double saved = 0;  // Unix seconds
};

/// One run's checkpoints, with a connection to each of its hosts.
class RunCheckpoints {
 public:
  /// Errors say why there can be none: switched off, an imported run, a host or a run directory
  /// that is gone.
  static Result<RunCheckpoints> open(const storage::RunDetail& run);
  /// The same without hosts that may not answer. What they have written counts where the others see
  /// it, in a root that they share. `left`: the others, at least one.
  static Result<RunCheckpoints> open_on(const storage::RunDetail& run,
                                        const std::vector<size_t>& left);

  /// The same, the hosts to leave out by name.
  static Result<RunCheckpoints> open_without(const storage::RunDetail& run,
                                             const std::vector<std::string>& without);

  const Place& place() const { return place_; }
  /// Checkpoints that every host has, newest first.
  const std::vector<SavedCheckpoint>& saved() const { return saved_; }
  /// Their folder on the first host that is left, for messages.
  const std::string& folder() const { return folders_[left_.front()]; }
  /// None of the hosts that are left has any: the run has saved nothing yet.
  bool is_empty() const { return is_empty_; }
  /// Whether every host's folder is seen, also those of hosts that are not left.
  bool sees_all() const;
  std::string path(size_t host, const SavedCheckpoint& of) const {
    return folders_[host] + '/' + of.name;
  }
  /// Its manifest, once its hash is right and every file that it names is there in its length. An
  /// error says what is damaged.
  Result<checkpoint::Manifest> look_at(const SavedCheckpoint& of) const;
  /// The checkpoints that the run itself began with, as that host that is left names them.
  Result<std::vector<std::string>> begun_with(size_t host) const;
  /// Links the files of all hosts into one folder, which any layout can load; its path on the hosts
  /// that are left. An error: one of those does not see it.
  Result<std::string> gather(const SavedCheckpoint& of) const;

 private:
  Result<> add_host(size_t host, const recipe::Checkpoint& checkpoint, const std::string& run);

  Place place_;
  std::vector<size_t> left_;          // the hosts with a connection
  std::vector<std::string> folders_;  // by host; empty: of a host that is not left, and not seen
  std::vector<std::unique_ptr<remote::Node>> nodes_;  // by host; null: not left
  std::vector<SavedCheckpoint> saved_;
  bool is_empty_ = true;
};

/// Reasons against a new run with these checkpoints: a fault at checkpoint.folder where that is a
/// folder of this machine which holds checkpoints already, or in which a run saves. `reader`
/// knows whose they are.
std::optional<recipe::Fault> folder_in_use(storage::Reader& reader, const recipe::Parsed& resolved);

}  // namespace heddle::workbench
