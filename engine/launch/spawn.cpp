#include "engine/launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/cores.h"
#include "base/process_id.h"

namespace heddle::launch {
namespace {

constexpr int kNice = 10;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// In the new process, between fork and exec: system calls only. Returns errno.
int become(const Program& program, char* const* words, char* const* environment, int input,
           int output, pid_t parent) {
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (getppid() != parent) _exit(1);  // died before the line above
  if (program.yields && getpriority(PRIO_PROCESS, 0) < kNice) setpriority(PRIO_PROCESS, 0, kNice);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return errno;
  for (const int fd : program.kept_fds)
    if (fd >= 0 && fcntl(fd, F_SETFD, 0) != 0) return errno;
  signal(SIGPIPE, SIG_DFL);
  signal(SIGUSR1, SIG_IGN);  // a request that comes before the rank can take it must not kill it
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(words[0], words, environment);
  return errno;
}

}  // namespace

Result<ProcessId> spawn(const Program& program) {
  const std::vector<char*> words = pointers(program.words);
  const std::vector<char*> environment = pointers(program.environment);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output =
      open(program.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (output < 0) {
    const int error = errno;
    close(input);
    return fail("{}: {}", program.output, strerror(error));
  }
  // Closed by a successful exec; else it carries errno.
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail("pipe: {}", strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    const int error = become(program, words.data(), environment.data(), input, output, parent);
    [[maybe_unused]] const ssize_t told = write(report[1], &error, sizeof(error));
    _exit(127);
  }
  int error = pid < 0 ? errno : 0;
  close(input);
  close(output);
  close(report[1]);
  if (pid > 0 && read(report[0], &error, sizeof(error)) == sizeof(error)) {
    waitpid(pid, nullptr, 0);
  }
  close(report[0]);
  if (error != 0) return fail("{} cannot be started: {}", program.words[0], strerror(error));
  ProcessId id = identify(pid);
  id.pid = pid;  // it may have ended already
  return id;
}

void yield_session() {
  if (getsid(0) == getsid(getppid())) return;
  const int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const std::string nice = std::to_string(kNice);
  // Unprivileged processes of the whole system may change one every tenth of a second.
  constexpr int kMaxTries = 5;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    if (write(file, nice.data(), nice.size()) >= 0 || errno != EAGAIN) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
  }
  close(file);
}

int spins_while_waiting(double busy, int threads, int cores) {
  return busy + threads > cores + 0.5 ? 1000 : 4000;
}

std::vector<std::string> rank_environment(int local_ranks) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("OMP_NUM_THREADS=")) result.emplace_back(*entry);
  const int threads = threads_of_rank(local_ranks);
  result.push_back("OMP_NUM_THREADS=" + std::to_string(threads));
  if (std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
    double busy = 0;  // in the mean of the last minute
    if (getloadavg(&busy, 1) < 1) busy = 0;
    result.push_back("GOMP_SPINCOUNT=" + std::to_string(spins_while_waiting(
                                             busy, local_ranks * threads, usable_cores())));
  }
  return result;
}

}  // namespace heddle::launch
