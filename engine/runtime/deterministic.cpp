#include "engine/runtime/deterministic.h"

#include <ATen/Context.h>

#include <cstdlib>

namespace heddle::runtime {

void compute_deterministically() {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  // Else every new tensor is filled, which costs a kernel.
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  // LibTorch takes this for cuBLAS's workspace, and refuses products without it: 32 MiB, as much as
  // an H100's has anyway. What somebody has set stays.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
}

bool computes_deterministically() { return at::globalContext().deterministicAlgorithms(); }

}  // namespace heddle::runtime
