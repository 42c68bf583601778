// A rank next to its GPU: on the cores, and with memory, of the same NUMA node.
#pragma once

#include <string>

namespace heddle::runtime {

/// Binds all threads of this process, and those that it starts later, to the cores nearest to the
/// device at `pci_address` ("0000:3b:00.0"), and prefers memory of that node. What it did, or why
/// it left things as they are: "NUMA node 1, cores 32-63". `sysfs`: where the kernel describes
/// devices.
std::string bind_to_device(const std::string& pci_address, const std::string& sysfs = "/sys");

}  // namespace heddle::runtime
