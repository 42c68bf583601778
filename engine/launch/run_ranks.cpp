#include "engine/launch/run_ranks.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/excerpt.h"
#include "base/file_lock.h"
#include "base/process_id.h"
#include "base/read_file.h"
#include "base/say.h"
#include "engine/launch/admission.h"
#include "engine/launch/choose_device.h"
#include "engine/launch/end_proof.h"
#include "engine/launch/flight_report.h"
#include "engine/launch/rank_group.h"
#include "engine/launch/restarts.h"
#include "engine/launch/tokenizing.h"
#include "engine/probe/gpus_here.h"
#include "engine/recipe/fault_lines.h"
#include "engine/recipe/parse.h"
#include "engine/runs/rendezvous.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/log_writer.h"

namespace heddle::launch {
namespace {

// JSON spells a byte with six characters at most.
constexpr size_t kMaxShownCause = 4000;
constexpr int64_t kEndBytes = 6 * kMaxShownCause + 2048;
constexpr size_t kMaxRestartCause = 500;
constexpr int64_t kStateBytes = 1024, kRankBytes = 128;

/// The run directory is one process's.
Result<FileLock> hold(const std::string& run_dir) {
  Result<FileLock> lock = FileLock::take(run_dir + "/lock");
  if (!lock) return lock;
  switch (lock->state()) {
    case FileLock::State::held:
      return lock;
    case FileLock::State::of_another:
      return fail("{}: a run is going on in it ({}); stop that first, or take another folder",
                  run_dir, lock->holder());
    case FileLock::State::impossible:
      break;
  }
  return fail("{}: cannot be locked: its file system has no locks", run_dir);
}

Result<> forget_earlier_attempt(const std::string& run_dir) {
  for (const char* name : {"state.json", "end.json", "results.json", "secret"}) {
    const std::string path = run_dir + "/" + name;
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return fail("{}: {}", path, strerror(errno));
  }
  return {};
}

/// supervisor.E.hlog. A log that cannot be written does not stop the ranks; stderr says so.
class SupervisorLog {
 public:
  explicit SupervisorLog(telemetry::LogWriter writer) : writer_(std::move(writer)) {
    writer_.outlive_full_disk();
  }

  void append(const telemetry::Record& record) {
    if (const Result<> appended = writer_.append(record); !appended) {
      say(stderr, "{}\n", appended.error().message);
    }
  }
  void line(telemetry::Level level, const std::string& text) {
    append(telemetry::Log{unix_now(), level, text});
  }
  void end(const runs::End& end) {
    append(telemetry::End{end.finished, end.state, excerpt(end.cause, kMaxShownCause), {}});
    if (const Result<> synced = writer_.sync(); !synced) {
      say(stderr, "{}\n", synced.error().message);
    }
  }

 private:
  telemetry::LogWriter writer_;
};

telemetry::Start start_record(const runs::Launch& launch) {
  telemetry::Start start;
  start.time = unix_now();
  start.rank = telemetry::kSupervisorRank;
  start.world_size = launch.world_size;
  start.mode = launch.mode;
  utsname system{};
  if (uname(&system) == 0) start.environment["host"] = system.nodename;
  return start;
}

runs::End refused_end(const std::string& cause) {
  return {.state = "failed", .exit_code = 2, .cause = cause, .finished = unix_now()};
}

/// Tells what is scarce on this host; an end where it is too scarce to start.
std::optional<runs::End> admit(const std::string& run_dir, const runs::Launch& launch,
                               SupervisorLog& log) {
  std::string refusal;
  for (const probe::Check& check : admission_of(run_dir, launch)) {
    const std::string line = line_of(check);
    if (check.status != probe::Status::fail) {
      log.line(telemetry::Level::warning, line);
      continue;
    }
    refusal += fmt::format("{}hardware.{}: {}", refusal.empty() ? "" : "\n",
                           check.of_gpus ? "device" : "ranks", line);
  }
  if (refusal.empty()) return std::nullopt;
  return refused_end(refusal);
}

/// The run's secret in the run directory, as long as this exists.
class SecretFile {
 public:
  explicit SecretFile(std::string path) : path_(std::move(path)) {}
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
  ~SecretFile() { remove(); }

