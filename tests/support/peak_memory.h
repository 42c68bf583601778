// The peak memory of some work.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

namespace heddle {

/// The peak resident memory of this process since this was made, beyond the memory it had then.
class PeakMemory {
 public:
  PeakMemory() : before_(kibibytes("VmRSS:")) {
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  }
  double mebibytes() const { return (kibibytes("VmHWM:") - before_) / 1024; }

 private:
  static double kibibytes(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(key)) return std::stod(line.substr(key.size()));
    return 0;
  }

  double before_;
};

/// The same of `work`, in a child process; -1: it did not come to its end. To be called before the
/// process has further threads.
inline double peak_mebibytes(const std::function<void()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const PeakMemory memory;
    work();
    const double taken = memory.mebibytes();
    _exit(write(ends[1], &taken, sizeof taken) == sizeof taken ? 0 : 1);
  }
  close(ends[1]);
  double taken = -1;
  if (read(ends[0], &taken, sizeof taken) != sizeof taken) taken = -1;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? taken : -1;
}

}  // namespace heddle
