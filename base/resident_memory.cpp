#include "base/resident_memory.h"

#include <sys/resource.h>
#include <unistd.h>

namespace heddle {

int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

int64_t resident_bytes() { return ResidentMemory().bytes(); }

int64_t ResidentMemory::bytes() const {
  file_.clear();
  file_.seekg(0);
  int64_t total = 0, resident = 0;
  file_ >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace heddle
