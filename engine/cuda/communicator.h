// NCCL's connection of a group's ranks.
#pragma once

#include <nccl.h>

#include <atomic>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/transport/meeting.h"

namespace heddle::cuda {

class Communicator {
 public:
  /// Connects the current GPUs of the ranks. Throws c10::Error, after options.timeout at the
  /// latest: it names ranks that have not come, and those that share a GPU.
  Communicator(c10d::Store& store, int rank, int size, const transport::GroupOptions& options);
  /// Leaves it; one that has been aborted is left already.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  ncclComm_t get() const { return communicator_; }
  bool aborted() const { return aborted_; }

  /// Has what its ranks wait for in it end, and returns at once: NCCL goes on to wait for the CUDA
  /// graphs that hold it. Any thread.
  void abort();

  /// The error that NCCL has found by itself, in words; empty: none. Any thread.
  std::string fault() const;

 private:
  ncclComm_t communicator_ = nullptr;
  std::atomic<bool> aborted_ = false;
};

/// "unhandled cuda error (…)": NCCL's words, with what it knows besides.
std::string words_of(ncclResult_t result, ncclComm_t communicator);

}  // namespace heddle::cuda
