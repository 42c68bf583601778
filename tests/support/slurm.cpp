#include "tests/support/slurm.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/process.h"
#include "remote/quote.h"
#include "tests/support/free_port.h"
#include "workbench/queue_pause.h"

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

// Two nodes of four cores, whatever this machine has. Every daemon is root's, there is no
// accounting, and cgroups are not used.
constexpr const char* kConfiguration = R"(
ClusterName=heddle
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=4 RealMemory=32000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=4 RealMemory=32000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=train Nodes=n1,n2 Default=YES State=UP PriorityTier=1
PartitionName=urgent Nodes=n1,n2 State=UP PriorityTier=10 PreemptMode=OFF
PartitionName=closed Nodes=n2 State=DOWN
)";

// $1: the folder. The first process of the daemons' namespace.
constexpr const char* kDaemons = R"sh(
set -e
cd "$1"
munged --foreground --force --num-threads=1 --key-file="$1/munge.key" --socket="$1/munge.socket" \
  --pid-file="$1/munge.pid" --log-file="$1/munge.log" --seed-file="$1/munge.seed" > munged.out 2>&1 &
until [ -S "$1/munge.socket" ]; do sleep 0.05; done
keep() {  # $1: the daemon's name; the rest: its command. NAME.off stops it, NAME.stopped says so.
  name=$1 signal=KILL
  [ "$name" != slurmctld ] || signal=TERM  # it keeps what it knows
  shift
  while :; do
    "$@" >> "$name.out" 2>&1 &
    while [ ! -e "$name.off" ]; do sleep 0.1; done
    kill -$signal $! 2> /dev/null || :
    wait $! 2> /dev/null || :
    : > "$name.stopped"
    while [ -e "$name.off" ]; do sleep 0.1; done
    rm -f "$name.stopped"
  done
}
keep slurmctld slurmctld -D -i &
keep slurmd.n1 slurmd -D -N n1 &
keep slurmd.n2 slurmd -D -N n2 &
wait
)sh";

std::string short_host_name() {
  utsname system{};
  uname(&system);
  const std::string name = system.nodename;
  return name.substr(0, name.find('.'));
}

/// At most half a minute: whoever needs it finds out.
template <typename Done>
bool await(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::string Slurm::missing() {
  if (geteuid() != 0) return "a Slurm for tests needs root: its daemons run in namespaces";
  for (const char* program :
       {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"})
    if (!fs::exists(program)) return fmt::format("{} is not installed (slurm-wlm, munge)", program);
  const auto tried =
      process::run({.argv = {"unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"}});
  if (!tried || tried->exit_code != 0) return "no namespaces here";
  return {};
}

Result<std::unique_ptr<Slurm>> Slurm::start() {
  std::string folder = (fs::temp_directory_path() / "heddle-slurm-XXXXXX").string();
  if (!mkdtemp(folder.data())) return fail("no folder {}: {}", folder, std::strerror(errno));
  std::unique_ptr<Slurm> slurm(new Slurm(folder));
  slurm->write_configuration();
  setenv("SLURM_CONF", slurm->configuration().c_str(), 1);
  workbench::queue_pause = std::chrono::seconds(1);
  if (const Result<> started = slurm->start_daemons(); !started) return fail(started);
  if (const Result<> ready = slurm->await_nodes(); !ready) return fail(ready);
  return slurm;
}

Slurm::~Slurm() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  unsetenv("SLURM_CONF");
  std::error_code error;
  fs::remove_all(folder_, error);
}

void Slurm::write_configuration() const {
  for (const char* name : {"/state", "/shared"}) fs::create_directories(folder_ + name);
  std::ofstream(folder_ + "/slurm.conf")
      << fmt::format(kConfiguration, fmt::arg("host", short_host_name()),
                     fmt::arg("folder", folder_), fmt::arg("controller", free_port()),
                     fmt::arg("first", free_port()), fmt::arg("second", free_port()));
  const std::string key = folder_ + "/munge.key";
  std::array<char, 128> random{};
  std::ifstream("/dev/urandom", std::ios::binary).read(random.data(), random.size());
  std::ofstream(key, std::ios::binary).write(random.data(), random.size());
  fs::permissions(key, fs::perms(0400));
}

Result<> Slurm::start_daemons() {
  // A test that aborts takes them along.
  const std::string line =
      "exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child=KILL --mount-proc "
      "/bin/sh -c " +
      remote::quote(kDaemons) + " sh " + remote::quote(folder_) + " < /dev/null > " +
      remote::quote(folder_ + "/daemons.out") + " 2>&1";
  std::array<char*, 4> argv{const_cast<char*>("/bin/sh"), const_cast<char*>("-c"),
                            const_cast<char*>(line.c_str()), nullptr};
  if (posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0)
    return fail("unshare cannot be started");
  return {};
}

Result<> Slurm::await_nodes() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto nodes = process::run({.argv = {"sinfo", "-h", "-p", "train", "-o", "%D %T"}});
    if (nodes && nodes->out == "2 idle\n") return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail("Slurm's nodes are not ready: {}{}{}", text_of(folder_ + "/munged.out"),
              text_of(folder_ + "/slurmctld.out"), text_of(folder_ + "/slurmd.n1.out"));
}

void Slurm::stop(const std::string& daemon) const {
  const std::string file = folder_ + "/" + daemon;
  std::ofstream(file + ".off") << "";
  await([&] { return fs::exists(file + ".stopped"); });
}

void Slurm::start_again(const std::string& daemon) const {
  const std::string file = folder_ + "/" + daemon;
  fs::remove(file + ".off");
  await([&] {
    if (fs::exists(file + ".stopped")) return false;
    const auto answer = process::run({.argv = {"scontrol", "ping"}});
    return answer && answer->out.find("is UP") != std::string::npos;
  });
}

remote::Target Slurm::target(int nodes) const {
  remote::Target target;
  target.name = "cluster";
  target.hosts = {remote::host_here()};
  target.root = folder_ + "/shared/heddle";
  target.job = {.system = "slurm"};
  target.job->partition = "train";
  target.job->nodes = nodes;
  return target;
}

bool Slurm::start_now(const std::string& job) const {
  const auto is_pending = [&] {
    return ask({"squeue", "-h", "-j", job, "-o", "%T"}) == "PENDING\n";
  };
  if (!await(is_pending)) return false;
  // A node refuses a job of the second in which it ended the attempt before ("credential revoked").
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ask({"scontrol", "update", "JobId=" + job, "StartTime=now"});
  return true;
}

std::string Slurm::ask(const std::vector<std::string>& words) const {
  const auto done = process::run({.argv = words});
  if (done && done->exit_code == 0) return done->out;
  fmt::print(stderr, "{}: {}\n", words[0], done ? done->err : done.error().message);
  return {};
}

}  // namespace heddle::test
