// The connection that the user's own ssh holds open to a host (ControlMaster): each program is a
// child `ssh -S` that runs it there. The user has logged in by whatever the host asks for, and ssh
// has checked its key.
#pragma once

#include "remote/connection.h"

namespace heddle::remote {

class MasterConnection final : public Connection {
 public:
  /// `host`: what ssh is called with; the master alone decides where it leads.
  MasterConnection(std::string control_path, std::string host)
      : control_path_(std::move(control_path)), host_(std::move(host)) {}

  Result<std::unique_ptr<Streams>> open(const std::string& host_name, const char* command,
                                        Clock::time_point deadline) override;
  bool is_open() const override;
  std::string error() const override;
  /// The master itself watches the network.
  bool knock() override { return true; }
  bool take_in() override { return is_open(); }
  void hang_up() override { hung_up_ = true; }

 private:
  const std::string control_path_;
  const std::string host_;
  bool hung_up_ = false;
};

}  // namespace heddle::remote
