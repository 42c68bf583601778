#include "workbench/backends/slurm.h"

#include <algorithm>
#include <sstream>

#include "base/clock.h"
#include "base/excerpt.h"
#include "base/number_text.h"
#include "remote/deploy.h"
#include "remote/prelude.h"
#include "remote/probe.h"
#include "remote/slurm.h"
#include "remote/slurm_nodes.h"
#include "remote/start_script.h"
#include "workbench/backends/hosts.h"
#include "workbench/backends/slurm_queue.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

using probe::Status;
using remote::JobPhase;

// Submits once: where the job's number is, or the queue has a job of that comment, it is that one.
// $1: the comment, $2: the run directory of the first part, $3 …: sbatch and its words. The batch
// script is on stdin; of a connection that breaks only its beginning may come. Prints the number.
constexpr const char* kSubmit = R"sh(
script=$(cat)
case $script in
  *'exit "$code"') ;;
  *) echo "the batch script did not come whole" >&2; exit 1 ;;
esac
cd -- "$2" || exit 1
umask 077
comment=$1
shift 2
# Of a job that this shell is part of: orders to sbatch, and to srun in the new job.
for name in $(env | sed -n -e 's/^\(SLURM_[A-Za-z0-9_]*\)=.*/\1/p' -e 's/^\(SRUN_[A-Za-z0-9_]*\)=.*/\1/p'); do
  case $name in SLURM_CONF | SLURM_CLUSTERS) ;; *) unset "$name" ;; esac
done
exec 9>> submit.lock
flock -w 60 9 2> /dev/null  # 1: it is locked; otherwise the file system may have no locks
[ $? != 1 ] || { echo "the run is being submitted already" >&2; exit 1; }
if ! [ -s job ]; then
  queue=$(squeue -h -u "$(id -un)" -o '%i|%k') || exit 1
  id=
  while IFS='|' read -r number said; do
    [ "$said" = "$comment" ] && id=$number
  done <<END
$queue
END
  [ -n "$id" ] || id=$(printf '%s\n' "$script" | "$@") || exit 1
  printf '%s\n' "$id" > job.part && mv -f job.part job || exit 1
fi
cat job
)sh";

// Prints the commands of Slurm that are not there, then Slurm's version, then the kind of the file
// system of $1.
constexpr const char* kLook = R"sh(
for name in sbatch squeue scontrol scancel sinfo; do
  command -v "$name" > /dev/null || printf '%s ' "$name"
done
printf '\n%s\n' "$(sbatch --version 2> /dev/null)"
folder=$1
until [ -e "$folder" ]; do folder=$(dirname -- "$folder"); done
stat -f -c %T -- "$folder"
)sh";

