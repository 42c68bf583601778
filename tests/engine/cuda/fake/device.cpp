// The devices: A100s, so that attention takes flash kernels and no graph of cuDNN's. How many there
// are is FAKE_CUDA_DEVICES (8); with FAKE_CUDA_SAME = 1 all are the same one. FAKE_CUDA_NAME is
// another name of theirs.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "faults.h"
#include "streams.h"

namespace {

thread_local int current = 0;

int count() {
  static const char* set = std::getenv("FAKE_CUDA_DEVICES");
  static const int devices = set ? std::atoi(set) : 8;
  return devices;
}

// Which it is of the machine's.
int number_of(int device) {
  static const bool same = std::getenv("FAKE_CUDA_SAME") != nullptr;
  return same ? 0 : device;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* devices) {
  FAKE_CALL("cudaGetDeviceCount");
  *devices = count();
  return fake::end_call(count() > 0 ? cudaSuccess : cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  FAKE_CALL("cudaSetDevice");
  if (device < 0 || device >= count()) return fake::end_call(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  FAKE_CALL("cudaGetDeviceProperties");
  *properties = {};
  const char* name = std::getenv("FAKE_CUDA_NAME");
  std::snprintf(properties->name, sizeof(properties->name), "%s",
                name ? name : "NVIDIA A100-SXM4-80GB");
  std::memset(properties->uuid.bytes, 'a' + number_of(device), sizeof(properties->uuid.bytes));
  properties->major = 8;
  properties->multiProcessorCount = 108;
  properties->warpSize = 32;
  properties->totalGlobalMem = size_t{80} << 30;
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 163 << 10;
  properties->sharedMemPerMultiprocessor = 164 << 10;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 1 << 16;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  for (int i = 0; i < 3; ++i) {
    properties->maxThreadsDim[i] = i < 2 ? 1024 : 64;
    properties->maxGridSize[i] = i < 1 ? 2147483647 : 65535;
  }
  properties->l2CacheSize = 40 << 20;
  properties->pciBusID = number_of(device);
  properties->unifiedAddressing = properties->canMapHostMemory = properties->asyncEngineCount = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp of{};
  if (const cudaError_t error = cudaGetDeviceProperties(&of, device); error != cudaSuccess)
    return error;
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = of.major;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = of.multiProcessorCount;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = of.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = of.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(of.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(of.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(of.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = of.regsPerBlock;
      break;
    case cudaDevAttrWarpSize:
      *value = of.warpSize;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = of.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = of.maxGridSize[1];
      break;
    case cudaDevAttrL2CacheSize:
      *value = of.l2CacheSize;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", number_of(device));
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
// The driver's own functions: LibTorch does without them where there are none.
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  *function = nullptr;
  if (found) *found = cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaErrorOfTheFakeRuntime";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorDevicesUnavailable:
      return "CUDA-capable device(s) is/are busy or unavailable";
    case cudaErrorECCUncorrectable:
      return "uncorrectable ECC error encountered";
    case cudaErrorNvlinkUncorrectable:
      return "uncorrectable NVLink error detected during the execution";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorLaunchTimeout:
      return "the launch timed out and was terminated";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:
      return "dependency created on uncaptured work in another stream";
    case cudaErrorCapturedEvent:
      return "operation not permitted on an event last recorded in a capturing stream";
    case cudaErrorUnknown:
      return "unknown error";
    default:
      return "an error that the fake runtime has no words for";
  }
}

}  // extern "C"
