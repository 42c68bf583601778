#include "engine/launch/rank_group.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "base/number_text.h"
#include "base/process_id.h"
#include "base/read_file.h"
#include "engine/launch/spawn.h"
#include "engine/runs/rank_arguments.h"
#include "engine/runs/rendezvous.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/lines.h"

namespace heddle::launch {
namespace {

/// "SIGKILL" for 9; "signal 77" for a number without a name.
std::string signal_name(int signal) {
  if (const char* name = sigabbrev_np(signal)) return fmt::format("SIG{}", name);
  return fmt::format("signal {}", signal);
}

constexpr int kExitStopped = 130;
/// The other ranks' grace when one has failed: nothing waits for a checkpoint then.
constexpr double kGraceAfterFailure = 5;
/// Between a signal's arrival at a rank and at its supervisor.
constexpr std::chrono::milliseconds kOwnSignal{500};
/// A rank that is stopped for less is not worth a line.
constexpr double kStopTold = 2;
/// How often the run directory is looked for.
constexpr double kGroupLook = 2;
constexpr size_t kOutputKept = size_t{64} * 1024;

using std::chrono::steady_clock;
using telemetry::Level;

/// Negative: it has passed.
double seconds_from_now(steady_clock::time_point time) {
  return std::chrono::duration<double>(time - steady_clock::now()).count();
}

double seconds_until(steady_clock::time_point time) {
  return std::max(0.0, seconds_from_now(time));
}

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1})
    sigaddset(&set, signal);
  return set;
}

/// The next signal, or 0 after `seconds`.
int wait_for_signal(double seconds) {
  const sigset_t set = taken_signals();
  const timespec limit{static_cast<time_t>(seconds),
                       static_cast<long>((seconds - std::floor(seconds)) * 1e9)};
  return std::max(0, sigtimedwait(&set, nullptr, &limit));
}

/// The last line that says something: LibTorch's errors end with a stack trace.
std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    const bool trace = line.starts_with("frame #") || line.starts_with("Exception raised from");
    if (!trace && line.find_first_not_of(" \r\t") != std::string::npos) last = line;
  }
  return last;
}

/// Ranks whose peer dies fail too, so of several deaths a signal tells more than an exit code, one
/// that left without a word more than a failure, and a bad recipe (2) more than a broken connection
/// (1).
int weight(int status) {
  if (WIFSIGNALED(status)) return 1000;
  return WEXITSTATUS(status) == 0 ? 500 : WEXITSTATUS(status);
}

}  // namespace

RankGroup::RankGroup(std::string engine, std::string run_dir, runs::Launch launch, RanksWork work,
                     double spawned_at, Log log)
    : engine_(std::move(engine)),
      run_dir_(std::move(run_dir)),
      launch_(std::move(launch)),
      work_(work),
      spawned_at_(spawned_at),
      log_(std::move(log)) {
  const sigset_t taken = taken_signals();
  pthread_sigmask(SIG_BLOCK, &taken, &mask_before_);
  struct stat found {};
  if (stat(run_dir_.c_str(), &found) == 0) directory_ = found;
}

