#include "engine/cost/rates.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heddle::cost {
namespace {

constexpr int64_t kSmallestTable = 4096, kLargestTable = int64_t{128} << 20;

struct Guess {
  double latency, bytes_per_second;
  double contention;  // by how much both are slower side by side, as a share
};

Guess guess(const std::string& transport) {
  if (transport == "nccl") return {3e-6, 2e11, 0.1};
  if (transport == "memory") return {4e-5, 4e9, 0.7};
  return {2e-4, 1e8, 0.1};  // between hosts: 1 Gbit/s
}

}  // namespace

Link formula_link(const std::string& transport, int64_t ranks) {
  const Guess of = guess(transport);
  CollectiveTimes times;
  const auto steps = static_cast<double>(ranks - 1);
  for (int64_t bytes = kSmallestTable; bytes <= kLargestTable; bytes *= 2) {
    const double sent = static_cast<double>(bytes) * steps / static_cast<double>(ranks);
    const double seconds = steps * of.latency + sent / of.bytes_per_second;
    const double beside = seconds * (1.0 + of.contention);
    times.alone.push_back({bytes, seconds});
    times.beside_compute.push_back({bytes, beside});
    times.lost.push_back({bytes, beside * of.contention});
  }
  return {transport, ranks, times, times, true};
}

Rates gpu_rates(const GroupKinds& groups) {
  Rates rates;
  rates.flops_per_second = 4e14;  // an H100's, in bf16
  rates.bytes_per_second = 2e12;
  rates.remarks.push_back("a GPU's operators are guessed");
  for (const auto& [name, kind] : groups) rates.links[name] = formula_link("nccl", kind.ranks);
  return rates;
}

std::string shortcomings(const Rates& rates) {
  std::vector<std::string> all = rates.remarks;
  for (const auto& [group, link] : rates.links)
    if (link.estimated && !group.starts_with("pp "))  // parts of "pp"
      all.push_back(fmt::format("{} between the {} ranks of {} is estimated by formula",
                                link.transport, link.ranks, group));
  if (all.empty()) return {};
  return fmt::format("{}", fmt::join(all, "; "));
}

nlohmann::json to_json(const Rates& rates) {
  nlohmann::json links = nlohmann::json::object();
  for (const auto& [group, link] : rates.links) links[group] = to_json(link);
  nlohmann::json operators = nlohmann::json::array();
  for (const OperatorRate& rate : rates.operators) operators.push_back(to_json(rate));
  nlohmann::json written = {{"links", links},
                            {"remote_ranks", rates.remote_ranks},
                            {"threads", rates.threads},
                            {"process_bytes", rates.process_bytes},
                            {"device_bytes", rates.device_bytes},
                            {"multiprocessors", rates.multiprocessors},
                            {"operators", operators},
                            {"flops_per_second", rates.flops_per_second},
                            {"bytes_per_second", rates.bytes_per_second},
                            {"refinement", to_json(rates.refinement)},
                            {"remarks", rates.remarks}};
  if (rates.device) written["device"] = to_json(*rates.device);
  return written;
}

Rates rates_from_json(const nlohmann::json& read) {
  Rates rates;
  for (const auto& [group, link] : read.at("links").items())
    rates.links[group] = link_from_json(link);
  rates.remote_ranks = read.at("remote_ranks");
  rates.threads = read.at("threads");
  rates.process_bytes = read.at("process_bytes");
  rates.device_bytes = read.at("device_bytes");
  rates.multiprocessors = read.at("multiprocessors");
  for (const auto& rate : read.at("operators")) rates.operators.push_back(rate_from_json(rate));
  rates.flops_per_second = read.at("flops_per_second");
  rates.bytes_per_second = read.at("bytes_per_second");
  rates.refinement = refinement_from_json(read.at("refinement"));
  rates.remarks = read.at("remarks");
  if (read.contains("device")) rates.device = device_rates_from_json(read.at("device"));
  return rates;
}

}  // namespace heddle::cost
