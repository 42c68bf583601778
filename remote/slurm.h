// Slurm: the words that its commands are given, and what they print, as plain data. No connections
// here. Tried with 22.05; the commands' formats are those since 20.02.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "remote/target.h"

namespace heddle::remote {

/// Names and numbers that sbatch can read; options that do not contradict what Heddle sets.
Result<> check_slurm(const JobRequest& request);

/// A run as a job: on each node one supervisor, started by srun.
struct BatchJob {
  std::string name;     // of the run, [A-Za-z0-9._-]{1,64}
  std::string comment;  // identifies the run: jobs are looked for by it
  JobRequest request;
  int32_t ranks_per_node = 1;
  bool goes_on =
      false;  // it keeps checkpoints: ended for its time limit, it is put into the queue again
  std::string engine;   // all absolute, on the file system that the nodes share
  std::string run_dir;  // of several nodes: RUN_DIR-0, RUN_DIR-1 …
  std::vector<std::string> srun_options = {};  // further ones, as for a container

  /// The run directory of a node's part.
  std::string part_dir(size_t part) const;
};

/// A file of each part's run directory: the run's secret, for as long as its job is not over.
inline constexpr const char* kJobSecret = "job.secret";
/// A file of the first part's run directory: a person has asked the run to end.
inline constexpr const char* kStopAsked = "stop.asked";
/// A file of each part's run directory: the job's number. Where it is, the job was submitted.
inline constexpr const char* kJobFile = "job";

/// The words of `sbatch`, which reads the script on stdin.
std::vector<std::string> sbatch_words(const BatchJob& job);
/// Texts of the job are words of it, in quotes.
std::string batch_script(const BatchJob& job);

/// "1234" of `sbatch --parsable`, which also prints "1234;cluster".
Result<std::string> job_id_from(const std::string& printed);

enum class JobPhase { waiting, running, ended };
/// The phase of a state, in Slurm's words.
JobPhase phase_of(const std::string& state);

/// A line of squeue.
struct SlurmJob {
  std::string id;
  std::string user;
  std::string state;            // PENDING, RUNNING …
  std::string reason;           // why it waits; "None" when it does not
  std::optional<double> start;  // Unix seconds; of a waiting job: when it is expected to start
  std::string time_left;        // "1-02:03:04"
  std::string nodes;            // "n[1-2]"
  std::string partition;
  int64_t priority = 0;
  std::string comment;

  JobPhase phase() const { return phase_of(state); }
};

/// The words of squeue for all jobs, to be run with kSlurmTimes.
std::vector<std::string> squeue_words();
/// In the environment, it makes squeue and scontrol print Unix seconds.
inline constexpr const char* kSlurmTimes = "SLURM_TIME_FORMAT=%s";
/// Lines that are none are left out.
std::vector<SlurmJob> jobs_from(const std::string& squeue);

/// The place of a waiting job among those of its partition, by priority; 1: the next. 0: it is
/// held, or not among them.
int64_t position_of(const SlurmJob& job, const std::vector<SlurmJob>& all);

/// "waits in train for free nodes; position 3", "runs on n[1-2], 4:58 left": for people. `now`:
/// Unix seconds.
std::string words_of(const SlurmJob& job, int64_t position, double now);

/// A job that has left the queue, or that is younger than the last look at it.
struct EndedJob {
  std::string state;  // COMPLETED, FAILED, CANCELLED, TIMEOUT …; of a young one PENDING …
  std::string reason;
  std::string exit_code;        // "1:0"; empty: not known
  std::optional<double> ended;  // Unix seconds
  bool started = true;
};

/// Parses `scontrol -o show job`; nothing where it lists no job.
std::optional<EndedJob> ended_from_scontrol(const std::string& printed);
/// Parses `sacct -n -P -X -o State,ExitCode,Reason`.
std::optional<EndedJob> ended_from_sacct(const std::string& printed);

/// Whether a person, or an administrator, has ended it.
bool was_cancelled(const EndedJob& job);
/// Why a job that left no end of its own is over: what happened, and what to do.
std::string words_of(const EndedJob& job);

}  // namespace heddle::remote
