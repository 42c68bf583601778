#include "engine/runtime/agreement.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"

namespace heddle::runtime {
namespace {

at::Tensor gathered(const at::Tensor& mine, int64_t ranks, const std::string& group) {
  return runtime::wait(runtime::all_gather({mine.to(runtime::transport_device())},
                                           {mine.size(0) * ranks}, group))
      .front()
      .cpu()
      .contiguous();
}

std::string_view line_of(std::string_view text, size_t number) {
  for (size_t i = 0; i < number && !text.empty(); ++i) {
    const size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> texts_of(const std::string& mine, int64_t ranks,
                                  const std::string& group) {
  at::NoGradGuard no_grad;
  const at::Tensor size = at::full({1}, static_cast<int64_t>(mine.size()), at::kLong);
  const at::Tensor sizes = gathered(size, ranks, group);
  const auto* bytes = sizes.const_data_ptr<int64_t>();
  const int64_t longest = std::max<int64_t>(*std::max_element(bytes, bytes + ranks), 1);
  const at::Tensor padded = at::zeros({longest}, at::kByte);
  std::memcpy(padded.mutable_data_ptr(), mine.data(), mine.size());
  const at::Tensor all = gathered(padded, ranks, group);
  const auto* first = reinterpret_cast<const char*>(all.const_data_ptr());
  std::vector<std::string> texts;
  for (int64_t r = 0; r < ranks; ++r)
    texts.emplace_back(first + r * longest, static_cast<size_t>(bytes[r]));
  return texts;
}

at::Tensor reduced(const at::Tensor& mine, const std::string& how, c10::Device device) {
  at::NoGradGuard no_grad;
  return wait(all_reduce({mine.to(device)}, how, world_group())).front().cpu();
}

}  // namespace

std::vector<std::string> gather_texts(const std::string& mine, int64_t ranks) {
  if (ranks == 1) return {mine};
  return texts_of(mine, ranks, runtime::world_group());
}

std::vector<int64_t> most_of_ranks(const std::vector<int64_t>& mine, int64_t ranks,
                                   c10::Device device) {
  if (ranks == 1) return mine;
  const at::Tensor most = reduced(at::tensor(mine, at::kDouble), "max", device);
  const auto* first = most.const_data_ptr<double>();
  return {first, first + mine.size()};
}

double max_of_ranks(double mine, int64_t ranks, c10::Device device) {
  if (ranks == 1) return mine;
  return *reduced(at::tensor({mine}, at::kDouble), "max", device).const_data_ptr<double>();
}

double mean_of_ranks(double mine, int64_t ranks, c10::Device device) {
  if (ranks == 1) return mine;
  const at::Tensor sum = reduced(at::tensor({mine}, at::kDouble), "sum", device);
  return *sum.const_data_ptr<double>() / static_cast<double>(ranks);
}

bool any_rank(bool mine, int64_t ranks, c10::Device device) {
  return most_of_ranks({mine ? 1 : 0}, ranks, device).front() > 0;
}

at::Tensor tensor_of(const Asked& asked) {
  return at::tensor({asked.stop, asked.checkpoint, asked.saver_busy}, at::kFloat);
}

Asked asked_of(const at::Tensor& tensor) {
  const at::Tensor numbers = tensor.cpu();
  const auto* any = numbers.const_data_ptr<float>();
  return {any[0] > 0, any[1] > 0, any[2] > 0};
}

Result<> agree_on_plan(const std::string& text, const recipe::Mesh& mesh, int64_t rank) {
  const int64_t ranks = mesh.size(recipe::kStage);
  if (ranks == 1) return {};
  const std::string group = mesh.name(recipe::kStage);
  const std::vector<int> members = mesh.group(rank, recipe::kStage);
  at::NoGradGuard no_grad;
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  const at::Tensor mine = at::empty({2}, at::kLong);
  auto* numbers = mine.mutable_data_ptr<int64_t>();
  numbers[0] = static_cast<int64_t>(hash.low64);
  numbers[1] = static_cast<int64_t>(hash.high64);
  const at::Tensor all = gathered(mine, ranks, group);
  const auto* hashes = all.const_data_ptr<int64_t>();
  int64_t other = 0;
  for (int64_t r = 0; r < ranks; ++r)
    if (other == 0 && !std::equal(hashes, hashes + 2, hashes + 2 * r)) other = r;
  if (other == 0) return {};

  const std::vector<std::string> texts = texts_of(text, ranks, group);
  const std::string &ours = texts.front(), &theirs = texts[static_cast<size_t>(other)];
  const auto at = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end()).first;
  const auto line = static_cast<size_t>(std::count(ours.begin(), at, '\n'));
  return fail(
      "rank {}: the ranks have planned different steps, first in line {} of the plan: rank {} has "
      "\"{}\", rank {} has \"{}\"; all ranks need the same recipe, graph file and engine",
      rank, line + 1, members[0], line_of(ours, line), members[static_cast<size_t>(other)],
      line_of(theirs, line));
}

}  // namespace heddle::runtime
