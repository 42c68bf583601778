// The device that a rank computes on.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "base/result.h"
#include "engine/runtime/device_run.h"
#include "engine/transport/meeting.h"

namespace heddle::runtime {

/// "cpu": the CPU. "cuda": loads libheddle_cuda.so of the same build, which is next to the engine,
/// and makes this rank's GPU current, where `shared` any that there is; an error says what is
/// missing. Call once a process, before any tensor and any thread that computes: on a CPU subnormal
/// numbers count as zero from here on. `deterministic`: see deterministic.h.
Result<c10::Device> open_device(const std::string& wanted, int local_rank, bool shared,
                                bool deterministic = false);

/// `heddle-engine gpus`: prints how many GPUs the plug-in could use here, or why none
/// (probe::gpus_text). Exit code 0.
int print_gpus();

/// Where a GPU is on the PCI bus, as sysfs has it: "0000:3b:00.0"; empty: not known.
std::string pci_address(c10::Device gpu);

/// A process group of the device's own transport: Heddle's for a CPU (a transport::HostBackend), or
/// NCCL. Throws c10::Error.
c10::intrusive_ptr<c10d::Backend> make_group(c10::Device device,
                                             c10::intrusive_ptr<c10d::Store> store, int rank,
                                             int size, transport::GroupOptions options);

/// The device as executors use it. Throws c10::Error.
std::unique_ptr<DeviceRun> make_device_run(c10::Device device);

/// Free bytes of a GPU's memory; 0: not known, a CPU. Throws c10::Error.
int64_t free_bytes(c10::Device device);

/// Bytes of zeros of the host's memory, from which and to which the device copies fastest. Throws
/// c10::Error where there is not so much.
at::Tensor allocate_beside(c10::Device device, int64_t bytes);

/// Bytes of zeros on a GPU, which its transport can read and write in place where that is possible.
/// Throws c10::Error where there is not so much.
at::Tensor allocate_on(c10::Device device, int64_t bytes);

}  // namespace heddle::runtime