std::string line_of(std::string& text) {
  const size_t end = text.find('\n');
  std::string line = text.substr(0, end);
  text.erase(0, end == std::string::npos ? end : end + 1);
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

/// Whether nodes can see a folder of such a file system, for people: a single machine may be both.
probe::Check shared_folder(const std::string& root, const std::string& kind) {
  for (const char* local : {"ext2/ext3", "xfs", "btrfs", "tmpfs", "overlayfs", "zfs", "ramfs"})
    if (kind == local)
      return {"shared folder", Status::warn, fmt::format("{} is on {}, a local disk", root, kind),
              "the job's nodes must see the same folder: give the target one on the cluster's "
              "shared file system (--root)"};
  return {"shared folder", Status::pass, fmt::format("{} is on {}", root, kind), ""};
}

/// The nodes' equipment in place of the login node's.
void take_over(probe::Report& report, const remote::PartitionNodes& nodes,
               const remote::JobRequest& request) {
  report.cores = request.cpus_per_node > 0 ? request.cpus_per_node : nodes.cores;
  report.memory_bytes = report.available_bytes = nodes.memory_bytes;
  report.shared_memory_bytes = nodes.memory_bytes / 2;  // what Linux makes of /dev/shm
  report.gpu_fault.clear();
  probe::Gpu gpu;
  gpu.name = nodes.gpu_kind.empty() ? "GPU" : nodes.gpu_kind;
  report.gpus.assign(static_cast<size_t>(request.gpus_per_node), gpu);
  std::erase_if(report.checks, [](const probe::Check& check) {
    return check.of_gpus || check.name == "cores" || check.name == "memory" ||
           check.name == "/dev/shm" || check.name == "GPUs" || check.name == "load";
  });
}

std::string text_of(const remote::PartitionNodes& nodes, const remote::JobRequest& request) {
  std::string text = fmt::format("{}: {} node{} of {} cores and {}", nodes.partition, nodes.nodes,
                                 nodes.nodes == 1 ? "" : "s", nodes.cores,
                                 bytes_text(static_cast<double>(nodes.memory_bytes)));
  if (nodes.gpus > 0) text += fmt::format(", {} × {}", nodes.gpus, nodes.gpu_kind);
  return text + fmt::format("; a job takes {}", request.nodes);
}

Result<probe::Report> report_of(remote::Node& node, const remote::Target& target) {
  Result<probe::Report> report = remote::probe_for(node, target);
  if (!report) return report;
  const auto folder = node.expand(target.root);
  if (!folder) return fail(folder);
  Result<std::string> looked = node.run_checked({.argv = {"/bin/sh", "-c", kLook, "sh", *folder}});
  if (!looked) return fail(looked);
  const std::string missing = line_of(*looked), version = line_of(*looked);
  report->gpus.clear();
  if (!missing.empty()) {
    report->checks.push_back({"Slurm", Status::fail, "not in the PATH there: " + missing,
                              "is this the login node? Where a module brings Slurm, load it in a "
                              "file that shells without a terminal read, too"});
    return report;
  }
  report->checks.push_back({"Slurm", Status::pass, version, ""});
  const auto listed = node.run({.argv = remote::sinfo_words()});
  if (!listed) return fail(listed);
  if (listed->exit_code != 0) {
    report->checks.push_back({"partition", Status::fail, "sinfo says: " + excerpt(listed->err, 300),
                              "Slurm's controller may be down: ask its administrators"});
    return report;
  }
  const auto nodes = remote::nodes_for(*target.job, remote::partitions_from(listed->out));
  if (!nodes) {
    report->checks.push_back({"partition", Status::fail, nodes.error().message,
                              "edit the target: heddle targets add … --replace"});
    return report;
  }
  take_over(*report, *nodes, *target.job);
  report->checks.push_back({"partition", Status::pass, text_of(*nodes, *target.job), ""});
  const auto queue = queue_text(node, nodes->partition);
  if (!queue) return fail(queue);
  report->checks.push_back({"queue", Status::pass, *queue, ""});
  report->checks.push_back(shared_folder(*folder, line_of(*looked)));
  return report;
}

/// The number of a part's job; nothing: it was never submitted.
Result<std::optional<std::string>> job_of(remote::Node& node, const Share& share) {
  const auto pieces = node.read({{share.run_dir() + "/" + remote::kJobFile, 0, 64}});
  if (!pieces) return fail(pieces);
  if (!pieces->front()) return std::optional<std::string>{};
  return remote::job_id_from(*pieces->front()).map([](std::string id) {
    return std::optional(std::move(id));
  });
}

/// The last line that the job itself has printed: why its supervisors could not start. srun prints
/// that a task has ended before or after it.
std::string last_words(remote::Node& node, const std::string& run_dir, const std::string& id) {
  const std::string file = fmt::format("{}/slurm-{}.out", run_dir, id);
  const auto pieces = node.read({{file, 0, 1 << 16}});
  if (!pieces || !pieces->front()) return {};
  std::istringstream lines(*pieces->front());
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && (last.empty() || !line.starts_with("srun: "))) last = line;
  if (last.empty()) return {};
  return fmt::format(": {} ({})", excerpt(last, 500), file);
}

