#include "remote/slurm.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/excerpt.h"
#include "remote/quote.h"

namespace heddle::remote {
namespace {

/// From the signal to the end of the job: a step, a checkpoint, and a minute in which Slurm may be
/// early or late.
constexpr int kSecondsBeforeEnd = 120;

/// Options of sbatch that would contradict ours, or that have a field of their own.
constexpr std::array kOwnOptions{
    "account",    "array",  "chdir",           "comment",   "cpus-per-task", "error",
    "gres",       "gpus",   "gpus-per-node",   "input",     "job-name",      "nodes",
    "no-requeue", "ntasks", "ntasks-per-node", "open-mode", "output",        "parsable",
    "partition",  "qos",    "requeue",         "signal",    "test-only",     "time",
    "wait",       "wrap"};

bool is_printable(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

/// Names of partitions, accounts and QOS; partitions also as a list.
Result<> check_name(const char* field, const std::string& text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-,@+";
  if (text.find_first_not_of(allowed) == std::string::npos && !text.starts_with('-')) return {};
  return fail("{} \"{}\"; valid: a name as sinfo or sacctmgr show it", field, excerpt(text, 80));
}

/// "90", "30:00", "4:00:00", "2-12", "2-12:30:00".
bool is_time_limit(const std::string& text) {
  int digits = 0, colons = 0, dashes = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      ++digits;
      continue;
    }
    if (digits == 0 || (c != ':' && c != '-')) return false;
    if (c == '-' && (colons > 0 || ++dashes > 1)) return false;
    if (c == ':' && ++colons > 2) return false;
    digits = 0;
  }
  return digits > 0;
}

Result<> check_option(const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  const bool is_option = name.starts_with("--") && name.size() > 2 &&
                         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
  if (!is_option || !is_printable(option))
    return fail("option \"{}\"; valid: --NAME or --NAME=VALUE of sbatch, one each",
                excerpt(option, 80));
  // sbatch takes beginnings of names as well.
  const std::string word = name.substr(2);
  for (const std::string_view own : kOwnOptions)
    if (word == own || (word.size() >= 3 && own.starts_with(word)))
      return fail("option \"{}\": Heddle sets --{} itself", excerpt(option, 80), own);
  return {};
}

// Each node's part. $1: the engine, $2: the run directory, $3: the number of nodes. Where Slurm has
// lost a node, processes of the earlier attempt may still run there; they stop, since their
// state.json is gone.
constexpr const char* kNodeScript = R"sh(
part=$2
[ "$3" = 1 ] || part=$2-$SLURM_NODEID
[ ! -e "$part/lock" ] || flock -w 900 "$part/lock" true 2> /dev/null || :
if [ "$3" = 1 ]; then
  exec "$1" supervise --attached --secret-stdin --run-dir "$2" < "$2/job.secret"
fi
exec "$1" supervise --attached --secret-stdin --run-dir "$2-$SLURM_NODEID" --first-run-dir "$2-0" \
  --rendezvous-host "$SLURM_LAUNCH_NODE_IPADDR" < "$2-$SLURM_NODEID/job.secret"
)sh";

