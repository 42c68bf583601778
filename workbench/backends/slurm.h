// A Slurm cluster: one job a run, submitted and watched through the login node; on each of the
// job's nodes a supervisor. The login node and the nodes share the target's root folder.
#pragma once

#include "workbench/backend.h"

namespace heddle::workbench {

class SlurmCluster final : public Backend {
 public:
  std::string kind() const override { return "slurm"; }
  bool runs(const remote::Target& target) const override {
    return target.job && target.job->system == kind();
  }
  bool has_our_files() const override { return false; }
  bool ends_parts() const override { return true; }
  std::string located(const std::string& path, const remote::Host& host) const override;
  std::string reached(const remote::Target& target) const override;
  std::chrono::milliseconds pause() const override { return std::chrono::seconds(1); }

  Result<std::vector<probe::Report>> probe(const remote::Target& target,
                                           const Nodes& nodes) const override;
  TargetNow check(const remote::Target& target, const Nodes& nodes) const override;
  Result<> start(const Start& start) const override;
  Result<runs::Status> state(remote::Node& node, const Share& share) const override;
  Result<runs::Status> order(remote::Node& node, const Share& share, Order order) const override;
  Result<Pieces> logs(remote::Node& node, const std::vector<remote::Range>& ranges) const override;
  Result<std::optional<Job>> job(remote::Node& node, const Share& share) const override;
  Result<std::optional<ClusterNow>> cluster(const remote::Target& target,
                                            remote::Node& node) const override;
  Result<> change(remote::Node& node, const Share& share, const JobChange& change) const override;
};

}  // namespace heddle::workbench
