// Steps on GPUs that give the same bits each time (training.deterministic). On CPUs they do anyway:
// work is cut into parts by sizes alone, and ranks add up in their order.
//
// Heddle's kernels know no atomic sums, but flash attention's and cuDNN's backward, some sums of
// LibTorch, cuBLAS on several streams and NCCL's sums within switches have no fixed order. The bits
// are the same for the same recipe, GPUs, libraries and NCCL settings.
#pragma once

namespace heddle::runtime {

/// Asks LibTorch, cuBLAS and cuDNN for it in this process; LibTorch's operators that cannot throw
/// c10::Error. Before the device is used.
void compute_deterministically();

/// Whether that was asked for.
bool computes_deterministically();

}  // namespace heddle::runtime
