#include "remote/channel.h"

#include <sys/socket.h>

#include <algorithm>
#include <thread>

namespace heddle::remote {
namespace {

using std::chrono::milliseconds;

/// The last session's room is free at the latest when the host has handled its closing.
constexpr std::chrono::seconds kRoomPatience{5};
constexpr milliseconds kFirstPause{10};
constexpr milliseconds kMaxPause{200};
constexpr size_t kUsualRead = 64 << 10;

Error lost(ssh_session session, const std::string& host_name) {
  return {fmt::format("{}: the connection is lost: {}", host_name, ssh_get_error(session))};
}

Error silent(const std::string& host_name, Clock::time_point begun) {
  return {fmt::format("{}: the host stopped answering: no program could be started within {:.0f} s",
                      host_name, std::chrono::duration<double>(Clock::now() - begun).count())};
}

struct ChannelFreed {
  void operator()(ssh_channel channel) const {
    ssh_channel_close(channel);
    ssh_channel_free(channel);
  }
};
using Channel = std::unique_ptr<ssh_channel_struct, ChannelFreed>;

class ChannelStreams final : public Streams {
 public:
  ChannelStreams(ssh_session session, Channel channel)
      : session_(session), channel_(std::move(channel)) {}

  int write(const char* bytes, size_t size) override {
    const int sent = ssh_channel_write(channel_.get(), bytes, static_cast<uint32_t>(size));
    return sent == SSH_AGAIN ? 0 : sent;
  }
  void end_input() override { ssh_channel_send_eof(channel_.get()); }
  int read(bool is_stderr, char* bytes, size_t size) override {
    // libssh lets the host send as much ahead as is asked for here, and little otherwise.
    if (!is_stderr && size > kUsualRead)
      return ssh_channel_read_timeout(channel_.get(), bytes, static_cast<uint32_t>(size), 0, 0);
    return ssh_channel_read_nonblocking(channel_.get(), bytes, static_cast<uint32_t>(size),
                                        is_stderr);
  }
  /// Asking for the exit code handles what the host has sent; after the streams' end nothing else
  /// would.
  bool ended() override {
    if (!ssh_channel_is_eof(channel_.get())) return !ssh_is_connected(session_);
    return exit_code() >= 0 || ssh_channel_is_closed(channel_.get());
  }
  int exit_code() override { return ssh_channel_get_exit_status(channel_.get()); }
  bool kill(Clock::time_point deadline) override {
    (void)ssh_channel_request_send_signal(channel_.get(), "KILL");
    return closes(deadline);
  }
  void wait_for_close(Clock::time_point deadline) override { (void)closes(deadline); }
  void wait(Clock::time_point deadline) override { wait_for_socket(session_, deadline); }

 private:
  /// False: the host has not closed it by `deadline`.
  bool closes(Clock::time_point deadline) {
    while (remote::take_in(session_)) {
      if (ssh_channel_is_closed(channel_.get())) return true;
      if (Clock::now() >= deadline) return false;
      wait_for_socket(session_, deadline);
    }
    return false;
  }

  ssh_session session_;
  Channel channel_;
};

}  // namespace

OwnConnection::OwnConnection(Session session, std::unique_ptr<Carrier> carrier)
    : carrier_(std::move(carrier)), session_(std::move(session)) {}

bool OwnConnection::is_open() const { return ssh_is_connected(session_.get()) != 0; }

std::string OwnConnection::error() const { return ssh_get_error(session_.get()); }

bool OwnConnection::knock() { return ssh_send_ignore(session_.get(), "keepalive") != SSH_ERROR; }

bool OwnConnection::take_in() { return remote::take_in(session_.get()); }

void OwnConnection::hang_up() { shutdown(ssh_get_fd(session_.get()), SHUT_RDWR); }

/// A new one, once the host has room for it.
Result<OwnConnection::Spare> OwnConnection::open_channel(const std::string& host_name,
                                                         Clock::time_point deadline) {
  const Clock::time_point begun = Clock::now();
  milliseconds pause = kFirstPause;
  const ssh_session session = session_.get();
  for (;;) {
    Spare next(ssh_channel_new(session));
    if (!next) return tl::unexpected(lost(session, host_name));
    const int answer =
        until_done(session, deadline, [&] { return ssh_channel_open_session(next.get()); });
    if (answer == SSH_AGAIN) return tl::unexpected(silent(host_name, begun));
    if (answer == SSH_OK) return next;
    if (!ssh_is_connected(session)) return tl::unexpected(lost(session, host_name));
    if (Clock::now() >= std::min(deadline, begun + kRoomPatience))
      return fail(
          "{}: the host opens no session for a program ({}): is MaxSessions of its sshd_config 0, "
          "or is a program of an earlier request still running there?",
          host_name, ssh_get_error(session));
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kMaxPause);
  }
}

/// nullptr: there is none, or the host has refused or closed it.
Result<OwnConnection::Spare> OwnConnection::take_spare(const std::string& host_name,
                                                       Clock::time_point deadline) {
  const Clock::time_point begun = Clock::now();
  Spare spare = std::move(spare_);
  if (!spare) return spare;
  const int answer =
      until_done(session_.get(), deadline, [&] { return ssh_channel_open_session(spare.get()); });
  if (answer == SSH_AGAIN) return tl::unexpected(silent(host_name, begun));
  if (answer == SSH_OK && ssh_channel_is_open(spare.get())) return spare;
  if (!ssh_is_connected(session_.get())) return tl::unexpected(lost(session_.get(), host_name));
  opens_several_ = false;
  return Spare();
}

void OwnConnection::ask_for_spare() {
  if (!opens_several_) return;
  spare_.reset(ssh_channel_new(session_.get()));
  if (spare_ && ssh_channel_open_session(spare_.get()) != SSH_ERROR) return;
  spare_.reset();
  opens_several_ = false;
}

Result<std::unique_ptr<Streams>> OwnConnection::open(const std::string& host_name,
                                                     const char* command,
                                                     Clock::time_point deadline) {
  const Clock::time_point begun = Clock::now();
  const ssh_session session = session_.get();
  Result<Spare> taken = take_spare(host_name, deadline);
  if (!taken) return fail(taken);
  const bool was_spare = *taken != nullptr;
  if (!was_spare) taken = open_channel(host_name, deadline);
  if (!taken) return fail(taken);
  Channel channel(taken->release());
  const int answer = until_done(session, deadline,
                                [&] { return ssh_channel_request_exec(channel.get(), command); });
  if (answer == SSH_OK) {
    ask_for_spare();
    return std::make_unique<ChannelStreams>(session, std::move(channel));
  }
  if (answer == SSH_AGAIN) return tl::unexpected(silent(host_name, begun));
  if (!ssh_is_connected(session)) return tl::unexpected(lost(session, host_name));
  if (was_spare) {  // the host may have closed it just now
    opens_several_ = false;
    return open(host_name, command, deadline);
  }
  return fail("{}: the host refuses to run a program ({})", host_name, ssh_get_error(session));
}

}  // namespace heddle::remote