/// A job that has just ended by itself is no error.
Result<> scancel(remote::Node& node, const std::string& id, const char* signal) {
  remote::Command command{.argv = {"scancel", id}};
  if (signal) command.argv.insert(command.argv.begin() + 1, std::string("--signal=") + signal);
  const Result<remote::Completed> done = node.run(command);
  if (!done) return fail(done);
  forget_queue(node);
  const auto says = [&](const char* words) { return done->err.find(words) != std::string::npos; };
  // scancel fails without a word where the job has ended.
  if (done->exit_code == 0 || done->err.empty() || says("Invalid job id") ||
      says("already completing"))
    return {};
  return fail("{}: scancel of job {}: {}", node.name(), id, excerpt(done->err, 300));
}

/// Puts what a part's supervisor reads into its run directory.
Result<> prepare_part(const Start& start, size_t part, remote::Node& node) {
  const Share& share = start.place.shares[part];
  runs::Launch launch = start.launch;
  launch.first_rank = share.first_rank;
  launch.local_ranks = share.local_ranks;
  launch.public_addresses = start.place.target.public_addresses;
  if (!start.begin_with.empty()) launch.begin_with = start.begin_with[part];
  const Result<std::string> text = runs::launch_text(launch);
  if (!text) return fail(text);
  const std::string dir = share.run_dir() + "/";
  if (Result<> put = node.put_bytes(*text, dir + "launch.json", 0600); !put) return put;
  return node.put_bytes(start.secret.hex() + "\n", dir + remote::kJobSecret, 0600);
}

remote::BatchJob batch_job(const Start& start) {
  const Share& first = start.place.shares.front();
  remote::BatchJob job{.name = start.launch.run,
                       .comment = "heddle:" + first.folder,
                       .request = *start.place.target.job,
                       .ranks_per_node = first.local_ranks,
                       .goes_on = start.keeps_checkpoints,
                       .engine = first.engine(),
                       .run_dir = first.run_dir()};
  if (remote::has_start_script(start.place.target))
    job.engine = first.run_dir() + "/" + remote::kStartScript;
  if (job.request.nodes > 1) job.run_dir.resize(job.run_dir.size() - 2);  // "-0"
  return job;
}

/// The job's number. May be called again where an answer was lost.
Result<std::string> submit(remote::Node& node, const remote::BatchJob& job) {
  remote::Command command{.argv = {"/bin/sh", "-c", kSubmit, "sh", job.comment, job.part_dir(0)},
                          .input = remote::batch_script(job),
                          .deadline = std::chrono::minutes(3)};
  const std::vector<std::string> words = remote::sbatch_words(job);
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  const Result<remote::Completed> printed = node.run(command);
  if (!printed) return fail(printed);
  if (printed->exit_code != 0)
    return fail("{}: Slurm did not take the job: {}", node.name(), excerpt(printed->err, 1000));
  return remote::job_id_from(printed->out);
}

/// The job's number in the run directories of the other parts; the first one has it already.
Result<> keep_number(remote::Node& node, const remote::BatchJob& job, const std::string& id) {
  for (size_t part = 1; part < static_cast<size_t>(job.request.nodes); ++part)
    if (const Result<> put =
            node.put_bytes(id + "\n", job.part_dir(part) + "/" + remote::kJobFile, 0600);
        !put)
      return put;
  return {};
}

/// The commands for it, one after another.
std::vector<std::vector<std::string>> change_words(const std::string& id, const JobChange& change) {
  std::vector<std::vector<std::string>> commands;
  std::vector<std::string> update{"scontrol", "update", "JobId=" + id};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) update.push_back(key + value);
  };
  add("TimeLimit=", change.time_limit);
  add("Partition=", change.partition);
  add("QOS=", change.qos);
  if (change.nice) add("Nice=", std::to_string(*change.nice));
  if (update.size() > 3) commands.push_back(std::move(update));
  if (change.hold == JobChange::Hold::hold) commands.push_back({"scontrol", "hold", id});
  if (change.hold == JobChange::Hold::release) commands.push_back({"scontrol", "release", id});
  return commands;
}

