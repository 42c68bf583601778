// Agreement between ranks: that they run the same plan, and on what any of them was asked for.
// Every rank calls these, in the same order, but for the last two.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/mesh.h"

namespace heddle::runtime {

/// `text`: this rank's plan, which all ranks of a pipeline stage must share. An error, the same
/// kind on all of them, shows the first line in which a rank's plan differs from the plan of
/// the stage's first.
Result<> agree_on_plan(const std::string& text, const recipe::Mesh& mesh, int64_t rank);

/// The texts of all ranks in their order, on each of them.
std::vector<std::string> gather_texts(const std::string& mine, int64_t ranks);

/// Each number as it is on the rank that has most; below 2^53.
std::vector<int64_t> most_of_ranks(const std::vector<int64_t>& mine, int64_t ranks,
                                   c10::Device device);

/// The mean of a number over the ranks, or the largest, the same on all of them.
double mean_of_ranks(double mine, int64_t ranks, c10::Device device);
double max_of_ranks(double mine, int64_t ranks, c10::Device device);

/// Whether it is so on any rank.
bool any_rank(bool mine, int64_t ranks, c10::Device device);

/// A rank's news for the others when a step begins. All must act after the same step: the step
/// reads what its rank has, and gives what any rank has.
struct Asked {
  bool stop = false, checkpoint = false;  // by a signal
  bool saver_busy = false;                // no rank's saver may go on before all can
};

/// As a step reads and gives it: fp32 [kAsked].
inline constexpr int64_t kAsked = 3;
at::Tensor tensor_of(const Asked& asked);
Asked asked_of(const at::Tensor& tensor);

}  // namespace heddle::runtime
