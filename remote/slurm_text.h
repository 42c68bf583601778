// Pieces of what Slurm's commands print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::remote {

/// The fields between '|'. The last one takes the rest. Empty: there are fewer.
std::vector<std::string> fields_of(std::string_view line, size_t count);

/// The number that the text begins with: sinfo prints "4+" of nodes that differ.
std::optional<int64_t> number_in(std::string_view text);

/// The value of a KEY=VALUE word; empty: there is none.
std::string value_of(const std::string& words, const std::string& key);

struct GpuCount {
  int32_t gpus = 0;
  std::string kind;  // "a100", of the first; empty: Slurm does not say
};
/// The GPUs in "gpu:a100:4(S:0-1)", "gpu:4", "gpu:a100:2,gpu:t4:1,shard:8".
GpuCount gpus_in(std::string_view gres);

}  // namespace heddle::remote