runs::Status as(runs::Condition condition) {
  runs::Status status;
  status.condition = condition;
  return status;
}

}  // namespace

std::string SlurmCluster::located(const std::string& path, const remote::Host& host) const {
  return fmt::format("{} on {}", path, host.name);
}

std::string SlurmCluster::reached(const remote::Target& target) const {
  return fmt::format("{} answers, the login node of {}", target.hosts[0].name, target.name);
}

Result<std::vector<probe::Report>> SlurmCluster::probe(const remote::Target& target,
                                                       const Nodes& nodes) const {
  Result<probe::Report> report = report_of(*nodes[0], target);
  if (!report) return fail(report);
  return std::vector{std::move(*report)};
}

TargetNow SlurmCluster::check(const remote::Target& target, const Nodes& nodes) const {
  TargetNow now{.target = target};
  if (const Result<> fits = remote::check_plugin(engine_path()); !fits)
    now.plugin_fault = fits.error().message;
  auto report = report_of(*nodes[0], target);
  HostNow host;
  const Result<> looked = report ? look_for_files(host, *nodes[0], target,
                                                  now.plugin_fault.empty() && !report->gpus.empty())
                                 : fail(report);
  if (!looked) {
    now.error = looked.error().message;
    return now;
  }
  host.report = std::move(*report);
  for (size_t part = 0; part < target.parts(); ++part) {
    host.name = target.part_name(part);
    now.hosts.push_back(host);
    // Reports the cluster's faults once; the other parts use the first part's engine.
    host.report.checks.clear();
    host.engine_bytes = host.gpu_engine_bytes = 0;
  }
  return now;
}

Result<> SlurmCluster::start(const Start& start) const {
  remote::Node& node = *start.nodes[0];
  for (size_t part = 0; part < start.place.shares.size(); ++part)
    if (const Result<> prepared = prepare_part(start, part, node); !prepared) return prepared;
  remote::BatchJob job = batch_job(start);
  auto options = remote::srun_options(node, start.place.target);
  if (!options) return fail(options);
  job.srun_options = std::move(*options);
  if (Result<> told = start.tell("submitting to Slurm on " + node.name()); !told) return told;
  Result<std::string> id = submit(node, job);
  std::unique_ptr<remote::Node> again;
  if (!id && !node.connected()) {
    // Only there it is known whether the job is in the queue.
    auto connected = remote::connect(start.place.target, start.place.target.hosts[0]);
    if (!connected)
      return fail(
          "{}; whether the job was submitted is not known: look for the comment {} in "
          "squeue -o '%i %k'",
          id.error().message, job.comment);
    again = std::move(*connected);
    id = submit(*again, job);
  }
  if (!id) return fail(id);
  remote::Node& now = again ? *again : node;
  forget_queue(now);
  Result<> begun = keep_number(now, job, *id);
  if (begun) begun = start.tell(fmt::format("job {} of {}", *id, start.place.target.name));
  if (!begun) (void)scancel(now, *id, nullptr);
  return begun;
}

Result<runs::Status> SlurmCluster::state(remote::Node& node, const Share& share) const {
  using runs::Condition;
  const auto id = job_of(node, share);
  if (!id) return fail(id);
  if (!*id) return as(Condition::absent);
  const auto queued = queued_job(node, **id);
  if (!queued) return fail(queued);
  if (*queued) return as(Condition::running);
  const auto ended = ended_job(node, **id);
  if (!ended) return fail(ended);
  if (*ended && remote::phase_of((*ended)->state) != JobPhase::ended) return as(Condition::running);
  // It has left the queue, and does not come back. One that was cancelled has left its secret.
  if (const Result<> gone = node.remove(share.run_dir() + "/" + remote::kJobSecret); !gone)
    return fail(gone);
  // The supervisor's end file decides.
  const auto end = node.stat(runs::end_file(share.run_dir()));
  if (!end) return fail(end);
  if (*end) return as(Condition::ended);
  if (!*ended) return as(Condition::lost);
  runs::Status status = as(Condition::ended);
  const bool cancelled = remote::was_cancelled(**ended);
  status.end = runs::End{
      .state = cancelled ? "stopped" : "failed",
      .exit_code = cancelled ? 130 : 1,
      .cause = fmt::format("job {} on {}: {}", **id, node.name(), remote::words_of(**ended)),
      .finished = (*ended)->ended.value_or(unix_now())};
  if (!cancelled) status.end->cause += last_words(node, share.run_dir(), **id);
  return status;
}

