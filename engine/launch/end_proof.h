// Whether an end.json was written by the supervisor of its run: it is signed with a key that
// follows from the run's secret. The workbench keeps the public half of the run that it has
// launched; a folder that others can write proves nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "engine/runs/run_files.h"

namespace heddle::launch {

/// Identifies what has ended. It is signed along: the end of another attempt or host, copied here,
/// proves nothing.
struct Part {
  std::string folder;  // the last part of the run directory's path
  int32_t epoch = 0;
  int32_t first_rank = 0;
  int32_t local_ranks = 1;
};

/// The end's `signature`.
Result<std::string> prove(const runs::End& end, const Part& part, const Secret& secret);

/// `key`: public_key() of the run's secret (base/signature.h).
bool is_proven(const runs::End& end, const Part& part, const std::string& key);

}  // namespace heddle::launch
