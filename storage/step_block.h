// The rest of step records once their values are in chunks: which records there were,
// and which metrics each had. Together with the chunks that is all of them: a record is put into a
// block only where its payload can be made again from both, byte by byte.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::storage {

/// The series that holds the times of a run's step records, in Unix seconds. No metric has this
/// name.
inline constexpr const char* kTimeSeries = "time";
/// The x axis of tokens, and the metric that it is.
inline constexpr const char* kTokens = "tokens";
inline constexpr const char* kTokensSeen = "tokens_seen";

inline constexpr size_t kBlockSteps = 1024;

struct StepBlock {
  struct Entry {
    int64_t id = 0;  // of its row of `records`
    uint64_t seq = 0;
    int64_t step = 0;
    uint64_t set = 0;  // the series that it has a sample of: one of `sets`
  };
  std::vector<Entry> entries;               // by seq
  std::vector<std::string> names;           // of series
  std::vector<std::vector<uint64_t>> sets;  // indices into `names`, ascending by name
  uint64_t digest = 0;                      // as LogDigest::checksum
};

/// Adds entries to one block.
class StepBlockMaker {
 public:
  explicit StepBlockMaker(StepBlock block = {});
  /// `names`: sorted.
  void add(int64_t id, uint64_t seq, int64_t step, const std::vector<std::string>& names,
           uint64_t digest);
  bool is_full() const { return block_.entries.size() >= kBlockSteps || members_ >= kMaxMembers; }
  const StepBlock& block() const { return block_; }

  /// All sets together.
  static constexpr size_t kMaxMembers = size_t{1} << 20;

 private:
  uint64_t set_of(const std::vector<std::string>& names);

  StepBlock block_;
  std::map<std::string, uint64_t> indices_;
  std::map<std::vector<uint64_t>, uint64_t> sets_;
  size_t members_ = 0;
  // The last entry's names and set: most entries have the same.
  std::vector<std::string> last_names_;
  std::optional<uint64_t> last_set_;
};

std::string pack(const StepBlock& block);
/// Nothing unless the bytes are `pack`'s result. The digest is a column of the block's row.
std::optional<StepBlock> unpack_block(std::string_view data);

}  // namespace heddle::storage
