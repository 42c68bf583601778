#include "engine/train/agreement.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"

namespace heddle::train {
namespace {

at::Tensor gathered(const at::Tensor& mine, int64_t ranks, const std::string& group) {
  return runtime::wait(runtime::all_gather({mine}, {mine.size(0) * ranks}, group))
      .front()
      .contiguous();
}

std::string_view line_of(std::string_view text, size_t number) {
  for (size_t i = 0; i < number && !text.empty(); ++i) {
    const size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<> agree_on_plan(const std::string& text, const recipe::Mesh& mesh, int64_t rank) {
  const int64_t ranks = mesh.size(recipe::kStage);
  if (ranks == 1) return {};
  const std::string group = mesh.name(recipe::kStage);
  const std::vector<int> members = mesh.group(rank, recipe::kStage);
  at::NoGradGuard no_grad;
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  const at::Tensor mine = at::empty({3}, at::kLong);
  auto* numbers = mine.mutable_data_ptr<int64_t>();
  numbers[0] = static_cast<int64_t>(hash.low64);
  numbers[1] = static_cast<int64_t>(hash.high64);
  numbers[2] = static_cast<int64_t>(text.size());
  const at::Tensor all = gathered(mine, ranks, group);
  const auto* hashes = all.const_data_ptr<int64_t>();
  int64_t other = 0, longest = 0;
  for (int64_t r = 0; r < ranks; ++r) {
    longest = std::max(longest, hashes[3 * r + 2]);
    if (other == 0 && !std::equal(hashes, hashes + 3, hashes + 3 * r)) other = r;
  }
  if (other == 0) return {};

  const at::Tensor padded = at::zeros({longest + 1}, at::kByte);
  std::memcpy(padded.mutable_data_ptr(), text.data(), text.size());
  const at::Tensor texts = gathered(padded, ranks, group);
  const auto* first = reinterpret_cast<const char*>(texts.const_data_ptr());
  const std::string_view ours(first), theirs(first + other * (longest + 1));
  size_t line = 0;
  const auto at = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end()).first;
  line = static_cast<size_t>(std::count(ours.begin(), at, '\n'));
  return fail(
      "rank {}: the ranks have planned different steps, first in line {} of the plan: rank {} has "
      "\"{}\", rank {} has \"{}\"; all ranks need the same recipe, graph file and engine",
      rank, line + 1, members[0], line_of(ours, line), members[other], line_of(theirs, line));
}

}  // namespace heddle::train
