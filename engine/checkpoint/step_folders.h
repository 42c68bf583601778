// The folders of a run's checkpoints: step-N, or step-N-NAME for one that is kept for good.
//
// A checkpoint is written in step-N.partial and gets its name by one rename, when all of it is
// durable. One that is removed is a .partial again first. So a folder with its name is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/manifest.h"

namespace heddle::checkpoint {

/// "step-20" or "step-20-before-warm-down".
std::string step_folder(int64_t step, const std::string& name = "");
/// The step of such a name; nothing for any other.
std::optional<int64_t> step_of(std::string_view folder);
/// Letters, digits, '.', '_' and '-', at most 64, no ".partial" or ".damaged" at the end.
bool is_checkpoint_name(std::string_view name);

/// Whether checkpoint `a` is newer than `b`: by step, then by name.
bool is_newer(const std::string& a, const std::string& b);

/// The names of a folder's checkpoints, newest first. A folder that is not there has none.
std::vector<std::string> checkpoints_in(const std::string& folder);

/// The lock (base/file_lock.h) of the run that saves in the folder.
std::string lock_file(const std::string& folder);

/// Where a checkpoint is written: makes PATH.partial and gives its name. Of the folders above it
/// makes the last one alone: a run directory that somebody has moved is not made again.
Result<std::string> begin_checkpoint(const std::string& path);
/// All files lie durable in `partial`: writes the manifest last, and gives the folder its name.
Result<> commit_checkpoint(const std::string& partial, const std::string& path,
                           const Manifest& manifest);

/// Removes what unfinished saves have left.
Result<> remove_partials(const std::string& folder);
/// Removes all step-N but the newest `keep`. Named ones are never removed.
Result<> keep_newest(const std::string& folder, int64_t keep);
/// A checkpoint that cannot be gone on from gets the name PATH.damaged.
Result<> set_aside(const std::string& path);

}  // namespace heddle::checkpoint
