// The properties that a GPU reports, for measuring it.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace heddle::runtime {

struct DeviceProperties {
  int64_t multiprocessors = 0, memory_bytes = 0, cache_bytes = 0;  // the last-level cache's
  bool eight_bits = false;  // products of 8 bits have units of their own
};

/// The properties of a GPU that this process uses (open_device). Throws c10::Error.
DeviceProperties device_properties(c10::Device gpu);

}  // namespace heddle::runtime
