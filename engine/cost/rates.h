// A cost model's rates for one run: measured where there is a calibration, else by a formula.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/cost/calibration.h"
#include "engine/cost/device_rates.h"
#include "engine/cost/refinement.h"

namespace heddle::cost {

struct Rates {
  std::map<std::string, Link> links;            // by process group
  std::map<std::string, int64_t> remote_ranks;  // by process group: of other hosts
  int64_t threads = 1;                          // of the rank that has most
  int64_t process_bytes = 0;                    // that a rank holds besides states and arena
  int64_t device_bytes = 0;       // of the GPU that has least, for states and arena; 0: not known
  int64_t multiprocessors = 132;  // of the GPU that has most; if it is not known, an H100's
  std::vector<OperatorRate> operators;
  /// Rates of all other operators: guesses for a usual CPU core, or GPU.
  double flops_per_second = 5e10, bytes_per_second = 6e9;
  /// The catalogue's rates: they replace all measured or guessed rates of operators.
  std::optional<DeviceRates> device;
  Refinement refinement;             // by what finished runs took, all of these
  std::vector<std::string> remarks;  // what is wrong with them, in words
};

/// The rates that were not measured on this machine, and why, in words: empty if all were.
std::string shortcomings(const Rates& rates);

/// How a process group's ranks reach each other.
struct GroupKind {
  std::string transport;
  int64_t ranks = 1;
  int64_t remote_ranks = 0;  // of other hosts
};
/// The process groups of a run, by name.
using GroupKinds = std::map<std::string, GroupKind>;

/// Where and when a run on CPUs takes place.
struct Host {
  std::string name;
  int64_t ranks = 1, threads = 1;  // ranks that are there, threads of each
  int64_t cores = 1;
  double time = 0;     // Unix seconds
  std::string engine;  // its version
};

/// The calibration with as many ranks and threads, if there is one. Else operators lie between
/// the calibrations with the next more and the next less of a core for each rank, or follow from
/// the nearest by its share of cores; a group that was not measured is taken from the one of the
/// nearest number of ranks that was, by the ring's formula and by how many ranks share a core.
/// Reports each such step, and age and version of a calibration that is old.
Rates rates_of(const std::vector<Calibration>& calibrations, const Host& host,
               const GroupKinds& groups);

/// "other programs use 63 % of this machine's cores now: …"; empty where they leave it alone.
std::string busy_words(const MachineSpeed& now);

/// "calibrated 3 hours ago, and the machine is slower now: steps may take 24 % longer …": nothing
/// where it is within a tenth of what it was, or where other programs make it slow.
std::string speed_remark(const Calibration& calibration, const MachineSpeed& now, double time);

/// The newest of a host.
const Calibration* newest(const std::vector<Calibration>& calibrations, const std::string& host);

/// Rates of a run on GPUs: nothing is measured.
Rates gpu_rates(const GroupKinds& groups);

/// Ring collectives, by NCCL's formula: (ranks − 1) · latency + bytes · (ranks − 1) / ranks / rate,
/// sampled at sizes. Latency and rate are guesses at a usual machine with that transport.
Link formula_link(const std::string& transport, int64_t ranks);

nlohmann::json to_json(const Rates& rates);
/// Throws nlohmann::json::exception.
Rates rates_from_json(const nlohmann::json& json);

}  // namespace heddle::cost
