// Everything that Heddle asks of a place to run: check, start, state, stop, logs. A kind of place
// is one object without state; it works over connections to the target's hosts. Any thread; all
// that takes connections blocks: never call it from the GUI thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"
#include "workbench/cluster_now.h"
#include "workbench/place.h"
#include "workbench/target_now.h"

namespace heddle::workbench {

/// A prepared run: recipe, inputs and engine are in the folders of its parts.
struct Start {
  const Nodes& nodes;  // of the target's hosts
  const Place& place;
  runs::Launch launch;                               // the same for all parts
  std::vector<std::vector<std::string>> begin_with;  // checkpoints by part; empty: a new run
  bool keeps_checkpoints = true;                     // its recipe says so
  const Secret& secret;  // the run's; signs its end.json, and ranks of several hosts
                         // authenticate with it
  std::function<Result<>(const std::string& what)> tell;  // an error cancels
};

/// A request to the ranks of a running part.
enum class Order { stop, kill, checkpoint };

/// Files of a part's run directory; nothing where there is none.
using Pieces = std::vector<std::optional<std::string>>;

/// A batch system's job.
struct Job {
  std::string id;
  bool waits = false;      // it is in the queue and has not begun
  bool ends = false;       // it is being cleaned up: it may go back into the queue
  std::string words = {};  // "waits in train for free nodes; position 3"; empty: it is over
};

/// The largest that a job's nice may be here; Slurm's own is 2^31.
inline constexpr int32_t kMaxNice = 10'000;

/// A change to a job that waits; an empty text leaves what it is about.
struct JobChange {
  enum class Hold { keep, hold, release };
  Hold hold = Hold::keep;
  std::string time_limit = {};  // as sbatch takes it
  std::string partition = {};
  std::string qos = {};
  std::optional<int32_t> nice = {};  // 0 to kMaxNice: the higher, the later it begins
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Facts, without a connection.

  /// As the store keeps it: "local", "ssh", "slurm".
  virtual std::string kind() const = 0;
  virtual bool runs(const remote::Target& target) const = 0;
  /// Whether paths of this machine name the same files there: nothing is brought to its hosts, and
  /// folders that a recipe names are used.
  virtual bool has_our_files() const = 0;
  /// Whether it can end parts by itself, before their supervisors could write an end.json: `state`
  /// then has an end.
  virtual bool ends_parts() const { return false; }
  /// "/data/run", "/data/run on loom".
  virtual std::string located(const std::string& path, const remote::Host& host) const = 0;
  /// "this machine"; "loom, hgx answer", of hosts that were connected to.
  virtual std::string reached(const remote::Target& target) const = 0;
  /// The time between two reads of the logs.
  virtual std::chrono::milliseconds pause() const = 0;

  // Questions and requests, over connections.

  /// For each host: its equipment, and how much of it is free.
  virtual Result<std::vector<probe::Report>> probe(const remote::Target& target,
                                                   const Nodes& nodes) const = 0;
  /// The same, and the files that the hosts have already.
  virtual TargetNow check(const remote::Target& target, const Nodes& nodes) const = 0;
  /// Starts all parts. If one fails to start, the parts before it are killed.
  virtual Result<> start(const Start& start) const = 0;
  virtual Result<runs::Status> state(remote::Node& node, const Share& share) const = 0;
  virtual Result<runs::Status> order(remote::Node& node, const Share& share, Order order) const = 0;
  virtual Result<Pieces> logs(remote::Node& node,
                              const std::vector<remote::Range>& ranges) const = 0;
  /// The job that a part runs in; none: there are no jobs here, or it was never submitted.
  virtual Result<std::optional<Job>> job(remote::Node&, const Share&) const {
    return std::optional<Job>{};
  }
  /// Its nodes and a person's jobs, asked over its first node; none: it is no cluster.
  virtual Result<std::optional<ClusterNow>> cluster(const remote::Target&, remote::Node&) const {
    return std::optional<ClusterNow>{};
  }
  /// Changes the job of a run that waits, by any of its parts.
  virtual Result<> change(remote::Node& node, const Share&, const JobChange&) const {
    return fail("{}: runs are no jobs there: there is no queue to change them in", node.name());
  }
};

/// Every kind of place.
const std::vector<const Backend*>& backends();

const Backend& backend_of(const remote::Target& target);

}  // namespace heddle::workbench
