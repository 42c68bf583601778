// The device that a rank computes on.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "base/result.h"
#include "engine/transport/meeting.h"

namespace heddle::runtime {

/// "cpu" and "auto": the CPU. "cuda": loads libheddle_cuda.so, which lies beside the engine, and
/// makes this rank's GPU current; an error says what is missing. Call once a process, before any
/// tensor.
Result<c10::Device> open_device(const std::string& wanted, int local_rank);

/// A process group of the device's own transport: Heddle's for a CPU (a transport::HostBackend), or
/// NCCL. Throws c10::Error.
c10::intrusive_ptr<c10d::Backend> make_group(c10::Device device,
                                             c10::intrusive_ptr<c10d::Store> store, int rank,
                                             int size, transport::GroupOptions options);

}  // namespace heddle::runtime
