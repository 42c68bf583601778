// A program on this machine whose stdin and stdout are the connection to a host: a ProxyCommand,
// or ssh going through a connection that is open already (`ssh -W`).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/socket.h"
#include "remote/carrier.h"
#include "remote/child.h"

namespace heddle::remote {

class Proxy final : public Carrier {
 public:
  /// `words`: what messages call the program.
  static Result<std::unique_ptr<Proxy>> start(const std::vector<std::string>& argv,
                                              std::string words);
  /// The same by the user's shell, as ssh does it.
  static Result<std::unique_ptr<Proxy>> start_command(const std::string& command);
  /// Ends the program with all that it started, and waits for it.
  ~Proxy() override;

  int take_socket() override;
  /// Its exit code and what it said on stderr, where it has ended by itself within a moment.
  std::string why_ended() override;

 private:
  Proxy(Child child, Socket near_end, Socket stderr_end, std::string words);
  void hear();

  const std::string words_;
  Socket near_;
  Socket stderr_;
  std::atomic<bool> ending_{false}, heard_all_{false};
  std::mutex mutex_;  // of said_
  std::string said_;  // the beginning of its stderr
  std::thread hearing_;
  std::optional<Child> child_;  // first to go
};

}  // namespace heddle::remote
