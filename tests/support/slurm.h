// A real Slurm for tests: munged, slurmctld and two slurmds on loopback, in process namespaces of
// their own and a temporary folder. This machine is the login node and both compute nodes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "remote/target.h"

namespace heddle::test {

class Slurm {
 public:
  /// Why none can be started here, for QSKIP; empty when one can.
  static std::string missing();

  /// From then on the commands of Slurm that this process runs ask this one.
  static Result<std::unique_ptr<Slurm>> start();
  /// Kills its daemons and jobs, and removes its files.
  ~Slurm();
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  /// Kills "slurmd.n1" or "slurmd.n2", or ends "slurmctld"; the jobs' processes go on.
  void stop(const std::string& daemon) const;
  /// A stopped one; the controller goes on with the jobs that it had.
  void start_again(const std::string& daemon) const;

  /// What all of the cluster's machines share.
  const std::string& folder() const { return folder_; }
  /// The SLURM_CONF of its commands.
  std::string configuration() const { return folder_ + "/slurm.conf"; }

  /// "cluster": this machine as its login node, jobs of `nodes` nodes of the partition "train".
  remote::Target target(int nodes = 1) const;

  /// Has a job start that was put back into the queue; Slurm would wait two minutes. False: it is
  /// not in the queue.
  bool start_now(const std::string& job) const;

  /// A command's stdout; what it says else on stderr, and an empty text.
  std::string ask(const std::vector<std::string>& words) const;

 private:
  explicit Slurm(std::string folder) : folder_(std::move(folder)) {}
  void write_configuration() const;
  Result<> start_daemons();
  Result<> await_nodes() const;

  std::string folder_;
  pid_t pid_ = -1;  // of `unshare`: the daemons and their jobs end with it
};

}  // namespace heddle::test
