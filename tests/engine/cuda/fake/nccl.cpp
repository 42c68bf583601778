// NCCL: collectives between processes, in the order of a stream, that end when they are aborted. A
// rank that records one, but for messages, waits for the others to record it, as registering
// buffers for a graph does; to leave or to abort a communicator waits for the graphs that hold it.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exchange.h"
#include "faults.h"
#include "memory.h"
#include "streams.h"

struct ncclComm {
  ncclComm(const std::string& file, int rank, int size) : exchange(file, rank, size) {}
  fake::Exchange exchange;
  std::atomic<int> graphs = 0;  // that hold it
};

namespace {

using fake::Sent;
using Received = std::vector<std::vector<char>>;

size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclBfloat16:
    case ncclFloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    default:
      return 8;
  }
}

float from_bfloat16(uint16_t bits) {
  const uint32_t whole = uint32_t{bits} << 16;
  float number = 0;
  std::memcpy(&number, &whole, sizeof(number));
  return number;
}
uint16_t to_bfloat16(float number) {
  uint32_t whole = 0;
  std::memcpy(&whole, &number, sizeof(whole));
  return static_cast<uint16_t>(whole >> 16);
}

template <typename Number>
void add(char* sum, const char* value, size_t count, ncclRedOp_t operation) {
  auto* to = reinterpret_cast<Number*>(sum);
  const auto* from = reinterpret_cast<const Number*>(value);
  for (size_t i = 0; i < count; ++i)
    to[i] = operation == ncclMax ? std::max(to[i], from[i]) : to[i] + from[i];
}
void add_bfloat16(char* sum, const char* value, size_t count, ncclRedOp_t operation) {
  auto* to = reinterpret_cast<uint16_t*>(sum);
  const auto* from = reinterpret_cast<const uint16_t*>(value);
  for (size_t i = 0; i < count; ++i) {
    const float a = from_bfloat16(to[i]), b = from_bfloat16(from[i]);
    to[i] = to_bfloat16(operation == ncclMax ? std::max(a, b) : a + b);
  }
}

void reduce(Received& all, size_t count, ncclDataType_t type, ncclRedOp_t operation) {
  for (size_t i = 1; i < all.size(); ++i) {
    char *sum = all[0].data(), *value = all[i].data();
    if (type == ncclFloat32)
      add<float>(sum, value, count, operation);
    else if (type == ncclFloat64)
      add<double>(sum, value, count, operation);
    else if (type == ncclInt32)
      add<int32_t>(sum, value, count, operation);
    else if (type == ncclInt64)
      add<int64_t>(sum, value, count, operation);
    else if (type == ncclBfloat16)
      add_bfloat16(sum, value, count, operation);
  }
}

// One collective: what goes to each rank, and what is made of what comes.
struct Operation {
  ncclComm* communicator;
  cudaStream_t stream;
  std::vector<Sent> sent;
  std::function<void(Received&)> place;
  bool stalls = false;
  bool messages = false;  // of a group's sends and receives
};

thread_local int depth = 0;
thread_local std::vector<Operation> pending;

uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

