#include "engine/kernels/update.h"

namespace heddle::kernels {

void update_(const char* name, const std::vector<Tensors>& written, const Tensors& grads,
             const at::Tensor& lr, const at::Tensor& step, const at::Tensor& factor,
             const std::vector<c10::IValue>& settings) {
  torch::jit::Stack stack(written.begin(), written.end());
  torch::jit::push(stack, grads, lr, step, factor);
  stack.insert(stack.end(), settings.begin(), settings.end());
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack);
}

}  // namespace heddle::kernels