  Result<> write(const Secret& secret) { return write_secret(path_, secret); }
  void remove() { unlink(path_.c_str()); }

 private:
  std::string path_;
};

/// One host's ranks are given one of their own.
Result<Secret> secret_of(const runs::Launch& launch, const std::optional<Secret>& given) {
  if (given) return *given;
  if (launch.local_ranks == launch.world_size) return Secret::make();
  return fail(
      "a run on several hosts needs a secret that its hosts share and nobody else knows; the "
      "same 64 hexadecimal digits for each on stdin, with --secret-stdin, give it one");
}

/// Replaces "auto" by the chosen device in the recipe that the ranks will read: true for GPUs.
Result<bool> settle_device(const std::string& run_dir, const runs::Launch& launch,
                           const recipe::Recipe& recipe, const std::string& engine,
                           SupervisorLog& log) {
  DeviceChoice choice;
  // Each of several hosts sees only its own GPUs.
  if (launch.local_ranks == launch.world_size)
    choice = choose_device({probe::gpus_here(engine)}, launch.local_ranks,
                           recipe.transport.gpus == "host");
  else
    choice.why =
        "on the CPU: the ranks of several hosts need to be told the same device; valid: "
        "hardware.device = \"cpu\" or \"cuda\"";
  log.line(telemetry::Level::info, "hardware.device = \"auto\": " + choice.why);
  const std::string file = run_dir + "/recipe.toml";
  const Result<std::string> text = read_named_file(file, recipe::kMaxRecipeBytes);
  if (!text) return fail(text);
  return recipe::with_key(*text, "hardware.device", choice.gpus ? "\"cuda\"" : "\"cpu\"")
      .and_then([&](const std::string& settled) { return write_atomically(file, settled); })
      .map([&] { return choice.gpus; });
}

/// The recipe's settings for starting ranks; a run without a recipe trains nothing.
Result<RanksWork> work_of(const std::string& run_dir, const runs::Launch& launch,
                          const std::string& engine, SupervisorLog& log) {
  const std::string file = run_dir + "/recipe.toml";
  if (!std::filesystem::exists(file)) return RanksWork{};
  const recipe::Parsed parsed = recipe::parse_file(file);
  if (!parsed.ok()) return fail("{}", recipe::lines_of(parsed.faults));
  RanksWork work;
  if (runs::trains(launch)) {
    work.steps = parsed.recipe.training.steps;
    work.restart = parsed.recipe.restart;
  }
  work.timeouts = parsed.recipe.timeouts;
  work.encrypts = parsed.recipe.transport.encrypt;
  work.on_gpus = parsed.recipe.hardware.device == "cuda";
  if (!launch.device_choice.empty()) log.line(telemetry::Level::info, launch.device_choice);
  if (parsed.recipe.hardware.device == "auto") {
    const Result<bool> gpus = settle_device(run_dir, launch, parsed.recipe, engine, log);
    if (!gpus) return fail(gpus);
    work.on_gpus = *gpus;
  }
  return work;
}

/// The process that makes the tokens its ranks read.
Result<Tokenizing> tokenizing_of(const std::string& run_dir, const runs::Launch& launch,
                                 const std::string& engine) {
  const std::string file = run_dir + "/recipe.toml";
  if (launch.mode == "calibrate" || !std::filesystem::exists(file)) return Tokenizing{};
  const recipe::Parsed parsed = recipe::parse_file(file);
  return parsed.ok() ? Tokenizing::start(parsed.recipe, engine, run_dir) : Tokenizing{};
}

/// The line that rank 0 leaves when it has finished its work; its newline marks it as whole.
Result<> look_for_results(const std::string& run_dir) {
  const std::string path = run_dir + "/results.json";
  if (!std::filesystem::is_regular_file(path)) return fail("there is no {}", path);
  if (tail_of_file(path, 0, 2) != "}\n") return fail("{} is cut short", path);
  return {};
}

/// The end, with what shows that it is of this run. Its cause fits into the room that is reserved.
Result<runs::End> proven(runs::End end, const std::string& run_dir, const runs::Launch& launch,
                         const Secret& secret) {
  end.cause = excerpt(end.cause, kMaxShownCause);
  auto signature = prove(end,
                         {.folder = std::filesystem::path(run_dir).filename(),
                          .epoch = launch.epoch,
                          .first_rank = launch.first_rank,
                          .local_ranks = launch.local_ranks},
                         secret);
  if (!signature) return fail(signature);
  end.signature = std::move(*signature);
  return end;
}

/// A run in its folder; its launch is known, and so is its secret.
struct Held {
  const std::string& run_dir;
  const runs::Launch& launch;
  const Secret& secret;
};

/// Into the room, as long as there is one.
Result<> write_end(const Held& held, std::optional<NewFile>& room, const runs::End& end) {
  const Result<runs::End> signed_end = proven(end, held.run_dir, held.launch, held.secret);
  if (!signed_end) return fail(signed_end);
  if (!room) return runs::write_end(held.run_dir, *signed_end);
  return runs::write_end(*std::exchange(room, std::nullopt), held.run_dir, *signed_end);
}

/// Leaves what the ranks that have failed were in last. The end of one that hung or gave up says
/// where they part; of one that was killed that is no cause.
void leave_flights(const std::string& run_dir, const RankGroup& group, runs::End& end,
                   const RankGroup::Log& log) {
  if (end.state != "failed" || end.rank < 0) return;
  const std::vector<RankFlight> flights = group.flights();
  const bool none =
      std::ranges::all_of(flights, [](const RankFlight& flight) { return flight.entries.empty(); });
  if (none) return;
  const std::string file = flight_file(run_dir);
  const Result<> left = write_atomically(file, flight_text(flights, end.cause));
  const std::string difference = first_difference(flights);
  const std::string part = difference.empty() ? "" : "; they differ first at " + difference;
  if (left)
    log(telemetry::Level::info, fmt::format("the ranks' last collectives are in {}{}", file, part));
  else
    log(telemetry::Level::warning, left.error().message + part);
  if (!difference.empty() && end.signal.empty())
    end.cause += "; the ranks differ first at " + difference;
}

/// Another attempt of the ranks, which learn from launch.json that it is one.
Result<> start_again(const std::string& run_dir, runs::Launch launch, const Restart& restart,
                     RankGroup& group, const RankGroup::Log& log) {
  launch.restarts = restart.count;
  launch.restart_cause = excerpt(restart.cause, kMaxRestartCause);
  if (const Result<> written = runs::write_launch(run_dir, launch); !written) return written;
  if (const Result<> started = group.start(); !started) return started;
  const runs::State state{identify(getpid()), boot_id(), launch.epoch, group.port(), group.ranks()};
  // Its pids are for people; a full disk takes nothing else.
  if (const Result<> written = runs::write_state(run_dir, state); !written)
    log(telemetry::Level::warning, written.error().message);
  return {};
}

/// `room`: set aside here for end.json.
Result<RanksOutcome> run_held(const Held& held, const std::string& engine, double spawned_at,
                              const std::function<void(const runs::State&)>& started,
                              std::optional<NewFile>& room) {
  const auto& [run_dir, launch, secret] = held;
  // The record of how the run ended must not depend on the room that is left then.
  Result<NewFile> for_end = reserve(runs::end_file(run_dir), kEndBytes);
  if (!for_end) return fail(for_end);
  room.emplace(std::move(*for_end));
  Result<NewFile> for_state =
      reserve(runs::state_file(run_dir), kStateBytes + kRankBytes * launch.local_ranks);
  if (!for_state) return fail(for_state);
  Result<telemetry::LogWriter> writer =
      telemetry::LogWriter::open(fmt::format("{}/supervisor.{}.hlog", run_dir, launch.epoch));
  if (!writer) return fail(writer);
  SupervisorLog log(std::move(*writer));
  log.append(start_record(launch));

  const auto write = [&](const runs::End& end) -> Result<> {
    log.end(end);
    const Result<> written = write_end(held, room, end);
    if (written) return {};
    return fail("{}; and its end cannot be kept: {}",
                end.cause.empty() ? "the run is " + end.state : end.cause, written.error().message);
  };
  const Result<RanksWork> work = work_of(run_dir, launch, engine, log);
  std::optional<runs::End> refusal = admit(run_dir, launch, log);
  if (!work && !refusal) refusal = refused_end(work.error().message);
  if (refusal) {
    if (const Result<> written = write(*refusal); !written) return fail(written);
    return RanksOutcome{*refusal, refusal->cause + "\n"};
  }
  SecretFile secret_file(runs::secret_file(run_dir));
  if (Result<> written = secret_file.write(secret); !written) return fail(written);
  const auto told = [&](telemetry::Level level, const std::string& text) { log.line(level, text); };
  RankGroup group(engine, run_dir, launch, *work, spawned_at, told);
  const Result<Tokenizing> tokenizing = tokenizing_of(run_dir, launch, engine);
  Result<> up = tokenizing ? group.start() : fail(tokenizing);
  if (up) {
    const runs::State state{identify(getpid()), boot_id(), launch.epoch, group.port(),
                            group.ranks()};
    up = runs::write_state(std::move(*for_state), run_dir, state);
    if (up && started) started(state);
  }
  if (!up) {
    log.end(
        {.state = "failed", .exit_code = 1, .cause = up.error().message, .finished = unix_now()});
    return fail(up);
  }
  runs::End end = group.run();
  leave_flights(run_dir, group, end, told);
  Restarts restarts(launch, *work, secret, group, told);
  while (const std::optional<Restart> next = restarts.after(end)) {
    remove_leftovers(run_dir + "/results.json");
    const Result<> again = start_again(run_dir, launch, *next, group, told);
    restarts.tell_others(again);
    if (again) {
      end = group.run();
      leave_flights(run_dir, group, end, told);
      continue;
    }
    end.cause += "; it cannot be restarted: " + again.error().message;
    break;
  }
  secret_file.remove();  // nobody finds it next to an end
  remove_leftovers(run_dir + "/results.json");
  if (end.state == "done" && launch.first_rank == 0 && runs::trains(launch))
    if (const Result<> there = look_for_results(run_dir); !there)
      end = {.state = "failed",
             .exit_code = 1,
             .cause = "rank 0 has finished, but what it measured is lost: " + there.error().message,
             .rank = 0,
             .finished = end.finished};
  if (const Result<> written = write(end); !written) return fail(written);
  return RanksOutcome{end, end.rank >= 0 ? group.output_of(end.rank) : ""};
}

}  // namespace

Result<RanksOutcome> run_ranks(const std::string& run_dir, const std::string& engine,
                               double spawned_at, const std::optional<Secret>& secret,
                               const std::function<void(const runs::State&)>& started) {
  const Result<FileLock> lock = hold(run_dir);
  if (!lock) return fail(lock);
  if (const Result<> forgotten = forget_earlier_attempt(run_dir); !forgotten)
    return fail(forgotten);
  const Result<runs::Launch> launch = runs::read_launch(run_dir);
  const Result<Secret> known = launch ? secret_of(*launch, secret) : fail(launch);
  const std::optional<Held> held =
      known ? std::optional<Held>({run_dir, *launch, *known}) : std::nullopt;
  std::optional<NewFile> room;
  Result<RanksOutcome> outcome =
      held ? run_held(*held, engine, spawned_at, started, room) : fail(known);
  if (!outcome) {
    // People who follow the run find the cause; when even this cannot be written, the caller
    // still has it.
    const runs::End end{.state = "failed",
                        .exit_code = 1,
                        .cause = outcome.error().message,
                        .finished = unix_now()};
    const Result<> written = held ? write_end(*held, room, end) : runs::write_end(run_dir, end);
    if (!written) say(stderr, "{}\n", written.error().message);
  }
  return outcome;
}

}  // namespace heddle::launch
