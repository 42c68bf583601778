// The reasons to warn of a run's steps: the loss is not finite or jumps, throughput falls, memory
// is near the limit of a host or a GPU, no step ends. Plain data in, words out; each is said once
// until it is over. One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/run.h"

namespace heddle::workbench {

/// When to warn. Zero turns a rule off.
struct AlertRules {
  bool not_finite = true;
  double spike = 8;      // deviations of the loss above the median of the steps before
  double slower = 0.3;   // the share by which throughput fell below the run's own median
  double memory = 0.95;  // the share of a host's memory that its ranks hold, of a GPU's in use
  double silence = 120;  // seconds without a step; at least ten usual steps

  bool operator==(const AlertRules&) const = default;
};

/// `alerts.json` in the settings folder.
std::string alert_rules_path();
/// The usual ones where there is no file. An error names the file, the key and what is valid.
Result<AlertRules> read_alert_rules(const std::string& path);
Result<> write_alert_rules(const std::string& path, const AlertRules& rules);

enum class AlertKind : uint8_t { not_finite, spike, slower, memory, silence };

struct Alert {
  AlertKind kind = AlertKind::not_finite;
  bool over = false;  // the run is well again in this respect
  std::string words;

  bool operator==(const Alert&) const = default;
};

/// "loss spike".
std::string name_of(AlertKind kind);
/// As a run's log has it: "alert, loss spike: step 40: loss 9.410, …"; "over, loss spike: …".
storage::LogLine line_of(const Alert& alert);
/// None: the line is none of ours.
std::optional<Alert> alert_of(const storage::LogLine& line);
/// The alerts that the lines, in order, leave unsettled: the newest of each kind.
void follow_alerts(std::map<AlertKind, Alert>& open, const std::vector<storage::LogLine>& lines);

/// One run's.
class AlertWatch {
 public:
  explicit AlertWatch(AlertRules rules = {}) : rules_(rules) {}
  void set_rules(AlertRules rules) { rules_ = rules; }
  /// These have been said already.
  void set_open(const std::set<AlertKind>& kinds);

  // One step's value, in the order of the steps.
  void loss(int64_t step, double value);
  void throughput(int64_t step, double tokens_per_second);
  void step_seconds(double value);
  /// `holder`, with its verb: "the ranks on loom hold", "the GPU of rank 3 on loom holds".
  void memory(int64_t step, const std::string& holder, double bytes, double limit);
  /// How long no step has ended; `step`: the last one, 0: none yet. 0 seconds: one has just ended.
  void quiet(int64_t step, double seconds);

  /// The alerts since the last call.
  std::vector<Alert> take();

 private:
  struct Episode {
    bool open = false;
    int calm = 0;  // observations without the reason
  };
  /// `patience`: observations without the reason that end an episode.
  bool see(AlertKind kind, bool reason, int patience);
  void add(AlertKind kind, bool over, std::string words);

  AlertRules rules_;
  std::map<AlertKind, Episode> episodes_;
  std::set<std::string> full_;  // holders
  std::deque<double> losses_, rates_, recent_rates_, seconds_;
  std::vector<Alert> said_;
};

}  // namespace heddle::workbench
