// The sources of a run's samples, by name and share: the same wherever they are shown.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

struct DataSource {
  std::string name;
  double share = 1;  // of the samples that it is to have: its weight among all
};

/// data.text as one, each part of data.mix, or data.token_ids; none where no data is named. Names
/// name files and folders ("web/", "wiki.jsonl and 2 more"), with as much of their paths
/// as tells them apart.
std::vector<DataSource> sources_of(const Data& data);

/// The metric of a step (telemetry::Step, on rank 0) that says how many tokens have been seen of
/// the source at a place of `sources_of`: of all that were read as this recipe's data, whatever
/// runs a run went on from.
inline std::string tokens_seen_of(size_t source) { return "tokens_seen_" + std::to_string(source); }

}  // namespace heddle::recipe
