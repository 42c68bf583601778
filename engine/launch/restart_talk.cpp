#include "engine/launch/restart_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/excerpt.h"
#include "base/json_number.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_json.h"
#include "engine/runs/rendezvous.h"

namespace heddle::launch {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMaxCause = 4000;
// JSON spells a byte with six characters at most.
constexpr size_t kMaxMessage = 6 * kMaxCause + 1024;
constexpr Budget kMessage{.bytes = kMaxMessage, .values = 16, .depth = 3};
/// How often they look whether something has come.
constexpr double kLook = 0.1;
constexpr milliseconds kKnock{500}, kSend{10'000};

steady_clock::time_point after(double seconds) {
  return steady_clock::now() +
         std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

/// Appends what has come. True: a whole message is there.
Result<bool> receive(transport::Channel& channel, std::string& said) {
  std::array<char, kMaxMessage> place;
  const iovec room{place.data(), place.size()};
  const Result<size_t> got = channel.receive({&room, 1});
  if (!got) return fail(got);
  said.append(place.data(), *got);
  if (said.size() > kMaxMessage) return fail("says more than a supervisor does");
  return said.ends_with('\n');
}

Result<> send(transport::Channel& channel, const json& message) {
  const std::string text = json_text(message) + "\n";
  return transport::send_whole(channel,
                               {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, kSend);
}

Result<AttemptFailure> failure_from(const std::string& said) {
  const Result<json> message = read_json(said, kMessage);
  if (!message) return fail(message);
  try {
    return AttemptFailure{.first_rank = whole<int32_t>(message->at("first_rank")),
                          .local_ranks = whole<int32_t>(message->at("local_ranks")),
                          .may_restart = message->at("may_restart"),
                          .killed = message->at("killed"),
                          .cause = message->at("cause")};
  } catch (const json::exception& error) {
    return fail("{}", error.what());
  }
}

Result<RestartVerdict> verdict_from(const std::string& said) {
  const Result<json> message = read_json(said, kMessage);
  if (!message) return fail(message);
  try {
    return RestartVerdict{.again = message->at("again"), .why = message->at("why")};
  } catch (const json::exception& error) {
    return fail("{}", error.what());
  }
}

}  // namespace

Result<std::unique_ptr<RestartHost>> RestartHost::open(RestartTalk talk) {
  Result<Socket> listener = runs::open_rendezvous(talk.host, talk.port, talk.public_addresses);
  if (!listener) return fail(listener);
  auto door = transport::Door::open(std::move(*listener), talk.credentials, talk.topic, 0);
  if (!door) return fail(door);
  return std::unique_ptr<RestartHost>(new RestartHost(std::move(talk), std::move(*door)));
}

Result<> RestartHost::hear(Reporter& reporter, std::vector<AttemptFailure>& failures) {
  if (reporter.has_reported) return {};
  const Result<bool> whole = receive(reporter.channel, reporter.said);
  if (!whole) return fail(whole);
  if (!*whole) return {};
  Result<AttemptFailure> failure = failure_from(reporter.said);
  if (!failure) return fail(failure);
  reporter.has_reported = true;
  failures.push_back(std::move(*failure));
  return {};
}

Result<std::vector<AttemptFailure>> RestartHost::gather(int64_t ranks) {
  const auto deadline = after(talk_.patience);
  std::vector<AttemptFailure> failures;
  int64_t come = 0;
  while (come < ranks) {
    if (talk_.is_asked_to_end(kLook)) return fail("the run was asked to end");
    if (steady_clock::now() > deadline)
      return fail(
          "the hosts of {} of the other {} ranks have not reported within {}: they may be "
          "down, or cut off from {}",
          ranks - come, ranks, seconds_text(talk_.patience), talk_.host);
    auto guests = door_->step();
    if (!guests) return fail(guests);
    for (transport::Guest& guest : *guests)
      reporters_.push_back({.channel = std::move(guest.channel)});
    // One that leaves before it has reported comes again.
    std::erase_if(reporters_, [&](Reporter& reporter) { return !hear(reporter, failures); });
    come = 0;
    for (const AttemptFailure& failure : failures) come += failure.local_ranks;
  }
  door_.reset();  // the ranks' rendezvous is opened there again
  return failures;
}

bool RestartHost::wait(double seconds) {
  const auto until = after(seconds);
  std::string ignored;
  for (;;) {
    const double left = std::chrono::duration<double>(until - steady_clock::now()).count();
    if (talk_.is_asked_to_end(std::clamp(left, 0.0, kLook))) return false;
    for (Reporter& reporter : reporters_)
      if (!receive(reporter.channel, ignored)) return false;
    if (left <= 0) return true;
  }
}

void RestartHost::answer(const RestartVerdict& verdict) {
  // One that has left meanwhile needs no answer.
  for (Reporter& reporter : reporters_)
    (void)send(reporter.channel,
               {{"again", verdict.again}, {"why", excerpt(verdict.why, kMaxCause)}});
}

Result<RestartVerdict> report_failure(const RestartTalk& talk, const AttemptFailure& failure) {
  const auto deadline = after(talk.patience);
  const std::string where = fmt::format("the supervisor of rank 0's host ({})", talk.host);
  Result<transport::Channel> channel = fail("it was not called");
  do {
    if (talk.is_asked_to_end(0)) return fail("the run was asked to end");
    channel = transport::knock(talk.host, talk.port, talk.credentials,
                               {.topic = talk.topic, .caller = failure.first_rank}, kKnock,
                               /*wait_for_listener=*/true);
  } while (!channel && steady_clock::now() < deadline);
  if (!channel) return fail("{} cannot be asked: {}", where, channel.error().message);
  const Result<> sent = send(*channel, {{"first_rank", failure.first_rank},
                                        {"local_ranks", failure.local_ranks},
                                        {"may_restart", failure.may_restart},
                                        {"killed", failure.killed},
                                        {"cause", excerpt(failure.cause, kMaxCause)}});
  if (!sent) return fail("{} {}", where, sent.error().message);
  std::string said;
  for (;;) {
    if (talk.is_asked_to_end(kLook)) return fail("the run was asked to end");
    const Result<bool> whole = receive(*channel, said);
    if (!whole) return fail("{} {}", where, whole.error().message);
    if (*whole) return verdict_from(said);
  }
}

}  // namespace heddle::launch
