#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

namespace heddle::process {
namespace {

using Clock = std::chrono::steady_clock;

/// A file descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void set(int fd) { fd_ = fd; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipe {
  Fd reader;
  Fd writer;
  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reader.set(ends[0]);
    writer.set(ends[1]);
    return true;
  }
};

/// The child's stdin is a memory file: no pipe that both sides could wait on.
bool fill(const Fd& file, const std::string& input) {
  size_t done = 0;
  while (done < input.size()) {
    const ssize_t n = ::write(file.get(), input.data() + done, input.size() - done);
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return lseek(file.get(), 0, SEEK_SET) == 0;
}

int spawn(const Command& command, const Fd& in, const Fd& out, const Fd& err, pid_t& pid) {
  std::vector<char*> argv;
  for (const std::string& argument : command.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

enum class Collected { all, late, too_much };

/// Collects both streams until they end, at most `most` bytes.
Collected collect(const Fd& out, const Fd& err, Clock::time_point end, size_t most,
                  Completed& completed) {
  std::array<pollfd, 2> polled{{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
  std::array<std::string*, 2> texts{&completed.out, &completed.err};
  std::vector<char> buffer(1 << 16);
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return Collected::late;
    if (poll(polled.data(), polled.size(), static_cast<int>(left)) < 0) continue;
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const ssize_t n = ::read(polled[i].fd, buffer.data(), buffer.size());
      if (n > 0) texts[i]->append(buffer.data(), static_cast<size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) polled[i].fd = -1;
    }
    if (completed.out.size() + completed.err.size() > most) return Collected::too_much;
  }
  return Collected::all;
}

bool wait_until(pid_t pid, Clock::time_point end, int& status) {
  for (;;) {
    if (waitpid(pid, &status, WNOHANG) == pid) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<Completed> run(const Command& command) {
  if (command.argv.empty()) return fail("nothing to run: argv is empty");
  const Clock::time_point end = Clock::now() + command.deadline;
  const Fd input(memfd_create("stdin", MFD_CLOEXEC));
  Pipe out;
  Pipe err;
  if (input.get() < 0 || !fill(input, command.input) || !out.open() || !err.open()) {
    return fail("cannot run {}: {}", command.argv[0], std::strerror(errno));
  }
  pid_t pid = 0;
  if (const int error = spawn(command, input, out.writer, err.writer, pid); error != 0) {
    return fail("cannot run {}: {}", command.argv[0], std::strerror(error));
  }
  out.writer.close();
  err.writer.close();

  Completed completed;
  int status = 0;
  const Collected collected = collect(out.reader, err.reader, end, command.most_output, completed);
  if (collected != Collected::all || !wait_until(pid, end, status)) {
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
    if (collected == Collected::too_much)
      return fail("{} said more than {} bytes and was killed", command.argv[0],
                  command.most_output);
    return fail("{} did not end within {} s and was killed", command.argv[0],
                std::chrono::duration<double>(command.deadline).count());
  }
  completed.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return completed;
}

}  // namespace heddle::process
