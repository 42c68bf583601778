// What the supervisors of a run's hosts say to each other between two attempts of its ranks: each
// other host reports how its ranks have failed, rank 0's host answers whether they start again. One
// connection a host, with the ranks' own handshake: nobody without the run's secret is heard.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/transport/door.h"

namespace heddle::launch {

/// How the ranks of one host have failed.
struct AttemptFailure {
  int32_t first_rank = 0;
  int32_t local_ranks = 1;
  bool may_restart = false;
  bool killed = false;  // by a signal: the others' failures follow from it
  std::string cause;
};

struct RestartVerdict {
  bool again = false;
  std::string why;  // again: the failure that led to it; else what stands against it
};

/// Where, as whom, and for how long they talk.
struct RestartTalk {
  std::string host;
  uint16_t port = 0;
  bool public_addresses = false;
  transport::Credentials credentials;
  std::string topic;    // one for each attempt
  double patience = 0;  // seconds that the others are waited for
  std::function<bool(double seconds)> is_asked_to_end;
};

/// Rank 0's host. One thread.
class RestartHost {
 public:
  static Result<std::unique_ptr<RestartHost>> open(RestartTalk talk);

  /// Waits for the reports of hosts with so many ranks altogether, and listens no longer then. An
  /// error says which did not come, or that the run was asked to end.
  Result<std::vector<AttemptFailure>> gather(int64_t ranks);
  /// Waits so many seconds. False: a host has left, or the run is asked to end.
  bool wait(double seconds);
  /// Tells all that have come.
  void answer(const RestartVerdict& verdict);

 private:
  struct Reporter {
    transport::Channel channel;
    std::string said = {};
    bool has_reported = false;
  };
  RestartHost(RestartTalk talk, transport::Door door)
      : talk_(std::move(talk)), door_(std::move(door)) {}
  Result<> hear(Reporter& reporter, std::vector<AttemptFailure>& failures);

  RestartTalk talk_;
  std::optional<transport::Door> door_;
  std::vector<Reporter> reporters_;
};

/// Another host: reports and waits for the answer, as long as that takes once it was let in.
Result<RestartVerdict> report_failure(const RestartTalk& talk, const AttemptFailure& failure);

}  // namespace heddle::launch
