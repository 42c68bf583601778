// Rates of a run from the calibrations that there are of its host.
#include <algorithm>
#include <cmath>

#include "engine/cost/rates.h"
#include "engine/holdings/needs.h"

namespace heddle::cost {
namespace {

constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr double kOld = 14 * kDay;

std::string age_words(double seconds) {
  if (seconds < kHour) return fmt::format("{:.0f} minutes", std::max(1.0, seconds / kMinute));
  if (seconds < 2 * kDay) return fmt::format("{:.0f} hours", seconds / kHour);
  return fmt::format("{:.0f} days", seconds / kDay);
}

// A rank's share of the cores.
double share(int64_t ranks, int64_t threads, int64_t cores) {
  return std::min(static_cast<double>(threads),
                  static_cast<double>(cores) / static_cast<double>(ranks));
}
double share(const Calibration& each) { return share(each.ranks, each.threads, each.cores); }

// How many ranks share a core.
double crowd(int64_t ranks, int64_t cores) {
  return std::max(1.0, static_cast<double>(ranks) / static_cast<double>(cores));
}

const OperatorRate* find(const std::vector<OperatorRate>& rates, const OperatorRate& wanted) {
  const auto found = std::ranges::find_if(rates, [&](const OperatorRate& each) {
    return each.op == wanted.op && each.dtype == wanted.dtype && each.shape == wanted.shape;
  });
  return found == rates.end() ? nullptr : &*found;
}

// Operators at a share of cores between or beyond two calibrations' shares.
std::vector<OperatorRate> between(const Calibration& less, const Calibration& more, double wanted) {
  std::vector<OperatorRate> rates = less.operators;
  const double low = std::log(share(less)), high = std::log(share(more));
  const double part = high > low ? (std::log(wanted) - low) / (high - low) : 0.0;
  for (OperatorRate& rate : rates)
    if (const OperatorRate* other = find(more.operators, rate))
      rate.per_second =
          std::exp(std::lerp(std::log(rate.per_second), std::log(other->per_second), part));
  return rates;
}

CollectiveTimes scaled(CollectiveTimes times, double factor) {
  for (Curve* curve : {&times.alone, &times.beside_compute, &times.lost})
    for (CurvePoint& point : *curve) point.seconds *= factor;
  return times;
}

class Chooser {
 public:
  Chooser(const std::vector<Calibration>& all, const Host& host) : host_(host) {
    for (const Calibration& each : all)
      if (each.host == host.name) here_.push_back(&each);
  }

  void operators(Rates& rates) const {
    if (here_.empty()) {
      rates.remarks.push_back("operators are guessed, not calibrated");
      return;
    }
    const double wanted = share(host_.ranks, host_.threads, host_.cores);
    const Calibration *less = nullptr, *more = nullptr;
    for (const Calibration* each : here_) {
      if (each->ranks == host_.ranks && each->threads == host_.threads) {
        rates.operators = each->operators;
        rates.process_bytes = each->process_bytes;
        age(*each, rates);
        return;
      }
      const double has = share(*each);
      if (has <= wanted && (!less || has > share(*less))) less = each;
      if (has >= wanted && (!more || has < share(*more))) more = each;
    }
    const Calibration& nearest = less ? *less : *more;
    rates.process_bytes = nearest.process_bytes;
    if (less && more) {
      rates.operators = between(*less, *more, wanted);
    } else {
      rates.operators = nearest.operators;
      for (OperatorRate& rate : rates.operators) rate.per_second *= wanted / share(nearest);
    }
    rates.remarks.push_back(less && more && less->ranks != more->ranks
                                ? fmt::format("operators were calibrated with {} and with {} ranks",
                                              more->ranks, less->ranks)
                                : fmt::format("operators were calibrated with {} rank{}",
                                              nearest.ranks, nearest.ranks == 1 ? "" : "s"));
    age(nearest, rates);
  }

  Link link(const GroupKind& group) const {
    const Link* best = nullptr;
    double least = 0, factor = 1;
    for (const Calibration* each : here_)
      for (const Link& measured : each->links) {
        if (measured.transport != group.transport) continue;
        const double crowds = crowd(host_.ranks, host_.cores) / crowd(each->ranks, each->cores);
        const auto ratio = static_cast<double>(group.ranks) / static_cast<double>(measured.ranks);
        const double apart = std::abs(std::log2(ratio)) + std::abs(std::log2(crowds));
        if (best && apart >= least) continue;
        best = &measured;
        least = apart;
        factor = crowds * moved(group.ranks) / moved(measured.ranks);
      }
    if (!best) return formula_link(group.transport, group.ranks);
    Link link = *best;
    link.ranks = group.ranks;
    link.all_gather = scaled(link.all_gather, factor);
    link.reduce_scatter = scaled(link.reduce_scatter, factor);
    return link;
  }

 private:
  // The part of a whole that a rank sends.
  static double moved(int64_t ranks) {
    return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  }

  void age(const Calibration& used, Rates& rates) const {
    if (host_.time - used.time > kOld)
      rates.remarks.push_back(fmt::format("calibrated {} ago", age_words(host_.time - used.time)));
    if (used.speed.others > 0)
      rates.remarks.push_back(
          fmt::format("calibrated while other programs used {:.0f} % of the cores; heddle-engine "
                      "calibrate measures again",
                      used.speed.others * 100));
    for (const std::string& what : used.left_out)
      rates.remarks.push_back(fmt::format("not calibrated for lack of time: {}", what));
    if (used.engine != host_.engine)
      rates.remarks.push_back(
          fmt::format("calibrated by version {}, and this is {}", used.engine, host_.engine));
  }

  const Host& host_;
  std::vector<const Calibration*> here_;
};

}  // namespace

Rates rates_of(const std::vector<Calibration>& calibrations, const Host& host,
               const GroupKinds& groups) {
  Rates rates;
  rates.process_bytes = holdings::kOwnBytes + holdings::kSharedBytes;
  const Chooser chooser(calibrations, host);
  chooser.operators(rates);
  for (const auto& [name, kind] : groups) {
    rates.links[name] = chooser.link(kind);
    rates.remote_ranks[name] = kind.remote_ranks;
  }
  return rates;
}

std::string busy_words(const MachineSpeed& now) {
  if (now.others == 0) return {};
  return fmt::format(
      "other programs use {:.0f} % of this machine's cores now: steps take longer while they do; "
      "the prediction is of the machine by itself",
      now.others * 100);
}

std::string speed_remark(const Calibration& calibration, const MachineSpeed& now, double time) {
  constexpr double kWorthSaying = 0.1;
  const MachineSpeed& then = calibration.speed;
  // Steps are products and passes over memory, about as much time in each.
  const double slower = (then.flops_per_second / now.flops_per_second +
                         then.bytes_per_second / now.bytes_per_second) /
                            2 -
                        1;
  if (std::abs(slower) < kWorthSaying || (slower > 0 && now.others > 0)) return {};
  return fmt::format(
      "calibrated {} ago, and the machine is {} now: steps may take {:.0f} % {} than predicted; "
      "heddle-engine calibrate measures again",
      age_words(time - calibration.time), slower > 0 ? "slower" : "faster", std::abs(slower) * 100,
      slower > 0 ? "longer" : "less");
}

const Calibration* newest(const std::vector<Calibration>& calibrations, const std::string& host) {
  const Calibration* found = nullptr;
  for (const Calibration& each : calibrations)
    if (each.host == host && (!found || each.time > found->time)) found = &each;
  return found;
}

}  // namespace heddle::cost
