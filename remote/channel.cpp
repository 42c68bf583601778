#include "remote/channel.h"

#include <algorithm>
#include <thread>

namespace heddle::remote {
namespace {

using std::chrono::milliseconds;

/// The last session's room is free at the latest when the host has handled its closing.
constexpr std::chrono::seconds kRoomPatience{5};
constexpr milliseconds kFirstPause{10};
constexpr milliseconds kMaxPause{200};

/// libssh's own closing would speak of a channel that the host never opened, and the host hangs up.
struct Unopened {
  void operator()(ssh_channel channel) const { ssh_channel_free(channel); }
};

Error lost(ssh_session session, const std::string& host_name) {
  return {fmt::format("{}: the connection is lost: {}", host_name, ssh_get_error(session))};
}

Error silent(const std::string& host_name, Clock::time_point begun) {
  return {fmt::format("{}: the host stopped answering: no program could be started within {:.0f} s",
                      host_name, std::chrono::duration<double>(Clock::now() - begun).count())};
}

}  // namespace

void ChannelFreed::operator()(ssh_channel channel) const {
  ssh_channel_close(channel);
  ssh_channel_free(channel);
}

Result<Channel> open_channel(ssh_session session, const std::string& host_name, const char* command,
                             Clock::time_point deadline) {
  const Clock::time_point begun = Clock::now();
  milliseconds pause = kFirstPause;
  Channel channel;
  while (!channel) {
    std::unique_ptr<ssh_channel_struct, Unopened> next(ssh_channel_new(session));
    if (!next) return tl::unexpected(lost(session, host_name));
    const int answer =
        until_done(session, deadline, [&] { return ssh_channel_open_session(next.get()); });
    if (answer == SSH_AGAIN) return tl::unexpected(silent(host_name, begun));
    if (answer == SSH_OK) {
      channel.reset(next.release());
      break;
    }
    if (!ssh_is_connected(session)) return tl::unexpected(lost(session, host_name));
    if (Clock::now() >= std::min(deadline, begun + kRoomPatience))
      return fail(
          "{}: the host opens no session for a program ({}): is MaxSessions of its sshd_config 0, "
          "or is a program of an earlier request still running there?",
          host_name, ssh_get_error(session));
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kMaxPause);
  }
  const int answer = until_done(session, deadline,
                                [&] { return ssh_channel_request_exec(channel.get(), command); });
  if (answer == SSH_OK) return channel;
  if (answer == SSH_AGAIN) return tl::unexpected(silent(host_name, begun));
  if (!ssh_is_connected(session)) return tl::unexpected(lost(session, host_name));
  return fail("{}: the host refuses to run a program ({})", host_name, ssh_get_error(session));
}

bool wait_for_close(ssh_session session, const Channel& channel, Clock::time_point deadline) {
  while (take_in(session)) {
    if (ssh_channel_is_closed(channel.get())) return true;
    if (Clock::now() >= deadline) return false;
    wait_for_socket(session, deadline);
  }
  return false;
}

}  // namespace heddle::remote
