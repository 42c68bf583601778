#include "engine/links/measure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_text.h"
#include "base/say.h"
#include "engine/transport/door.h"

namespace heddle::links {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using transport::Channel;

/// A block that does not move for so long does not arrive.
constexpr milliseconds kSilence{10'000};
constexpr milliseconds kConnect{5'000};
constexpr size_t kBlock = 256 << 10;
/// A transfer is doubled until it takes so long: the buffers on the way are small by then.
constexpr double kLongEnough = 0.1;
constexpr uint64_t kFirstTransfer = 16 << 10;
constexpr int kWords = 21;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<double> word_there_and_back(Channel& channel) {
  std::vector<double> times;
  for (int word = 0; word < kWords; ++word) {
    const auto begin = Clock::now();
    if (Result<> sent = send_request(channel, {Request::Want::echo, 1}); !sent) return fail(sent);
    if (Result<> back = take_bytes(channel, 1); !back) return fail(back);
    times.push_back(seconds_since(begin));
  }
  std::ranges::nth_element(times, times.begin() + kWords / 2);
  return times[kWords / 2];
}

/// Bytes a second of one direction. `word`: the time that the last acknowledgement takes.
Result<double> rate_of(Channel& channel, Request::Want want, double word) {
  for (uint64_t bytes = kFirstTransfer;; bytes *= 2) {
    const auto begin = Clock::now();
    if (Result<> sent = send_request(channel, {want, bytes}); !sent) return fail(sent);
    const Result<> moved =
        want == Request::Want::give ? take_bytes(channel, bytes) : give_bytes(channel, bytes);
    if (!moved) return fail(moved);
    if (want == Request::Want::take)
      if (Result<> heard = take_bytes(channel, 1); !heard) return fail(heard);
    const double seconds = seconds_since(begin);
    if (seconds >= kLongEnough || bytes >= kMaxTransfer)
      return static_cast<double>(bytes) / std::max(seconds - word, seconds / 2);
  }
}

Result<Link> measured(const MeasureOptions& options, const Secret& secret) {
  auto channel = transport::knock(options.to, options.port, credentials_with(secret),
                                  {kTopic, options.caller, options.answerer, 0}, kConnect, false);
  if (!channel) return fail(channel);
  const Result<double> word = word_there_and_back(*channel);
  if (!word) return fail(word);
  const Result<double> out = rate_of(*channel, Request::Want::take, *word);
  if (!out) return fail(out);
  const Result<double> back = rate_of(*channel, Request::Want::give, *word);
  if (!back) return fail(back);
  if (Result<> ended = send_request(*channel, {}); !ended) return fail(ended);
  return Link{*word, *out, *back};
}

}  // namespace

transport::Credentials credentials_with(const Secret& secret) {
  return {.secret = secret, .run = "links"};
}

Result<> send_request(Channel& channel, const Request& request) {
  std::array<uint8_t, kRequestBytes> bytes{};
  bytes[0] = static_cast<uint8_t>(request.want);
  for (size_t i = 0; i < 8; ++i) bytes[8 + i] = static_cast<uint8_t>(request.bytes >> (8 * i));
  return transport::send_whole(channel, bytes, kSilence);
}

Result<Request> receive_request(Channel& channel) {
  std::array<uint8_t, kRequestBytes> bytes{};
  for (size_t done = 0; done < bytes.size();) {
    const auto got = transport::receive_some(channel, std::span(bytes).subspan(done), kSilence);
    if (!got) return fail(got);
    done += *got;
  }
  Request request;
  request.want = static_cast<Request::Want>(std::min<uint8_t>(bytes[0], 3));
  for (size_t i = 0; i < 8; ++i) request.bytes |= uint64_t{bytes[8 + i]} << (8 * i);
  if (request.bytes > kMaxTransfer) return fail("asked for {} bytes", request.bytes);
  return request;
}

Result<> give_bytes(Channel& channel, uint64_t bytes) {
  static const std::vector<uint8_t> zeros(kBlock);
  while (bytes > 0) {
    const auto block = static_cast<size_t>(std::min<uint64_t>(bytes, kBlock));
    if (Result<> sent = transport::send_whole(channel, std::span(zeros).first(block), kSilence);
        !sent)
      return sent;
    bytes -= block;
  }
  return {};
}

Result<> take_bytes(Channel& channel, uint64_t bytes) {
  std::vector<uint8_t> block(kBlock);
  while (bytes > 0) {
    const auto most = static_cast<size_t>(std::min<uint64_t>(bytes, kBlock));
    const auto got = transport::receive_some(channel, std::span(block).first(most), kSilence);
    if (!got) return fail(got);
    bytes -= *got;
  }
  return {};
}

int measure(const MeasureOptions& options) {
  const auto complain = [](const std::string& message) {
    say(stderr, "{}\n", message);
    return 1;
  };
  const Result<Secret> secret = receive_secret(STDIN_FILENO);
  if (!secret) return complain(secret.error().message);
  const Result<Link> link = measured(options, *secret);
  if (!link) return complain(link.error().message);
  say("{}\n", json_text(to_json(*link)));
  return 0;
}

}  // namespace heddle::links