RankGroup::~RankGroup() {
  kill_and_wait();
  // A pending signal would else end this process as soon as it is unblocked.
  const sigset_t taken = taken_signals();
  const timespec at_once{};
  while (sigtimedwait(&taken, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void RankGroup::kill_and_wait() {
  kill();
  for (Process& process : processes_) {
    if (std::exchange(process.running, false)) waitpid(process.id.pid, nullptr, 0);
  }
}

Result<> RankGroup::start() {
  processes_.clear();
  terminated_ = killed_ = false;
  if (++starts_ > 1) spawned_at_ = unix_now();
  Socket rendezvous;
  const bool one_host = launch_.local_ranks == launch_.world_size;
  if (one_host) {
    const std::string file = runs::rendezvous_file(run_dir_);
    if (unlink(file.c_str()) != 0 && errno != ENOENT) return fail("{}: {}", file, strerror(errno));
  } else if (launch_.first_rank == 0) {
    Result<Socket> opened = runs::open_rendezvous(launch_.rendezvous_host, launch_.rendezvous_port,
                                                  launch_.public_addresses);
    if (!opened) return fail(opened);
    rendezvous = std::move(*opened);
    launch_.rendezvous_port = rendezvous.port();
  }
  if (!work_.on_gpus) yield_session();
  Result<> started;
  for (int32_t local = 0; local < launch_.local_ranks && started; ++local) {
    started = spawn(local, local == 0 ? rendezvous.fd() : -1);
  }
  if (!started) kill_and_wait();
  return started;
}

Result<> RankGroup::spawn(int32_t local_rank, int listen_fd) {
  const int32_t rank = launch_.first_rank + local_rank;
  Result<runs::LastWord> word = runs::LastWord::make();
  if (!word) return fail(word);
  const runs::RankContext context{.run_dir = run_dir_,
                                  .launch = launch_,
                                  .rank = rank,
                                  .local_rank = local_rank,
                                  .listen_fd = listen_fd,
                                  .attempt = starts_ - 1,
                                  .word_fd = word->fd(),
                                  .port = launch_.rendezvous_port,
                                  .spawned_at = spawned_at_};
  Program program;
  program.words = runs::rank_arguments(context);
  program.words.insert(program.words.begin(), engine_);
  program.environment = rank_environment(launch_.local_ranks);
  program.output = fmt::format("{}/rank-{}.err", run_dir_, rank);
  program.yields = !work_.on_gpus;
  program.kept_fds = {listen_fd, word->fd()};
  std::error_code absent;
  const auto size = std::filesystem::file_size(program.output, absent);
  const Result<ProcessId> id = launch::spawn(program);
  if (!id) return fail(id);
  processes_.push_back({.rank = rank,
                        .id = *id,
                        .word = std::move(*word),
                        .output_from = absent ? 0 : static_cast<int64_t>(size)});
  log_(Level::info, telemetry::process_text(rank, fmt::format("started as process {}", id->pid)));
  return {};
}

runs::End RankGroup::run() {
  const Process* cause = nullptr;
  while (any_running()) {
    const int signal = wait_for_signal(patience());
    if (signal != 0 && signal != SIGCHLD) obey(signal);
    // Without a SIGCHLD, too: several deaths may raise only one.
    const Process* failed = reap();
    tell_stopped();
    if (!directory_lost_ && any_running() && is_directory_gone()) {
      directory_lost_ = true;
      log_(Level::error, "the run directory is gone: the ranks are stopped");
      terminate(launch_.grace_seconds);
    }
    if (!stop_asked_ && any_running() && is_superseded()) {
      stop_asked_ = true;
      log_(Level::warning,
           "state.json is gone: the job begins again elsewhere, or somebody has removed it; the "
           "ranks are stopped");
      terminate(launch_.grace_seconds);
    }
    // A killed rank's peer may end before it: the kernel closes its connections first.
    if (failed && (!cause || (WIFSIGNALED(failed->status) && !WIFSIGNALED(cause->status)))) {
      cause = failed;
      terminate(std::min(launch_.grace_seconds, kGraceAfterFailure));
    }
    if (terminated_ && !killed_ && any_running() && seconds_until(kill_at_) == 0) {
      log_(Level::error, "ranks that did not end in time are killed");
      kill();
    }
  }
  if (directory_lost_) return end_without_directory();
  return cause ? end_of_failed(*cause) : end_without_failure();
}

bool RankGroup::is_directory_gone() {
  struct stat found {};
  if (!directory_) return false;
  if (stat(run_dir_.c_str(), &found) == 0)
    return found.st_ino != directory_->st_ino || found.st_dev != directory_->st_dev;
  if (errno == ENOENT || errno == ENOTDIR) return true;
  const int error = errno;
  if (!std::exchange(look_failed_, true))
    log_(Level::warning,
         fmt::format("{} cannot be looked at: {}; the ranks go on", run_dir_, strerror(error)));
  return false;
}

bool RankGroup::is_superseded() {
  struct stat found {};
  const bool there = stat(runs::state_file(run_dir_).c_str(), &found) == 0;
  state_seen_ |= there;
  return !there && errno == ENOENT && state_seen_;
}

void RankGroup::obey(int signal) {
  if (signal == SIGUSR1 && !any_running()) {
    log_(Level::warning, "a checkpoint was asked for while no rank is running: the newest is kept");
    return;
  }
  if (signal == SIGUSR1) {
    log_(Level::info, "checkpoint asked for");
    signal_running(SIGUSR1);
    return;
  }
  const bool again = stop_asked_;
  // Slurm sends SIGTERM several times when it takes a job's nodes; its kill is SIGQUIT.
  if (again && signal == SIGTERM && std::getenv("SLURM_JOB_ID") != nullptr) return;
  stop_asked_ = true;
  if (signal == SIGQUIT || again) {
    // Ranks that were killed before, for missing their deadline, were not killed by this.
    kill_asked_ |= !killed_;
    log_(Level::info, "kill asked for");
    kill();
  } else {
    log_(Level::info, "stop asked for");
    terminate(launch_.grace_seconds);
  }
}

/// A batch system sends its signals to ranks and supervisor alike, in any order.
void RankGroup::await_own_signal(int rank_signal) {
  if (stop_asked_ || (rank_signal != SIGTERM && rank_signal != SIGQUIT)) return;
  const auto until = steady_clock::now() + kOwnSignal;
  while (!stop_asked_ && steady_clock::now() < until) {
    const int signal = wait_for_signal(seconds_until(until));
    if (signal != 0 && signal != SIGCHLD) obey(signal);
  }
}

const RankGroup::Process* RankGroup::reap() {
  const Process* worst = nullptr;
  std::vector<const Process*> died;
  for (Process& process : processes_) {
    int status = 0;
    while (process.running &&
           waitpid(process.id.pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == process.id.pid) {
      if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
        note_stop(process, status);
        continue;
      }
      process.running = false;
      process.status = status;
      if (WIFSIGNALED(status)) await_own_signal(WTERMSIG(status));
      process.failed = has_failed(process);
      died.push_back(&process);
    }
  }
  for (const Process* process : died) {
    ::kill(-process->id.pid, SIGKILL);  // processes that it may have left in its group
    const bool done = WIFEXITED(process->status) && WEXITSTATUS(process->status) == 0;
    if (!done || process->failed)
      log_(process->failed ? Level::error : Level::info,
           telemetry::process_text(process->rank, how_it_ended(*process)));
    if (process->failed && (!worst || weight(process->status) > weight(worst->status))) {
      worst = process;
    }
  }
  return worst;
}

void RankGroup::note_stop(Process& process, int status) {
  if (WIFSTOPPED(status)) {
    process.stopped_at = steady_clock::now();
    process.stop_signal = WSTOPSIG(status);
    return;
  }
  if (process.stop_told && process.stopped_at)
    log_(Level::info, telemetry::process_text(process.rank,
                                              fmt::format("goes on after {:.1f} s",
                                                          -seconds_from_now(*process.stopped_at))));
  process.stopped_at.reset();
  process.stop_told = false;
}

void RankGroup::tell_stopped() {
  for (Process& process : processes_) {
    if (!process.running || !process.stopped_at || process.stop_told) continue;
    const double seconds = -seconds_from_now(*process.stopped_at);
    if (seconds < kStopTold) continue;
    process.stop_told = true;
    log_(
        Level::warning,
        telemetry::process_text(
            process.rank,
            fmt::format("(process {}) has been stopped by {} for {:.1f} s{}; kill -CONT {} lets it "
                        "go on",
                        process.id.pid, signal_name(process.stop_signal), seconds,
                        launch_.world_size > 1 ? ", and the other ranks wait for it" : "",
                        process.id.pid)));
  }
}

double RankGroup::patience() const {
  double seconds = kGroupLook;
  if (terminated_ && !killed_) seconds = std::min(seconds, seconds_until(kill_at_));
  for (const Process& process : processes_) {
    if (!process.running || !process.stopped_at || process.stop_told) continue;
    seconds = std::min(seconds, std::max(0.0, kStopTold + seconds_from_now(*process.stopped_at)));
  }
  return seconds;
}

bool RankGroup::has_failed(const Process& process) const {
  if (WIFSIGNALED(process.status)) {
    const int signal = WTERMSIG(process.status);
    return !(signal == SIGTERM && terminated_) &&
           !((signal == SIGKILL || signal == SIGQUIT) && killed_);
  }
  const runs::Word word = process.word.heard();
  switch (WEXITSTATUS(process.status)) {
    case 0:
      return word.state != runs::Word::State::done || word.step < work_.steps;
    case kExitStopped:
      return word.state != runs::Word::State::stopped && !terminated_;
    default:
      return true;
  }
}

bool RankGroup::may_restart() const {
  if (stop_asked_ || directory_lost_) return false;
  return std::ranges::none_of(processes_, [](const Process& process) {
    if (!process.failed) return false;
    if (WIFEXITED(process.status))
      return WEXITSTATUS(process.status) == 2 || process.word.heard().lasting;
    const int signal = WTERMSIG(process.status);  // a person sends these
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
  });
}

bool RankGroup::is_asked_to_end(double seconds) {
  const auto until = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                               std::chrono::duration<double>(seconds));
  while (!stop_asked_) {
    if (!directory_lost_ && is_directory_gone()) directory_lost_ = true;
    if (directory_lost_) return true;
    const int signal = wait_for_signal(std::min(kGroupLook, seconds_until(until)));
    if (signal != 0 && signal != SIGCHLD) obey(signal);
    if (signal == 0 && seconds_until(until) == 0) break;
  }
  return stop_asked_;
}

runs::End RankGroup::end_between_attempts(const std::string& waited_after) const {
  if (directory_lost_) return end_without_directory();
  return {.state = "stopped",
          .exit_code = kExitStopped,
          .cause = fmt::format("{} by the user while it waited for its restart: {}",
                               kill_asked_ ? "killed" : "stopped", waited_after),
          .finished = unix_now()};
}

int64_t RankGroup::last_step() const {
  int64_t last = 0;
  for (const Process& process : processes_) last = std::max(last, process.word.heard().step);
  return last;
}

std::string RankGroup::how_it_ended(const Process& process) const {
  const int64_t step = process.word.heard().step;
  const std::string after =
      step > 0 ? fmt::format(" after step {}{}", step,
                             work_.steps > 0 ? fmt::format(" of {}", work_.steps) : "")
               : "";
  const int status = process.status;
  if (WIFSIGNALED(status)) return "was killed by " + signal_name(WTERMSIG(status)) + after;
  if (WEXITSTATUS(status) == kExitStopped && !process.failed)
    return "has stopped, as it was asked to";
  if (WEXITSTATUS(status) == 0)
    return fmt::format("left with exit code 0{}, but has not finished its work", after);
  return fmt::format("ended with exit code {}{}", WEXITSTATUS(status), after);
}

runs::End RankGroup::end_of_failed(const Process& failed) const {
  runs::End end{.state = "failed", .rank = failed.rank, .finished = unix_now()};
  const bool signalled = WIFSIGNALED(failed.status);
  end.exit_code = !signalled && WEXITSTATUS(failed.status) == 2 ? 2 : 1;
  if (signalled) end.signal = signal_name(WTERMSIG(failed.status));
  end.cause = telemetry::process_text(failed.rank, how_it_ended(failed));
  // On a full disk its stderr is lost, but not its last word.
  const std::string said = failed.word.heard().cause;
  const std::string line = last_line(said.empty() ? output_of(failed.rank) : said);
  if (!line.empty()) end.cause += ": " + line;
  return end;
}

runs::End RankGroup::end_without_directory() const {
  return {.state = "failed",
          .exit_code = 1,
          .cause = fmt::format("{} is gone: somebody has moved or removed it", run_dir_),
          .finished = unix_now()};
}

runs::End RankGroup::end_without_failure() const {
  runs::End end{.state = "done", .finished = unix_now()};
  for (const Process& process : processes_) {
    if (WIFEXITED(process.status) && WEXITSTATUS(process.status) == 0) continue;
    end.state = "stopped";
    end.exit_code = kExitStopped;
    if (WIFSIGNALED(process.status) &&
        (WTERMSIG(process.status) == SIGKILL || WTERMSIG(process.status) == SIGQUIT))
      end.cause = kill_asked_ ? "killed by the user"
                              : fmt::format("rank {} did not stop within {} and was killed",
                                            process.rank, seconds_text(launch_.grace_seconds));
  }
  return end;
}

void RankGroup::signal_running(int signal) {
  for (const Process& process : processes_) {
    if (process.running) ::kill(-process.id.pid, signal);
  }
}

void RankGroup::terminate(double grace_seconds) {
  if (terminated_) return;
  terminated_ = true;
  kill_at_ = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                       std::chrono::duration<double>(grace_seconds));
  signal_running(SIGTERM);
  // A stopped process handles SIGTERM only once it continues.
  signal_running(SIGCONT);
}

void RankGroup::kill() {
  killed_ = true;
  signal_running(SIGKILL);
}

bool RankGroup::any_running() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const Process& process) { return process.running; });
}

std::vector<runs::State::Rank> RankGroup::ranks() const {
  std::vector<runs::State::Rank> result;
  for (const Process& process : processes_) result.push_back({process.rank, process.id});
  return result;
}

std::vector<RankFlight> RankGroup::flights() const {
  std::vector<RankFlight> flights;
  for (const Process& process : processes_)
    flights.push_back({process.rank, transport::read_flight(process.word.fd(), runs::kFlightAt)});
  return flights;
}

std::string RankGroup::output_of(int32_t rank) const {
  const auto process =
      std::find_if(processes_.begin(), processes_.end(),
                   [&](const Process& candidate) { return candidate.rank == rank; });
  if (process == processes_.end()) return {};
  return tail_of_file(fmt::format("{}/rank-{}.err", run_dir_, rank), process->output_from,
                      kOutputKept);
}

}  // namespace heddle::launch
