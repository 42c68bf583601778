#include "storage/step_block.h"

#include <cstring>
#include <utility>

#include "storage/chunk.h"
#include "storage/number_column.h"

namespace heddle::storage {
namespace {

constexpr size_t kMaxNames = StepBlockMaker::kMaxMembers;

// The numbers of entries, names, sets and of all sets' members; the entries' columns; the names'
// lengths and the names; the sets' sizes and their members.
struct BlockHeader {
  uint32_t entries = 0, names = 0, sets = 0, members = 0;
};

template <typename Items, typename Of>
void put_column(std::string& bytes, const Items& items, Of of) {
  std::vector<uint64_t> numbers;
  numbers.reserve(items.size());
  for (const auto& item : items) numbers.push_back(static_cast<uint64_t>(of(item)));
  put_numbers(bytes, numbers);
}

/// Whether there was such a column; none is needed for no numbers.
bool take_column(std::string_view& bytes, size_t count, std::vector<uint64_t>& numbers) {
  numbers.resize(count);
  return take_numbers(bytes, numbers);
}

bool take_entries(std::string_view& bytes, const BlockHeader& header, StepBlock& block) {
  std::vector<uint64_t> ids, seqs, steps, sets;
  if (!take_column(bytes, header.entries, ids) || !take_column(bytes, header.entries, seqs) ||
      !take_column(bytes, header.entries, steps) || !take_column(bytes, header.entries, sets))
    return false;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (sets[i] >= header.sets || steps[i] > static_cast<uint64_t>(kLastStep)) return false;
    block.entries.push_back(
        {static_cast<int64_t>(ids[i]), seqs[i], static_cast<int64_t>(steps[i]), sets[i]});
  }
  return true;
}

bool take_names(std::string_view& bytes, const BlockHeader& header, StepBlock& block) {
  std::vector<uint64_t> lengths;
  if (header.names > 0 && !take_column(bytes, header.names, lengths)) return false;
  for (const uint64_t length : lengths) {
    if (length > bytes.size()) return false;
    block.names.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return true;
}

bool take_sets(std::string_view& bytes, const BlockHeader& header, StepBlock& block) {
  std::vector<uint64_t> sizes, members;
  if (!take_column(bytes, header.sets, sizes)) return false;
  if (header.members > 0 && !take_column(bytes, header.members, members)) return false;
  size_t at = 0;
  for (const uint64_t size : sizes) {
    if (size > members.size() - at) return false;
    const auto begin = members.begin() + static_cast<std::ptrdiff_t>(at);
    block.sets.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
    for (const uint64_t member : block.sets.back())
      if (member >= header.names) return false;
    at += size;
  }
  return at == members.size();
}

}  // namespace

StepBlockMaker::StepBlockMaker(StepBlock block) : block_(std::move(block)) {
  for (size_t i = 0; i < block_.names.size(); ++i) indices_.emplace(block_.names[i], i);
  for (size_t i = 0; i < block_.sets.size(); ++i) {
    sets_.emplace(block_.sets[i], i);
    members_ += block_.sets[i].size();
  }
}

uint64_t StepBlockMaker::set_of(const std::vector<std::string>& names) {
  if (last_set_ && names == last_names_) return *last_set_;
  std::vector<uint64_t> set;
  set.reserve(names.size());
  for (const std::string& name : names) {
    const auto [index, is_new] = indices_.try_emplace(name, block_.names.size());
    if (is_new) block_.names.push_back(name);
    set.push_back(index->second);
  }
  const auto [place, is_new] = sets_.try_emplace(set, block_.sets.size());
  if (is_new) {
    members_ += set.size();
    block_.sets.push_back(std::move(set));
  }
  last_names_ = names;
  return last_set_.emplace(place->second);
}

void StepBlockMaker::add(int64_t id, uint64_t seq, int64_t step,
                         const std::vector<std::string>& names, uint64_t digest) {
  block_.entries.push_back({id, seq, step, set_of(names)});
  block_.digest += digest;
}

std::string pack(const StepBlock& block) {
  BlockHeader header{static_cast<uint32_t>(block.entries.size()),
                     static_cast<uint32_t>(block.names.size()),
                     static_cast<uint32_t>(block.sets.size()), 0};
  std::vector<uint64_t> members;
  for (const auto& set : block.sets) members.insert(members.end(), set.begin(), set.end());
  header.members = static_cast<uint32_t>(members.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  using Entry = StepBlock::Entry;
  put_column(bytes, block.entries, [](const Entry& entry) { return entry.id; });
  put_column(bytes, block.entries, [](const Entry& entry) { return entry.seq; });
  put_column(bytes, block.entries, [](const Entry& entry) { return entry.step; });
  put_column(bytes, block.entries, [](const Entry& entry) { return entry.set; });
  if (!block.names.empty())
    put_column(bytes, block.names, [](const std::string& name) { return name.size(); });
  for (const std::string& name : block.names) bytes += name;
  put_column(bytes, block.sets, [](const auto& set) { return set.size(); });
  if (!members.empty()) put_numbers(bytes, members);
  return bytes;
}

std::optional<StepBlock> unpack_block(std::string_view data) {
  BlockHeader header;
  if (data.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, data.data(), sizeof header);
  data.remove_prefix(sizeof header);
  // Before any of them are made room for.
  if (header.entries == 0 || header.entries > kBlockSteps || header.sets > kBlockSteps ||
      header.names > kMaxNames || header.members > 2 * StepBlockMaker::kMaxMembers)
    return std::nullopt;
  StepBlock block;
  if (!take_entries(data, header, block) || !take_names(data, header, block) ||
      !take_sets(data, header, block) || !data.empty())
    return std::nullopt;
  return block;
}

}  // namespace heddle::storage