Result<runs::Status> SlurmCluster::order(remote::Node& node, const Share& share,
                                         Order order) const {
  const auto id = job_of(node, share);
  if (!id) return fail(id);
  if (!*id) return as(runs::Condition::absent);
  const auto queued = queued_job(node, **id, true);
  if (!queued) return fail(queued);
  if (order != Order::checkpoint && share.first_rank == 0)
    if (Result<> put = node.put_bytes("", share.run_dir() + "/" + remote::kStopAsked, 0600); !put)
      return fail(put);
  if (*queued && (*queued)->job.phase() == JobPhase::waiting) {
    if (order == Order::checkpoint)
      return fail("job {} of {} waits in the queue: there is nothing to keep yet", **id,
                  node.name());
    if (const Result<> done = scancel(node, **id, nullptr); !done) return fail(done);
  } else if (*queued && (order == Order::kill || share.first_rank == 0)) {
    // A signal reaches the supervisors of all nodes, and is sent for the first part alone.
    const char* signal = order == Order::stop ? "TERM" : order == Order::kill ? "QUIT" : "USR1";
    if (const Result<> done = scancel(node, **id, signal); !done) return fail(done);
  }
  return state(node, share);
}

Result<Pieces> SlurmCluster::logs(remote::Node& node,
                                  const std::vector<remote::Range>& ranges) const {
  return node.read(ranges);
}

Result<std::optional<Job>> SlurmCluster::job(remote::Node& node, const Share& share) const {
  const auto id = job_of(node, share);
  if (!id) return fail(id);
  if (!*id) return std::optional<Job>{};
  const auto queued = queued_job(node, **id);
  if (!queued) return fail(queued);
  if (!*queued) {
    // It may be younger than the last look at the queue.
    const auto record = ended_job(node, **id);
    if (!record) return fail(record);
    const bool waits = *record && remote::phase_of((*record)->state) == JobPhase::waiting;
    return Job{.id = **id, .waits = waits, .words = waits ? "waits in the queue" : ""};
  }
  const remote::SlurmJob& job = (*queued)->job;
  return Job{.id = **id,
             .waits = job.phase() == JobPhase::waiting,
             .ends = job.state == "COMPLETING",
             .words = remote::words_of(job, (*queued)->position, unix_now())};
}

Result<> SlurmCluster::change(remote::Node& node, const Share& share,
                              const JobChange& change) const {
  const remote::JobRequest asked{
      .partition = change.partition, .qos = change.qos, .time_limit = change.time_limit};
  if (const Result<> valid = remote::check_slurm(asked); !valid) return valid;
  const auto id = job_of(node, share);
  if (!id) return fail(id);
  if (!*id) return fail("{}: the run has not been submitted to Slurm", node.name());
  const auto queued = queued_job(node, **id, true);
  if (!queued) return fail(queued);
  if (!*queued || (*queued)->job.phase() != JobPhase::waiting)
    return fail("job {} on {} does not wait any more: it {}", **id, node.name(),
                *queued ? remote::words_of((*queued)->job, 0, unix_now()) : "has left the queue");
  for (std::vector<std::string>& words : change_words(**id, change)) {
    const auto done = node.run({.argv = std::move(words)});
    if (!done) return fail(done);
    forget_queue(node);
    if (done->exit_code != 0)
      return fail("{}: Slurm did not change job {}: {}", node.name(), **id,
                  excerpt(done->err.empty() ? done->out : done->err, 500));
  }
  return {};
}

}  // namespace heddle::workbench