// $1: the engine, $2: the run directory, $3: the number of nodes, $4: the run directory of the
// first part, $5: 1 where it goes on by itself. A job that is cancelled ends with this script, by
// SIGTERM, so that nothing but the signal before the time limit, which only the steps get, leads to
// the end.
constexpr const char* kJobScript = R"sh(
umask 077
cd -- "$4" || exit 1
# Who submitted it may not have heard the number.
[ -s job ] || { printf '%s\n' "$SLURM_JOB_ID" > job.part && mv -f job.part job; }
# On a node that Slurm has lost, the script of an earlier attempt may still run.
attempt=${SLURM_RESTART_COUNT:-0}
printf '%s\n' "$attempt" > attempt
for_each_part() {  # $1: a command that is given a run directory; the rest: of this script
  part=0
  while [ "$part" -lt "$4" ]; do
    if [ "$4" = 1 ]; then "$1" "$3"; else "$1" "$3-$part"; fi
    part=$((part + 1))
  done
}
# The other nodes wait for the first one's state.
forget_attempt() { rm -f -- "$1/state.json" "$1/end.json"; }
for_each_part forget_attempt "$@"
newest() { ls checkpoints 2> /dev/null | sort -V | tail -n 1; }
before=$(newest)
srun_here --nodes="$3" --ntasks="$3" --ntasks-per-node=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  --kill-on-bad-exit=0 /bin/sh -c "$node" sh "$1" "$2" "$3"
code=$?
[ "$(cat attempt)" = "$attempt" ] || exit "$code"
# All of it has stopped though nobody asked it to, and has got further than the last time.
goes_on=$5
[ -e stop.asked ] || [ "$(newest)" = "$before" ] && goes_on=0
has_stopped() { grep -qs '"state":"stopped"' "$1/end.json" || goes_on=0; }
for_each_part has_stopped "$@"
prelude_fault() {  # nothing was started there
  [ -e "$1/prelude.log" ] || return 0
  ended=$(cat "$1/prelude.code" 2> /dev/null)
  [ "$ended" = 0 ] && return 0
  code=1
  printf 'the prelude %s; it printed last "%s" (%s)\n' \
    "${ended:+ended with code }${ended:-has ended the shell (exit, exec or set -e in it)}" \
    "$(tail -n 1 "$1/prelude.log")" "$1/prelude.log"
}
for_each_part prelude_fault "$@"
if [ "$goes_on" = 1 ]; then scontrol requeue "$SLURM_JOB_ID" && exit 0; fi
# Slurm puts back a job whose node it has lost: the next attempt needs the secret.
forget_secret() { rm -f -- "$1/job.secret"; }
[ "$(squeue -h -j "$SLURM_JOB_ID" -o %T 2> /dev/null)" = RUNNING ] && for_each_part forget_secret "$@"
exit "$code"
)sh";

}  // namespace

Result<> check_slurm(const JobRequest& request) {
  if (const Result<> named = check_name("partition", request.partition); !named) return named;
  if (const Result<> named = check_name("account", request.account); !named) return named;
  if (const Result<> named = check_name("QOS", request.qos); !named) return named;
  if (!request.time_limit.empty() && !is_time_limit(request.time_limit))
    return fail("time limit \"{}\"; valid: minutes, hours:minutes:seconds, days-hours",
                excerpt(request.time_limit, 80));
  if (request.nodes < 1 || request.nodes > 10'000)
    return fail("nodes {}; valid: 1 to 10,000", request.nodes);
  if (request.gpus_per_node < 0 || request.gpus_per_node > 64)
    return fail("GPUs a node {}; valid: 0 to 64", request.gpus_per_node);
  if (request.cpus_per_node < 0 || request.cpus_per_node > 10'000)
    return fail("CPUs a node {}; valid: 0 (one for each rank) to 10,000", request.cpus_per_node);
  for (const std::string& option : request.options)
    if (const Result<> checked = check_option(option); !checked) return checked;
  return {};
}

std::string BatchJob::part_dir(size_t part) const {
  return request.nodes == 1 ? run_dir : fmt::format("{}-{}", run_dir, part);
}

std::vector<std::string> sbatch_words(const BatchJob& job) {
  const JobRequest& request = job.request;
  const int32_t cpus = request.cpus_per_node > 0 ? request.cpus_per_node : job.ranks_per_node;
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--job-name=heddle-" + job.name,
                                 "--comment=" + job.comment,
                                 fmt::format("--nodes={}", request.nodes),
                                 "--ntasks-per-node=1",
                                 fmt::format("--cpus-per-task={}", cpus),
                                 "--chdir=" + job.part_dir(0),
                                 "--output=slurm-%j.out",
                                 "--open-mode=append",
                                 job.goes_on ? "--requeue" : "--no-requeue",
                                 fmt::format("--signal=TERM@{}", kSecondsBeforeEnd)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  add("--partition=", request.partition);
  add("--account=", request.account);
  add("--qos=", request.qos);
  add("--time=", request.time_limit);
  if (request.gpus_per_node > 0)
    words.push_back(fmt::format("--gres=gpu:{}", request.gpus_per_node));
  words.insert(words.end(), request.options.begin(), request.options.end());
  return words;
}

std::string batch_script(const BatchJob& job) {
  std::string srun = "srun";
  for (const std::string& option : job.srun_options) srun += " " + quote(option);
  return fmt::format("#!/bin/sh\nset -- {} {} {} {} {}\nnode={}\nsrun_here() {{ {} \"$@\"; }}\n{}",
                     quote(job.engine), quote(job.run_dir), job.request.nodes,
                     quote(job.part_dir(0)), job.goes_on ? 1 : 0, quote(kNodeScript), srun,
                     kJobScript);
}

}  // namespace heddle::remote
