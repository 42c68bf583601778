// Places whose hosts Heddle reaches itself: a supervisor on each, started and queried over its
// node.
#pragma once

#include "workbench/backend.h"

namespace heddle::workbench {

/// Finds the parts of the engine and of inputs that a host already has.
Result<> look_for_files(HostNow& host, remote::Node& node, const remote::Target& target,
                        bool for_gpus_too);

class Hosts : public Backend {
 public:
  Result<std::vector<probe::Report>> probe(const remote::Target& target,
                                           const Nodes& nodes) const override;
  TargetNow check(const remote::Target& target, const Nodes& nodes) const override;
  Result<> start(const Start& start) const override;
  Result<runs::Status> state(remote::Node& node, const Share& share) const override;
  Result<runs::Status> order(remote::Node& node, const Share& share, Order order) const override;
  Result<Pieces> logs(remote::Node& node, const std::vector<remote::Range>& ranges) const override;
};

class ThisMachine final : public Hosts {
 public:
  std::string kind() const override { return "local"; }
  bool runs(const remote::Target& target) const override;
  bool has_our_files() const override { return true; }
  std::string located(const std::string& path, const remote::Host& host) const override;
  std::string reached(const remote::Target& target) const override;
  std::chrono::milliseconds pause() const override { return std::chrono::milliseconds(200); }
};

class SshHosts : public Hosts {
 public:
  std::string kind() const override { return "ssh"; }
  bool runs(const remote::Target&) const override { return true; }  // listed last
  bool has_our_files() const override { return false; }
  std::string located(const std::string& path, const remote::Host& host) const override;
  std::string reached(const remote::Target& target) const override;
  std::chrono::milliseconds pause() const override { return std::chrono::milliseconds(500); }
};

}  // namespace heddle::workbench
