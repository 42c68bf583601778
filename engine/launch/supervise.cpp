#include "engine/launch/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/json_text.h"
#include "base/say.h"
#include "engine/launch/end_proof.h"
#include "engine/launch/run_ranks.h"
#include "engine/runs/engine_program.h"
#include "engine/runs/launch.h"

namespace heddle::launch {
namespace {

int print_error(const std::string& message) {
  say(stderr, "{}\n", message);
  return 1;
}

int print_status(const std::string& run_dir) {
  const Result<runs::Status> status = runs::read_status(run_dir);
  if (!status) return print_error(status.error().message);
  say("{}\n", json_text(to_json(*status)));
  return 0;
}

/// Asks the supervisor, which is known by more than its pid; one that is gone already is no error.
/// One that somebody has stopped goes on, or it would not hear.
int send(const std::string& run_dir, int signal) {
  const Result<runs::Status> status = runs::read_status(run_dir);
  if (!status) return print_error(status.error().message);
  if (status->condition == runs::Condition::running &&
      kill(status->state->supervisor.pid, signal) != 0 && errno != ESRCH) {
    return print_error(fmt::format("supervisor of {}, process {}: {}", run_dir,
                                   status->state->supervisor.pid, strerror(errno)));
  }
  if (status->stopped) kill(status->state->supervisor.pid, SIGCONT);
  return print_status(run_dir);
}

int ask_for_checkpoint(const SuperviseOptions& options) {
  const std::string file = runs::checkpoint_name_file(options.run_dir);
  if (options.checkpoint_name.empty()) {
    unlink(file.c_str());  // an earlier request's
  } else if (const Result<> left = write_atomically(file, options.checkpoint_name); !left) {
    return print_error(left.error().message);
  }
  return send(options.run_dir, SIGUSR1);
}

/// Standard streams of a process that nobody watches: no input, output to supervisor.err.
bool leave_terminal(const std::string& run_dir) {
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = open((run_dir + "/supervisor.err").c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  return input >= 0 && output >= 0 && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 &&
         dup2(output, 2) >= 0;
}

/// The supervisor itself. `report` is closed when the ranks run; an error is written into it
/// before.
int supervisor(const SuperviseOptions& options, const std::string& engine,
               const std::optional<Secret>& secret, double begun, int report) {
  const auto tell = [&](const std::string& message) {
    [[maybe_unused]] const ssize_t told = write(report, message.data(), message.size());
    close(report);
  };
  if (!leave_terminal(options.run_dir)) {
    tell(fmt::format("{}: {}", options.run_dir, strerror(errno)));
    return 1;
  }
  // Nothing of this host's run may depend on a folder that somebody wants to unmount.
  if (chdir("/") != 0) return 1;
  bool started = false;
  const Result<RanksOutcome> outcome =
      run_ranks(options.run_dir, engine, begun, secret, [&](const runs::State&) {
        started = true;
        close(report);
      });
  if (!started) tell(outcome ? outcome->end.cause : outcome.error().message);
  return outcome ? outcome->end.exit_code : 1;
}

/// How long the other hosts wait for rank 0's.
constexpr std::chrono::seconds kFirstHost{300};

/// The port that rank 0's host listens at.
Result<uint16_t> await_rendezvous(const std::string& first_run_dir) {
  const auto deadline = std::chrono::steady_clock::now() + kFirstHost;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto state = runs::read_state(first_run_dir);
    if (state && *state && (*state)->port != 0) return (*state)->port;
    const auto end = runs::read_end(first_run_dir);
    if (end && *end) return fail("the ranks of the first node have ended: {}", (*end)->cause);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return fail("the first node has not said its port within {} s: there is no {}",
              kFirstHost.count(), runs::state_file(first_run_dir));
}

/// A batch system decides which hosts they are, so that launch.json does not know yet.
Result<> settle_rendezvous(const SuperviseOptions& options) {
  if (options.first_run_dir.empty()) return {};
  Result<runs::Launch> launch = runs::read_launch(options.run_dir);
  if (!launch) return fail(launch);
  launch->rendezvous_host = options.rendezvous_host;
  if (launch->first_rank > 0) {
    const Result<uint16_t> port = await_rendezvous(options.first_run_dir);
    if (!port) return fail(port);
    launch->rendezvous_port = *port;
  }
  return runs::write_launch(options.run_dir, *launch);
}

/// The end of a part whose ranks cannot be started.
Result<> leave_end(const std::string& run_dir, const std::string& cause, const Secret& secret) {
  const Result<runs::Launch> launch = runs::read_launch(run_dir);
  if (!launch) return fail(launch);
  runs::End end{.state = "failed", .exit_code = 1, .cause = cause, .finished = unix_now()};
  const Part part{std::filesystem::path(run_dir).filename(), launch->epoch, launch->first_rank,
                  launch->local_ranks};
  Result<std::string> signature = prove(end, part, secret);
  if (!signature) return fail(signature);
  end.signature = std::move(*signature);
  return runs::write_end(run_dir, end);
}

int run_attached(const SuperviseOptions& options, const std::string& engine,
                 const std::optional<Secret>& secret, double begun) {
  if (const Result<> settled = settle_rendezvous(options); !settled) {
    const std::string& cause = settled.error().message;
    const Result<> left = secret ? leave_end(options.run_dir, cause, *secret) : Result<>{};
    return print_error(left ? cause : cause + "\n" + left.error().message);
  }
  const Result<RanksOutcome> outcome =
      run_ranks(options.run_dir, engine, begun, secret, [](const runs::State&) {});
  if (!outcome) return print_error(outcome.error().message);
  if (!outcome->end.cause.empty()) say(stderr, "{}\n", outcome->end.cause);
  return outcome->end.exit_code;
}

/// Forks twice: the grandchild has a session of its own, no terminal, and init as its parent.
int start(SuperviseOptions options) {
  const double begun = unix_now();
  umask(077);  // of all that the run writes
  options.run_dir = std::filesystem::absolute(options.run_dir).lexically_normal();
  const std::string engine = options.engine.empty() ? runs::engine_program() : options.engine;
  std::optional<Secret> secret;
  if (options.secret_on_stdin) {
    const Result<Secret> received = receive_secret(STDIN_FILENO);
    if (!received) return print_error(received.error().message);
    secret = *received;
  }
  if (options.attached) return run_attached(options, engine, secret, begun);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return print_error(fmt::format("pipe: {}", strerror(errno)));
  const pid_t child = fork();
  if (child < 0) return print_error(fmt::format("fork: {}", strerror(errno)));
  if (child == 0) {
    close(report[0]);
    setsid();
    const pid_t grandchild = fork();
    if (grandchild != 0) _exit(grandchild < 0 ? 1 : 0);
    _exit(supervisor(options, engine, secret, begun, report[1]));
  }
  close(report[1]);
  waitpid(child, nullptr, 0);
  std::string error;
  char buffer[4096];
  for (ssize_t count; (count = read(report[0], buffer, sizeof(buffer))) > 0;) {
    error.append(buffer, static_cast<size_t>(count));
  }
  close(report[0]);
  if (!error.empty()) return print_error(error);
  return print_status(options.run_dir);
}

}  // namespace

int supervise(const SuperviseOptions& options) {
  switch (options.action) {
    case SuperviseAction::start:
      return start(options);
    case SuperviseAction::status:
      return print_status(options.run_dir);
    case SuperviseAction::checkpoint:
      return ask_for_checkpoint(options);
    case SuperviseAction::stop:
      return send(options.run_dir, SIGTERM);
    case SuperviseAction::kill:
      return send(options.run_dir, SIGQUIT);
  }
  return 2;
}

}  // namespace heddle::launch
