#include "engine/passes/bucket_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_set>

namespace heddle::passes {

std::string bucket_name(const std::vector<std::string>& modules) {
  return modules.size() == 1 ? modules.front() : modules.front() + "+" + modules.back();
}

namespace {

constexpr size_t kMaxParts = 3;

int64_t number_of(std::string_view block) {
  int64_t number = -1;
  const std::string_view digits = block.substr(block.rfind('.') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// Whether these are neighbouring blocks of one list.
bool follows(std::string_view block, std::string_view before) {
  return block.substr(0, block.rfind('.') + 1) == before.substr(0, before.rfind('.') + 1) &&
         number_of(block) == number_of(before) + 1;
}

// Modules of a bucket that share a part of its name.
struct NamePart {
  std::string_view first, last;
  bool whole_blocks = false;

  std::string text() const {
    if (first == last) return std::string(first);
    return fmt::format("{}-{}", first, number_of(last));
  }
};

}  // namespace

void name_buckets(BucketPlan& plan) {
  std::unordered_map<std::string_view, size_t> in_plan;  // by block: its modules
  for (const Bucket& bucket : plan)
    for (const std::string& module : bucket.modules) ++in_plan[block_of(module)];
  for (Bucket& bucket : plan) {
    std::unordered_map<std::string_view, size_t> in_bucket;
    for (const std::string& module : bucket.modules) ++in_bucket[block_of(module)];
    std::vector<NamePart> parts;
    for (const std::string& module : bucket.modules) {
      const std::string_view block = block_of(module);
      const bool whole = !block.empty() && in_bucket[block] == in_plan[block];
      const bool goes_on = whole && !parts.empty() && parts.back().whole_blocks;
      if (goes_on && (block == parts.back().last || follows(block, parts.back().last)))
        parts.back().last = block;
      else
        parts.push_back({whole ? block : module, whole ? block : module, whole});
    }
    if (parts.size() > kMaxParts) parts.erase(parts.begin() + 1, parts.end() - 1);
    bucket.name.clear();
    for (const NamePart& part : parts) {
      if (!bucket.name.empty()) bucket.name += '+';
      bucket.name += part.text();
    }
  }
}

std::vector<std::string> gathered_modules(const graph::Graph& graph) {
  std::vector<std::string> modules;
  std::unordered_set<std::string> known;
  for (const graph::Node& node : graph.nodes)
    if (graph::is_all_gather(node) && known.insert(node.module).second)
      modules.push_back(node.module);
  return modules;
}

std::string_view block_of(std::string_view module) {
  for (size_t begin = 0; begin < module.size();) {
    const size_t end = std::min(module.find('.', begin), module.size());
    const std::string_view part = module.substr(begin, end - begin);
    if (std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); }))
      return module.substr(0, end);
    begin = end + 1;
  }
  return {};
}

BucketPlan one_each(const graph::Graph& graph) {
  BucketPlan plan;
  for (std::string& module : gathered_modules(graph)) plan.push_back({module, {module}});
  return plan;
}

BucketPlan by_block(const graph::Graph& graph) {
  BucketPlan plan;
  std::string_view before;
  const std::vector<std::string> modules = gathered_modules(graph);
  for (const std::string& module : modules) {
    const std::string_view block = block_of(module);
    if (plan.empty() || block != before) {
      plan.push_back({});
      if (!block.empty()) plan.back().modules = {std::string(block)};
    }
    if (block.empty()) plan.back().modules.push_back(module);
    before = block;
  }
  for (Bucket& bucket : plan) bucket.name = bucket_name(bucket.modules);
  return plan;
}

BucketIndex::BucketIndex(const BucketPlan& plan) {
  for (size_t i = 0; i < plan.size(); ++i)
    for (const std::string& module : plan[i].modules) buckets_[module] = static_cast<int>(i);
}

int BucketIndex::find(graph::Name module) {
  const auto [entry, is_new] = found_.try_emplace(module, -1);
  if (is_new) entry->second = look_up(module.text());
  return entry->second;
}

int BucketIndex::look_up(std::string_view module) const {
  while (!module.empty()) {
    if (const auto found = buckets_.find(std::string(module)); found != buckets_.end())
      return found->second;
    const size_t dot = module.rfind('.');
    module = dot == std::string_view::npos ? std::string_view() : module.substr(0, dot);
  }
  return -1;
}

}  // namespace heddle::passes