ncclResult_t start(const Operation& operation) {
  ncclComm* communicator = operation.communicator;
  const bool captured = fake::is_capturing(operation.stream);
  std::shared_ptr<void> hold;
  if (captured) {
    if (!operation.messages && !communicator->exchange.meet()) return ncclInternalError;
    ++communicator->graphs;
    hold = std::shared_ptr<void>(nullptr, [communicator](void*) { --communicator->graphs; });
  }
  const auto work = [operation, communicator, hold] {
    while (operation.stalls && !communicator->exchange.aborted()) usleep(5'000);
    Received received;
    if (!operation.stalls && communicator->exchange.swap(operation.sent, received))
      operation.place(received);
  };
  const cudaError_t put = fake::put(operation.stream, work, communicator->exchange.size() > 1);
  return put == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

// Sends and receives of a group are one exchange.
ncclResult_t start_all() {
  std::vector<Operation> all = std::move(pending);
  pending.clear();
  for (const Operation& operation : all)
    if (const ncclResult_t started = start(operation); started != ncclSuccess) return started;
  return ncclSuccess;
}

ncclResult_t submit(const char* call, Operation operation) {
  const fake::Fate fate = fake::fate_of(call, fake::is_capturing(operation.stream));
  if (fate.error) return static_cast<ncclResult_t>(fate.error);
  operation.stalls = fate.stalls;
  pending.push_back(std::move(operation));
  return depth > 0 ? ncclSuccess : start_all();
}

// The group's exchange of single messages; the first of them makes it.
Operation& messages(ncclComm* communicator, cudaStream_t stream) {
  for (Operation& each : pending)
    if (each.communicator == communicator && each.stream == stream) return each;
  pending.push_back({communicator, stream,
                     std::vector<Sent>(static_cast<size_t>(communicator->exchange.size())),
                     [](Received&) {}});
  pending.back().messages = true;
  return pending.back();
}

void leave(ncclComm* communicator) {
  while (communicator->graphs > 0) usleep(1'000);
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (const fake::Fate fate = fake::fate_of("ncclGetUniqueId", false); fate.error)
    return static_cast<ncclResult_t>(fate.error);
  std::memset(id, 0, sizeof(*id));
  const std::string file = fake::Exchange::make_file();
  std::memcpy(id->internal, file.c_str(), std::min(file.size(), sizeof(id->internal) - 1));
  return file.empty() ? ncclSystemError : ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int size, ncclUniqueId id, int rank) {
  if (const fake::Fate fate = fake::fate_of("ncclCommInitRank", false); fate.error)
    return static_cast<ncclResult_t>(fate.error);
  *communicator = new ncclComm(id.internal, rank, size);
  fake::note("communicator of %d", size);
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  leave(communicator);
  fake::note("communicator destroyed");
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  if (const fake::Fate fate = fake::fate_of("ncclCommAbort", false); fate.error)
    return static_cast<ncclResult_t>(fate.error);
  communicator->exchange.abort();
  leave(communicator);
  fake::note("communicator aborted");
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = static_cast<ncclResult_t>(fake::fate_of("ncclCommGetAsyncError", false).error);
  return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t communicator, int* count) {
  *count = communicator->exchange.size();
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  *rank = communicator->exchange.rank();
  return ncclSuccess;
}
const char* ncclGetLastError(ncclComm_t) { return ""; }
const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "unknown result code";
  }
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--depth > 0) return ncclSuccess;
  const bool captured = !pending.empty() && fake::is_capturing(pending.front().stream);
  const fake::Fate fate = fake::fate_of("ncclGroupEnd", captured);
  // Stuck in the host's part of it, until it is aborted.
  while (fate.stalls && !pending.empty() && !pending.front().communicator->exchange.aborted())
    usleep(5'000);
  if (!fate.error && !fate.stalls) return start_all();
  pending.clear();
  return fate.error ? static_cast<ncclResult_t>(fate.error) : ncclInternalError;
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  const size_t bytes = count * bytes_of(type);
  const std::vector<Sent> sent(static_cast<size_t>(communicator->exchange.size()),
                               {address_of(from), bytes});
  return submit("ncclAllGather", {communicator, stream, sent, [to, bytes](Received& received) {
                                    char* at = static_cast<char*>(to);
                                    for (const std::vector<char>& each : received) {
                                      std::memcpy(at, each.data(), std::min(bytes, each.size()));
                                      at += bytes;
                                    }
                                  }});
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator,
                               cudaStream_t stream) {
  const size_t bytes = count * bytes_of(type);
  std::vector<Sent> sent;
  for (int rank = 0; rank < communicator->exchange.size(); ++rank)
    sent.push_back({address_of(from) + static_cast<size_t>(rank) * bytes, bytes});
  return submit("ncclReduceScatter", {communicator, stream, sent, [=](Received& received) {
                                        reduce(received, count, type, operation);
                                        std::memcpy(to, received[0].data(), bytes);
                                      }});
}
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  const size_t bytes = count * bytes_of(type);
  const std::vector<Sent> sent(static_cast<size_t>(communicator->exchange.size()),
                               {address_of(from), bytes});
  return submit("ncclAllReduce", {communicator, stream, sent, [=](Received& received) {
                                    reduce(received, count, type, operation);
                                    std::memcpy(to, received[0].data(), bytes);
                                  }});
}
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  const fake::Fate fate = fake::fate_of("ncclSend", fake::is_capturing(stream));
  if (fate.error) return static_cast<ncclResult_t>(fate.error);
  Operation& operation = messages(communicator, stream);
  operation.stalls = operation.stalls || fate.stalls;
  operation.sent[static_cast<size_t>(peer)] = {address_of(from), count * bytes_of(type)};
  return depth > 0 ? ncclSuccess : start_all();
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  Operation& operation = messages(communicator, stream);
  operation.place = [before = operation.place, to, peer,
                     bytes = count * bytes_of(type)](Received& received) {
    before(received);
    const std::vector<char>& message = received[static_cast<size_t>(peer)];
    std::memcpy(to, message.data(), std::min(bytes, message.size()));
  };
  return depth > 0 ? ncclSuccess : start_all();
}

ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  if (const fake::Fate fate = fake::fate_of("ncclMemAlloc", false); fate.error)
    return static_cast<ncclResult_t>(fate.error);
  *memory = fake::allocate(bytes, "ncclMemAlloc");
  return *memory ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* memory) {
  fake::note("ncclMemFree");
  return fake::release(memory) ? ncclSuccess : ncclInvalidArgument;
}
ncclResult_t ncclCommRegister(const ncclComm_t, void* memory, size_t bytes, void** handle) {
  if (const fake::Fate fate = fake::fate_of("ncclCommRegister", false); fate.error)
    return static_cast<ncclResult_t>(fate.error);
  fake::note("registered %zu", bytes);
  *handle = memory;
  return ncclSuccess;
}
// All ranks come, with as much memory each.
ncclResult_t ncclCommWindowRegister(ncclComm_t communicator, void* memory, size_t bytes,
                                    ncclWindow_t* window, int) {
  if (const fake::Fate fate = fake::fate_of("ncclCommWindowRegister", false); fate.error)
    return static_cast<ncclResult_t>(fate.error);
  const std::vector<Sent> sent(static_cast<size_t>(communicator->exchange.size()),
                               {address_of(&bytes), sizeof(bytes)});
  Received received;
  if (!communicator->exchange.swap(sent, received)) return ncclInternalError;
  for (const std::vector<char>& each : received)
    if (std::memcmp(each.data(), &bytes, sizeof(bytes)) != 0) {
      fake::note("illegal window of %zu: another rank's is not as large", bytes);
      return ncclInvalidArgument;
    }
  fake::note("window %zu", bytes);
  *window = reinterpret_cast<ncclWindow_t>(memory);
  return ncclSuccess;
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t window) {
  fake::note(fake::block_at(window).base ? "closed window" : "illegal window: freed before");
  return ncclSuccess;
}
ncclResult_t ncclCommDeregister(const ncclComm_t, void* handle) {
  fake::note(fake::block_at(handle).base ? "deregistered" : "illegal deregistration: freed before");
  return ncclSuccess;
}

}  // extern "C"
