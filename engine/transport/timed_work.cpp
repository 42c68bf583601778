#include "engine/transport/timed_work.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace heddle::transport {

TimedWork::TimedWork(int rank, c10d::OpType type, uint64_t sequence)
    : Work(rank, type),
      sequence_(sequence),
      future_(c10::make_intrusive<c10::ivalue::Future>(c10::NoneType::get())) {}

void TimedWork::succeed() {
  ended_ = Clock::now();
  future_->markCompleted(c10::IValue());
  finish();
}

void TimedWork::fail(const std::exception_ptr& error) {
  ended_ = Clock::now();
  future_->setError(error);
  finish(error);
}

}  // namespace heddle::transport
