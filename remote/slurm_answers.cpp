// Reads the output of Slurm's commands.
#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

#include "base/excerpt.h"
#include "base/number_text.h"
#include "remote/slurm.h"
#include "remote/slurm_text.h"

namespace heddle::remote {
namespace {

// The comment last: it may have a '|' in it.
constexpr const char* kQueueFormat = "%i|%u|%T|%r|%S|%L|%N|%P|%Q|%k";
constexpr size_t kQueueFields = 10;

std::optional<double> time_in(const std::string& text) {
  const auto number = number_in(text);
  // "2026-11-27T…": a Slurm that does not know kSlurmTimes.
  if (!number || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return static_cast<double>(*number);
}

bool is_held(const std::string& reason) { return reason.starts_with("JobHeld"); }

/// Slurm's reason in words; its own word where there is none.
std::string reason_text(const std::string& reason) {
  struct Reason {
    const char* slurms;
    const char* ours;
  };
  constexpr Reason reasons[] = {
      {"Resources", "for free nodes"},
      {"Priority", "behind jobs of higher priority"},
      {"JobHeldUser", "and is held by its user"},
      {"JobHeldAdmin", "and is held by an administrator"},
      {"BeginTime", "for its begin time"},
      {"Dependency", "for another job"},
      {"Licenses", "for a licence"},
      {"PartitionDown", "until the partition is up"},
      {"PartitionNodeLimit", "and cannot start: the partition has not as many nodes"},
      {"PartitionTimeLimit", "and cannot start: the partition's time limit is shorter"},
      {"ReqNodeNotAvail", "for nodes that are down or reserved"},
      {"Reservation", "for its reservation"},
      {"None", "to be looked at by Slurm"},
      {"", "to be looked at by Slurm"},
  };
  for (const Reason& each : reasons)
    if (reason == each.slurms) return each.ours;
  return "(" + reason + ")";
}

}  // namespace

Result<std::string> job_id_from(const std::string& printed) {
  const std::string id = printed.substr(0, printed.find_first_of(";\n"));
  if (!id.empty() && id.size() < 20 && id.find_first_not_of("0123456789") == std::string::npos)
    return id;
  return fail("sbatch printed \"{}\" in place of a job's number", excerpt(printed, 200));
}

JobPhase phase_of(const std::string& state) {
  for (const char* waiting :
       {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
    if (state == waiting) return JobPhase::waiting;
  for (const char* running : {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED",
                              "RESIZING", "SIGNALING", "STAGE_OUT"})
    if (state == running) return JobPhase::running;
  return JobPhase::ended;
}

std::vector<std::string> squeue_words() { return {"squeue", "-h", "-o", kQueueFormat}; }

std::vector<SlurmJob> jobs_from(const std::string& squeue) {
  std::vector<SlurmJob> jobs;
  std::istringstream lines(squeue);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields = fields_of(line, kQueueFields);
    if (fields.empty()) continue;
    SlurmJob job;
    job.id = std::move(fields[0]);
    job.user = std::move(fields[1]);
    job.state = std::move(fields[2]);
    job.reason = std::move(fields[3]);
    job.start = time_in(fields[4]);
    job.time_left = std::move(fields[5]);
    job.nodes = std::move(fields[6]);
    job.partition = std::move(fields[7]);
    job.priority = number_in(fields[8]).value_or(0);
    job.comment = std::move(fields[9]);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

int64_t position_of(const SlurmJob& job, const std::vector<SlurmJob>& all) {
  if (job.phase() != JobPhase::waiting || is_held(job.reason)) return 0;
  const auto before = std::ranges::count_if(all, [&](const SlurmJob& other) {
    return other.partition == job.partition && other.phase() == JobPhase::waiting &&
           !is_held(other.reason) && other.priority > job.priority;
  });
  return static_cast<int64_t>(before) + 1;
}

std::string words_of(const SlurmJob& job, int64_t position, double now) {
  if (job.phase() == JobPhase::running) {
    if (job.state == "SUSPENDED" || job.state == "STOPPED")
      return fmt::format("is suspended by Slurm on {}", job.nodes);
    if (job.state == "COMPLETING") return "ends on " + job.nodes;
    if (job.state == "CONFIGURING") return "waits for its nodes, which are being started";
    return job.time_left == "UNLIMITED"
               ? fmt::format("runs on {}, without a time limit", job.nodes)
               : fmt::format("runs on {}, {} left", job.nodes, job.time_left);
  }
  std::string words = fmt::format("waits in {} {}", job.partition, reason_text(job.reason));
  if (position > 0) words += fmt::format("; position {}", position);
  if (job.start && *job.start > now)
    words += fmt::format("; expected to start in {}", seconds_text(*job.start - now));
  return words;
}

std::optional<EndedJob> ended_from_scontrol(const std::string& printed) {
  EndedJob job;
  job.state = value_of(printed, "JobState");
  if (job.state.empty()) return std::nullopt;
  job.reason = value_of(printed, "Reason");
  job.exit_code = value_of(printed, "ExitCode");
  job.ended = time_in(value_of(printed, "EndTime"));
  const std::string nodes = value_of(printed, "NodeList");
  job.started = !nodes.empty() && nodes != "(null)";
  return job;
}

std::optional<EndedJob> ended_from_sacct(const std::string& printed) {
  const std::vector<std::string> fields = fields_of(printed.substr(0, printed.find('\n')), 3);
  if (fields.empty() || fields[0].empty()) return std::nullopt;
  EndedJob job;
  job.state = fields[0].substr(0, fields[0].find(' '));  // "CANCELLED by 1000"
  job.exit_code = fields[1];
  job.reason = fields[2];
  return job;
}

bool was_cancelled(const EndedJob& job) { return job.state == "CANCELLED"; }

std::string words_of(const EndedJob& job) {
  struct State {
    const char* slurms;
    const char* words;
  };
  constexpr State states[] = {
      {"TIMEOUT", "it reached its time limit: give the target a longer one, or resume the run"},
      {"OUT_OF_MEMORY",
       "it took more memory than the job was given: ask for more with the option --mem"},
      {"NODE_FAIL", "a node of it failed: resume the run"},
      {"BOOT_FAIL", "its nodes did not start: launch it again"},
      {"PREEMPTED", "a job of higher priority took its nodes: resume the run"},
      {"DEADLINE", "it reached its deadline"},
  };
  for (const State& state : states)
    if (job.state == state.slurms) return fmt::format("{} ({})", state.words, job.state);
  if (was_cancelled(job))
    return job.started ? "cancelled in Slurm" : "cancelled before it had started";
  return fmt::format("Slurm calls it {}{}{}", job.state,
                     job.exit_code.empty() ? "" : ", exit code " + job.exit_code,
                     job.reason.empty() || job.reason == "None" ? "" : ", " + job.reason);
}

}  // namespace heddle::remote
