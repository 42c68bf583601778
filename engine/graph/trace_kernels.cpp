// Registers the recorder for every operator on the trace device.
#include "engine/graph/trace_kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "engine/graph/recorder.h"
#include "engine/graph/trace_device.h"

namespace heddle::graph {
namespace {

void record_boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  Recorder* recorder = Recorder::current();
  TORCH_CHECK(recorder, op.operator_name(), " runs on the trace device outside a capture");
  recorder->record(op, stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&record_boxed>());
}

// An operator with a CompositeExplicitAutograd kernel would run that kernel instead of the
// fallback.
void register_trace_kernels() {
  // Used or not, the pointer stays: what is reachable is no leak.
  [[gnu::used]] static torch::Library* aten = [] {
    register_trace_device();
    register_shape_rules();
    auto* library = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1,
                                       __FILE__, __LINE__);
    auto& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
      if (name.getNamespace() != "aten") continue;
      const auto op = dispatcher.findSchema(name);
      if (!op) continue;
      const bool bypasses =
          op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
          op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional);
      if (!bypasses || op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) continue;
      const std::string full =
          name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
      library->impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&record_boxed>());
    }
    return library;
  }();
}

}  // namespace heddle::graph
