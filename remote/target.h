// Targets: where a run can be sent. Plain data; the store keeps it as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

/// One machine that runs ranks. An empty `address` is this machine.
struct Host {
  std::string name;     // what the user calls it: shown in messages
  std::string address;  // host name or IP address; an alias of ~/.ssh/config is resolved earlier
  std::string user;     // empty: the local user's name
  uint16_t port = 22;
  std::vector<std::string> identity_files;  // empty: the default ones of ~/.ssh; kNoIdentity: none
  bool identities_only = false;             // only `identity_files`, not the agent's keys
  std::string jump;                         // "[user@]host[:port]" to go through; empty: none
  std::string host_key_alias;               // its name in known_hosts, if not address and port
  std::vector<std::string> known_hosts;     // the files; empty: those that ssh reads by default
  std::vector<std::string> certificate_files = {};  // offered first, with the key each is for
  std::string proxy_command = {};      // run by the user's shell here: its stdio is the connection
  std::string control_path = {};       // socket of an ssh master (ControlPath), used while it lives
  std::string jump_control_path = {};  // the same of the host to go through

  bool is_this_machine() const { return address.empty(); }
  bool operator==(const Host&) const = default;
};

/// A host key that the user has accepted.
struct AcceptedKey {
  std::string endpoint;     // "address:port" as connected to
  std::string fingerprint;  // "SHA256:…", as ssh-keygen -l prints it
  bool operator==(const AcceptedKey&) const = default;
};

/// The jobs that a batch system is asked for: the fields of all systems; each has some of them
/// (batch_systems.h). Empty texts and zeros leave them to the system.
struct JobRequest {
  std::string system = {};  // "slurm"
  std::string partition = {};
  std::string account = {};
  std::string qos = {};
  std::string time_limit = {};  // as sbatch takes it: "90", "4:00:00", "2-12"
  int32_t nodes = 1;
  int32_t gpus_per_node = 0;
  int32_t cpus_per_node = 0;              // 0: one for each rank
  std::vector<std::string> options = {};  // further ones, "--NAME" or "--NAME=VALUE" each
  bool operator==(const JobRequest&) const = default;
};

/// A named set of hosts; rank 0 runs on the first of them. With a batch system: the one host that
/// takes jobs, such as a cluster's login node.
struct Target {
  std::string name;
  std::vector<Host> hosts;
  std::string root = "~/.heddle";  // folder on each host: engines, blobs, runs
  std::vector<AcceptedKey> accepted_keys;
  bool public_addresses = false;  // its ranks may listen where the internet reaches them
  std::optional<JobRequest> job;  // ranks run in a job's nodes, which share `root` with the host
  /// A file of this machine that the shell sources which starts a supervisor; empty: none.
  std::string prelude = {};
  /// A container for supervisors and ranks, "KIND:IMAGE" (container.h); empty: none.
  std::string container = {};
  /// The folder on each host for inputs and their tokens; empty: `root`.
  std::string data_root = {};
  /// Hosts that run nothing until a run loses one of `hosts`: one of these then takes its place.
  std::vector<Host> spares = {};
  bool operator==(const Target&) const = default;

  /// The number of machines that run ranks, each with its part of a run.
  size_t parts() const;
  /// The folder for inputs, as `root` and `data_root` have it.
  const std::string& folder_of_data() const { return data_root.empty() ? root : data_root; }
  /// The host that a part is reached through.
  const Host& host_of(size_t part) const;
  /// The machine of a part, in words: "loom", of a job "node 2 of cluster".
  std::string part_name(size_t part) const;
};

/// Used in `identity_files` in place of a file, as in ~/.ssh/config.
inline constexpr std::string_view kNoIdentity = "none";

inline constexpr std::string_view kThisMachine = "this-machine";

/// The built-in target: this machine, no SSH.
Target this_machine();

/// The folder's path without slashes that say nothing: at its end, or several in a row.
std::string tidy_folder(const std::string& path);

/// The host that is this machine itself.
Host host_here();

/// "[user@]host[:port]", also "[user@][::1]:port". Errors say what is wrong with the text.
Result<Host> parse_host(std::string_view text);

/// Reaches the host through another one, whatever its way was.
void go_through(Host& host, const std::string& jump);

/// "lab: ", for the front of words that say the address; empty where the name is the address.
std::string before_address(const Host& host);

/// The port that the text itself names; 0 when it names none.
uint16_t typed_port(std::string_view text);

/// Takes over the accepted keys of hosts, those gone through included, that `before` had as well.
void keep_keys(Target& target, const Target& before);

/// Checks names and that there is a host; messages name the field.
Result<> check(const Target& target);

std::string to_json(const Target& target);
Result<Target> target_from_json(const std::string& text);

}  // namespace heddle::remote
