// What a cost model works with for one run: measured where there is a calibration, else a formula.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/cost/calibration.h"

namespace heddle::cost {

struct Rates {
  std::map<std::string, Link> links;            // by process group
  std::map<std::string, int64_t> remote_ranks;  // by process group: of other hosts
  int64_t threads = 1;                          // of the rank that has most
  std::vector<OperatorRate> operators;
  /// Of operators that are not among them: guesses at a usual CPU core, or GPU.
  double flops_per_second = 5e10, bytes_per_second = 6e9;
  std::vector<std::string> remarks;  // what is wrong with them, in words
};

/// What was not measured on this machine, and why, in words: empty if all was.
std::string shortcomings(const Rates& rates);

/// How a process group's ranks reach each other.
struct GroupKind {
  std::string transport;
  int64_t ranks = 1;
  int64_t remote_ranks = 0;  // of other hosts
};
/// The process groups of a run, by name.
using GroupKinds = std::map<std::string, GroupKind>;

/// Of a run on CPUs of `host`, `local_ranks` of whose ranks are there. A calibration for another
/// number of ranks serves for operators, with a remark.
Rates rates_of(const std::vector<Calibration>& calibrations, const std::string& host,
               int64_t local_ranks, const GroupKinds& groups);

/// Of a run on GPUs: nothing is measured.
Rates gpu_rates(const GroupKinds& groups);

/// Ring collectives, by NCCL's formula: (ranks − 1) · latency + bytes · (ranks − 1) / ranks / rate,
/// sampled at sizes. Latency and rate are guesses at a usual machine with that transport.
Link formula_link(const std::string& transport, int64_t ranks);

nlohmann::json to_json(const Rates& rates);
/// Throws nlohmann::json::exception.
Rates rates_from_json(const nlohmann::json& json);

}  // namespace heddle::cost
