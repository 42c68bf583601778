#include "engine/graph/trace_device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace heddle::graph {
namespace {

// Without these hooks autograd refuses the device.
struct TraceHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::detail::createCPUGenerator();
  }
};

// One device with one stream. Nothing is computed, so every event has happened already.
struct TraceGuard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1> {
  c10::Device exchangeDevice(c10::Device) const override { return kTraceDevice; }
  c10::Device getDevice() const override { return kTraceDevice; }
  c10::Stream getStream(c10::Device) const noexcept override { return kStream; }
  c10::Stream getDefaultStream(c10::Device) const override { return kStream; }
  c10::Stream getNewStream(c10::Device, int) const override { return kStream; }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return kStream; }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}

 private:
  inline static const c10::Stream kStream{c10::Stream::DEFAULT, kTraceDevice};
};

}  // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, TraceGuard)

TraceTensorImpl::TraceTensorImpl(at::Tensor meta, ValueId value)
    : TensorImpl(c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), meta.dtype(), kTraceDevice),
      meta_(std::move(meta)),
      value_(value) {
  set_storage_access_should_throw();
  set_sizes_and_strides(meta_.sizes(), meta_.strides(), meta_.storage_offset());
}

c10::intrusive_ptr<c10::TensorImpl> TraceTensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version, bool allow_change) const {
  auto copy = c10::make_intrusive<TraceTensorImpl>(meta_, value_);
  copy->is_view_ = is_view_;
  copy->set_version_counter(version);
  copy->set_allow_tensor_metadata_change(allow_change);
  return copy;
}

c10::intrusive_ptr<c10::TensorImpl> TraceTensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version, bool allow_change) const {
  return shallow_copy_and_detach(version, allow_change);
}

TraceTensorImpl* trace_tensor(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.key_set().has(c10::DispatchKey::PrivateUse1)) return nullptr;
  return static_cast<TraceTensorImpl*>(tensor.unsafeGetTensorImpl());
}

void register_trace_device() {
  static const bool registered = [] {
    static TraceHooks hooks;
    at::RegisterPrivateUse1HooksInterface(&hooks);
    c10::register_privateuse1_backend("trace");
    return true;
  }();
  (void)registered;
}

}  // namespace heddle::graph
