// Registration of the recorder with LibTorch's dispatcher.
#pragma once

namespace heddle::graph {

/// Every operator call on the trace device is recorded from now on (once a process, about 15 ms).
void register_trace_kernels();

/// Shapes of the operators that LibTorch has no meta kernel for. Called by
/// `register_trace_kernels`.
void register_shape_rules();

}  // namespace heddle::graph
