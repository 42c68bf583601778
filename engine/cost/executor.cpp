#include "engine/cost/executor.h"

#include <algorithm>

namespace heddle::cost {
namespace {

struct Unfused {
  std::string_view op;
  Kernels kernels;
};

// Bytes an element that PyTorch's own operators read and write in bf16, over those of Heddle's one
// kernel; r and w are reads and writes of 2 bytes (b) or 4 (f).
constexpr std::array kEager = {
    // to fp32 (br fw), square (fr fw), mean (fr), times its root (fr fw), to bf16 (fr bw), weight
    // (br bw): 36 for 4.
    Unfused{"heddle.rms_norm", {9.0, 7}},
    // The same backwards, with two products and a sum more: about 60 for 8.
    Unfused{"heddle.rms_norm_backward", {7.5, 11}},
    // To fp32 (br fw), complex product (fr fw), to bf16 (fr bw): 20 for 4.
    Unfused{"heddle.rope", {5.0, 3}},
    // silu (br bw), product (2 br bw): 10 for 6.
    Unfused{"heddle.swiglu", {1.67, 2}},
    // Two products (2 br bw each), silu backward (2 br bw): 18 for 10.
    Unfused{"heddle.swiglu_backward", {1.8, 3}},
    // To fp32 (br fw), log-softmax (fr fw), the label's: 14 for 2.
    Unfused{"heddle.cross_entropy", {7.0, 4}},
    // The label's (fw), log-softmax backward (2 fr fw), to bf16 (fr bw): 22 for 4.
    Unfused{"heddle.cross_entropy_backward", {5.5, 4}},
};

}  // namespace

std::optional<Executor> executor_of(std::string_view name) {
  const auto found = std::ranges::find(kExecutorNames, name);
  if (found == kExecutorNames.end()) return std::nullopt;
  return static_cast<Executor>(found - kExecutorNames.begin());
}

std::string_view words(Executor executor) {
  switch (executor) {
    case Executor::heddle:
      return "Heddle's plan";
    case Executor::compiled:
      return "torch.compile and FSDP2";
    case Executor::eager:
      return "FSDP2 without torch.compile";
  }
  return "";
}

Kernels kernels_of(Executor executor, std::string_view op) {
  if (executor != Executor::eager) return {};
  const auto found = std::ranges::find(kEager, op, &Unfused::op);
  return found == kEager.end() ? Kernels{} : found->kernels;
}

}  // namespace heddle::cost
