#include "engine/launch/restarts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/number_text.h"
#include "engine/recipe/limits.h"

namespace heddle::launch {
namespace {

using telemetry::Level;

/// How long the supervisors of other hosts may need to see that ranks have failed, in seconds:
/// ranks that train see it at their next collective, those that have not met yet when they give up.
constexpr double kPatience = 120;
/// And to hear that there is no use in a restart.
constexpr double kLastReport = 20;

}  // namespace

double backoff_of(const recipe::Restart& allowed, int64_t number) {
  const double doublings = static_cast<double>(std::min<int64_t>(number - 1, 30));
  return std::min(allowed.backoff * std::exp2(doublings), double{recipe::kMaxBackoff});
}

Restarts::Restarts(const runs::Launch& launch, const RanksWork& work, const Secret& secret,
                   RankGroup& group, RankGroup::Log log)
    : launch_(launch), work_(work), secret_(secret), group_(group), log_(std::move(log)) {}

RestartTalk Restarts::talk() const {
  const double patience =
      group_.last_step() > 0 ? kPatience : std::max(kPatience, work_.timeouts.start + kPatience);
  return {
      .host = launch_.rendezvous_host,
      .port = group_.port(),
      .public_addresses = launch_.public_addresses,
      .credentials = {secret_, fmt::format("{}/{}", launch_.run, launch_.epoch), work_.encrypts},
      .topic = fmt::format("restart {}", done_ + 1),
      .patience = patience,
      .is_asked_to_end = [this](double seconds) { return group_.is_asked_to_end(seconds); }};
}

AttemptFailure Restarts::failure_of(const runs::End& end) const {
  return {.first_rank = launch_.first_rank,
          .local_ranks = launch_.local_ranks,
          .may_restart = group_.may_restart(),
          .killed = !end.signal.empty(),
          .cause = end.cause};
}

std::optional<Restart> Restarts::after(runs::End& end) {
  if (end.state != "failed" || work_.restart.times == 0) return std::nullopt;
  if (group_.is_asked_to_end(0)) return std::nullopt;
  const AttemptFailure own = failure_of(end);
  std::optional<Restart> next = launch_.first_rank == 0 ? decide(end, own) : follow(end, own);
  if (next) ++done_;
  return next;
}

std::optional<Restart> Restarts::decide(runs::End& end, const AttemptFailure& own) {
  // The other hosts' ranks end by themselves, or the follower of the run kills them.
  if (!own.may_restart) return std::nullopt;
  const Result<std::string> cause = cause_of_all(own);
  std::string refusal = cause ? "" : "not restarted: " + cause.error().message;
  if (cause && done_ >= work_.restart.times)
    refusal = fmt::format("restarted {} before, as often as restart.times allows",
                          done_ == 1 ? "once" : fmt::format("{} times", done_));
  if (refusal.empty()) {
    cause_ = *cause;
    const double wait = backoff_of(work_.restart, done_ + 1);
    log_(Level::warning, fmt::format("restart {} of {} in {}: {}", done_ + 1, work_.restart.times,
                                     seconds_text(wait), cause_));
    const bool all_wait = others_ ? others_->wait(wait) : !group_.is_asked_to_end(wait);
    if (!all_wait) refusal = "not restarted: the supervisor of another host has ended meanwhile";
  }
  if (group_.is_asked_to_end(0)) {
    end = group_.end_between_attempts(own.cause);
    refusal = end.cause;
  } else if (!refusal.empty()) {
    end.cause += "; " + refusal;
  }
  if (refusal.empty()) return next();
  if (others_) others_->answer({.again = false, .why = refusal});
  others_.reset();
  return std::nullopt;
}

/// The failure that the others follow from; an error: why there is no restart.
Result<std::string> Restarts::cause_of_all(const AttemptFailure& own) {
  if (launch_.local_ranks == launch_.world_size) return own.cause;
  auto host = RestartHost::open(talk());
  if (!host) return fail(host);
  others_ = std::move(*host);
  const auto failures = others_->gather(launch_.world_size - launch_.local_ranks);
  if (!failures) return fail(failures);
  const AttemptFailure* first = &own;
  for (const AttemptFailure& other : *failures) {
    if (!other.may_restart) return fail("{}", other.cause);
    if (other.killed && !first->killed) first = &other;
  }
  return first->cause;
}

Restart Restarts::next() const {
  return {static_cast<int32_t>(launch_.restarts + done_ + 1), cause_};
}

std::optional<Restart> Restarts::follow(runs::End& end, const AttemptFailure& own) {
  RestartTalk talk = this->talk();
  if (!own.may_restart) talk.patience = kLastReport;
  const Result<RestartVerdict> verdict = report_failure(talk, own);
  if (group_.is_asked_to_end(0)) {
    end = group_.end_between_attempts(own.cause);
    return std::nullopt;
  }
  if (!verdict || !verdict->again) {
    const std::string why = verdict ? verdict->why : verdict.error().message;
    if (own.may_restart) end.cause += "; not restarted: " + why;
    return std::nullopt;
  }
  cause_ = verdict->why;
  log_(Level::warning, fmt::format("restart {} of {}: {}", done_ + 1, work_.restart.times, cause_));
  return next();
}

void Restarts::tell_others(const Result<>& started) {
  if (!others_) return;
  others_->answer(
      {.again = started.has_value(), .why = started ? cause_ : started.error().message});
  others_.reset();
}

}  // namespace heddle::launch
