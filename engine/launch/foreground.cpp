#include "engine/launch/foreground.h"

#include <errno.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/read_file.h"
#include "base/say.h"
#include "engine/launch/run_ranks.h"
#include "engine/runs/engine_program.h"

namespace heddle::launch {
namespace {

namespace fs = std::filesystem;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

/// The folder a run is given, made when absent; a temporary one goes when the run is over.
class RunDir {
 public:
  static Result<RunDir> make(const std::string& wanted) {
    if (wanted.empty()) {
      const char* set = getenv("TMPDIR");
      std::string path = std::string(set && *set ? set : "/tmp") + "/heddle-run-XXXXXX";
      if (mkdtemp(path.data()) == nullptr)
        return fail("{}: {}; valid: --run-dir DIR, or a $TMPDIR that can be written to", path,
                    strerror(errno));
      return RunDir(path, true);
    }
    std::error_code error;
    fs::create_directories(wanted, error);
    if (error)
      return fail("--run-dir: {} cannot be made: {}; valid: a folder that can be written to",
                  wanted, error.message());
    return RunDir(fs::absolute(wanted).lexically_normal().string(), false);
  }
  RunDir(RunDir&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}
  RunDir(const RunDir&) = delete;
  RunDir& operator=(const RunDir&) = delete;
  ~RunDir() {
    std::error_code ignored;
    if (temporary_) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  RunDir(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  std::string path_;
  bool temporary_;
};

/// One more than the attempt that the folder holds.
Result<int32_t> next_epoch(const std::string& run_dir) {
  if (!fs::exists(run_dir + "/launch.json")) return 0;
  return runs::read_launch(run_dir).map(
      [](const runs::Launch& launch) { return launch.epoch + 1; });
}

/// Writes the files that a run is started from; the number of the attempt.
Result<int32_t> prepare(const std::string& run_dir, const TrainOptions& options) {
  const Result<runs::Status> status = runs::read_status(run_dir);
  if (!status) return fail(status);
  if (status->condition == runs::Condition::running) {
    return fail("{}: a run is going on in it; stop that first, or take another folder", run_dir);
  }
  const Result<int32_t> epoch = next_epoch(run_dir);
  if (!epoch) return fail(epoch);
  runs::Launch launch;
  launch.run = "train";
  launch.mode = options.mode;
  launch.graph_file = options.graph_file;
  launch.eval_to = options.eval_to;
  launch.world_size = launch.local_ranks = options.ranks;
  launch.epoch = *epoch;
  for (const Result<>& written : {runs::write_launch(run_dir, launch),
                                  write_atomically(run_dir + "/recipe.toml", options.recipe_text)})
    if (!written)
      return fail(
          "{}; valid: a run directory (--run-dir) on a disk with room, that can be written to",
          written.error().message);
  return epoch;
}

void report_kept(const TrainOptions& options, const std::string& run_dir) {
  if (!options.run_dir.empty()) {
    tell_line(options.tell, telemetry::Level::info, "logs and results: " + run_dir);
  } else if (!options.keeps_checkpoints) {
    tell_line(options.tell, telemetry::Level::warning,
              "nothing of this run is kept: --run-dir DIR keeps its log and its checkpoints, --set "
              "checkpoint.folder=DIR its checkpoints");
  }
}

constexpr size_t kMaxResults = size_t{256} << 20;  // every step's loss is in it

void print_file(const std::string& path) {
  const std::string text = read_file(path, kMaxResults).value_or("");
  say("{}", text);
  if (!text.empty() && text.back() != '\n') say("\n");
}

int fail_with(int exit_code, const Error& error) {
  say(stderr, "{}\n", error.message);
  return exit_code;
}

}  // namespace

int run_foreground(const TrainOptions& options) {
  umask(077);  // of all that the run writes
  const double begun = options.spawned_at > 0 ? options.spawned_at : unix_now();
  const Result<RunDir> run_dir = RunDir::make(options.run_dir);
  if (!run_dir) return fail_with(kExitUsage, run_dir.error());
  const Result<int32_t> epoch = prepare(run_dir->path(), options);
  if (!epoch) return fail_with(kExitUsage, epoch.error());
  report_kept(options, run_dir->path());
  const std::string engine = options.engine.empty() ? runs::engine_program() : options.engine;
  const Result<RanksOutcome> outcome = [&] {
    const Teller teller({options.tell, run_dir->path(), *epoch, options.steps});
    return run_ranks(run_dir->path(), engine, begun, {}, {});
  }();
  if (!outcome) return fail_with(kExitFailed, outcome.error());
  print_file(run_dir->path() + "/results.json");
  fflush(stdout);
  const runs::End& end = outcome->end;
  say(stderr, "{}", outcome->failed_output);
  // A bad recipe's own lines say all there is to say.
  if (!end.cause.empty() && end.exit_code != kExitUsage) say(stderr, "{}\n", end.cause);
  return end.exit_code;
}

}  // namespace heddle::launch
