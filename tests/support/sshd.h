// A real sshd for tests: on a loopback port, with its own host key and authorized key, in
// namespaces of its own. What it serves is a bare node: the system's programs and libraries, an
// empty home, and nothing else of this machine: no checkout, no build, no LibTorch, no /usr/local.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "remote/connect.h"
#include "remote/target.h"

namespace heddle::test {

struct SshdOptions {
  std::string login_shell = "/bin/sh";
  /// The home is a file system of this size; 0: a folder, see node_home().
  uint64_t home_bytes = 0;
  /// Programs may not be run from the home (with home_bytes).
  bool home_noexec = false;
  /// The node has a network of its own, on a cable that cut_cable() cuts. Several such nodes reach
  /// one another.
  bool own_network = false;
  /// A folder whose files are the node's /sshd; a host_key among them is the node's, as it is.
  std::string files = {};
  /// A folder of this machine that the node has, too, at the same path.
  std::string shared = {};
  /// Lines of its sshd_config that go before ours.
  std::string config = {};
};

class Sshd {
 public:
  /// Why no sshd can be started here, for QSKIP; empty when one can.
  static std::string missing();

  static Result<std::unique_ptr<Sshd>> start(const SshdOptions& options = {});
  /// Kills every process of the node and removes its files.
  ~Sshd();
  Sshd(const Sshd&) = delete;
  Sshd& operator=(const Sshd&) = delete;

  /// A target of one host, "node". Its key is not yet accepted.
  remote::Target target() const;
  /// The same with the key accepted.
  remote::Target trusted_target() const;
  /// Uses the user's key of user_home(), no agent.
  remote::ConnectOptions connect_options() const;
  /// A connection to the node; nullptr, with a line on stderr that says why, when there is none.
  std::unique_ptr<remote::Node> connected() const;
  /// "SHA256:…" as ssh-keygen prints it.
  const std::string& fingerprint() const { return fingerprint_; }
  uint16_t port() const { return port_; }
  /// A HOME for programs that connect: its .ssh holds the key that the node lets in.
  std::string user_home() const { return folder_ + "/user"; }
  /// The node's home (its /root) as this machine sees it.
  std::string node_home() const { return folder_ + "/home"; }
  /// The same folder as the node itself names it.
  static std::string home_there() { return "/root"; }

  /// Cuts all connections; what they have started goes on.
  void drop_connections() const;
  /// Kills the node: sshd, its sessions, all that it started.
  void stop();
  Result<> start_again();
  /// To be called while stopped.
  Result<> change_host_key();
  /// The node lets in whoever has this key, too.
  void let_in(const std::string& public_key_file);
  /// From now on the node's packets vanish without a sign. With own_network.
  Result<> cut_cable();
  Result<> mend_cable();
  /// From now on no packet of the node reaches another one. With own_network.
  Result<> cut_from(const Sshd& other);
  /// From now on the cable carries no more, either way: "20mbit". With own_network.
  Result<> limit_cable(const std::string& rate);

 private:
  Sshd(SshdOptions options, std::string folder);
  Result<> make_key(const std::string& file);
  Result<> read_fingerprint(const std::string& file);
  Result<> prepare();
  Result<> lay_cable();
  std::string network() const;

  SshdOptions options_;
  std::string folder_;
  std::string address_ = "127.0.0.1";
  std::string fingerprint_;
  uint16_t port_ = 0;
  int number_ = 0;  // on the bridge, with own_network
  pid_t pid_ = -1;  // of `unshare`; the node's processes end with it
};

}  // namespace heddle::test
