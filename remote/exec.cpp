#include "remote/exec.h"

#include "base/excerpt.h"
#include "remote/quote.h"

namespace heddle::remote {
namespace {

struct ChannelFreed {
  void operator()(ssh_channel channel) const {
    ssh_channel_close(channel);
    ssh_channel_free(channel);
  }
};
using Channel = std::unique_ptr<ssh_channel_struct, ChannelFreed>;

/// The state of one exec: what is still to be written, what has come back.
class Exec {
 public:
  Exec(ssh_session session, const std::string& host_name, Limit limit)
      : session_(session), host_name_(host_name), limit_(limit) {
    extend();
  }

  Result<Completed> run(const std::vector<std::string>& argv, const Source& source) {
    if (const Result<> started = start(); !started) return fail(started);
    pending_ = quote_line(argv);
    for (;;) {
      const Result<bool> wrote = write(source);
      if (!wrote) return stop(wrote.error());
      const Result<bool> came = read();
      if (!came) return fail(came);
      if (said() > limit_.bytes) return stop(too_much(argv[0]));
      if (ended()) break;
      if ((*wrote || *came) && limit_.of == Limit::Of::silence) extend();
      // Also while it talks: one that never ends must not be heard for ever.
      if (Clock::now() >= end_) return stop(late(argv[0]));
      if (*wrote || *came) continue;
      if (!knock()) return fail("{}: the connection is lost", host_name_);
      wait_for_socket(session_, end_);
    }
    return complete();
  }

 private:
  void extend() { end_ = std::min(Clock::now() + limit_.time, begun_ + limit_.most); }

  Error lost() const {
    return {fmt::format("{}: the connection is lost: {}", host_name_, ssh_get_error(session_))};
  }
  Error late(const std::string& program) const {
    const auto seconds_of = [](std::chrono::milliseconds time) {
      return std::chrono::duration<double>(time).count();
    };
    if (limit_.of == Limit::Of::silence && end_ == begun_ + limit_.most)
      return {fmt::format("{}: {} was still talking after {} s and was stopped", host_name_,
                          program, seconds_of(limit_.most))};
    const double seconds = seconds_of(limit_.time);
    if (limit_.of == Limit::Of::silence)
      return {fmt::format("{}: no answer for {} s", host_name_, seconds)};
    return {fmt::format("{}: {} did not end within {} s and was stopped", host_name_, program,
                        seconds)};
  }

  Error too_much(const std::string& program) const {
    return {fmt::format("{}: {} said more than {} bytes and was stopped", host_name_, program,
                        limit_.bytes)};
  }
  size_t said() const { return completed_.out.size() + completed_.err.size(); }

  Result<> start() {
    channel_.reset(ssh_channel_new(session_));
    if (!channel_) return tl::unexpected(lost());
    const auto step = [&](auto function) -> Result<> {
      const int answer = until_done(session_, end_, [&] { return function(channel_.get()); });
      if (answer == SSH_OK) return {};
      if (answer == SSH_AGAIN) {
        return fail("{}: the host stopped answering: no program could be started within {} s",
                    host_name_, std::chrono::duration<double>(limit_.time).count());
      }
      return tl::unexpected(lost());
    };
    Result<> opened = step([](ssh_channel c) { return ssh_channel_open_session(c); });
    if (!opened) return opened;
    return step([](ssh_channel c) { return ssh_channel_request_exec(c, kReadArguments); });
  }

  /// An ignored message now and then: what is sent and never acknowledged makes the kernel notice a
  /// dead network (kSilence), also while a program works and says nothing. False: it has.
  bool knock() {
    if (Clock::now() - knocked_ < kKnock) return true;
    knocked_ = Clock::now();
    return ssh_send_ignore(session_, "keepalive") != SSH_ERROR;
  }

  /// True when bytes went out.
  Result<bool> write(const Source& source) {
    if (input_ended_) return false;
    if (pending_.empty()) {
      size_t size = 0;
      if (source) {
        pending_.resize(kPiece);
        const Result<size_t> filled = source(pending_.data(), pending_.size());
        if (!filled) return fail(filled);
        size = *filled;
      }
      pending_.resize(size);
      if (size == 0) {
        input_ended_ = true;
        ssh_channel_send_eof(channel_.get());
        return true;
      }
    }
    const int sent = ssh_channel_write(channel_.get(), pending_.data() + sent_,
                                       static_cast<uint32_t>(pending_.size() - sent_));
    if (sent == SSH_AGAIN || sent == 0) return false;
    if (sent < 0) {
      // The program may have ended without reading all: its exit code says why.
      if (!ssh_is_connected(session_)) return tl::unexpected(lost());
      input_ended_ = true;
      return false;
    }
    sent_ += static_cast<size_t>(sent);
    if (sent_ == pending_.size()) {
      pending_.clear();
      sent_ = 0;
    }
    return true;
  }

  /// True when bytes came in.
  Result<bool> read() {
    bool came = false;
    for (const int is_stderr : {0, 1}) {
      while (said() <= limit_.bytes) {
        const int n = ssh_channel_read_nonblocking(
            channel_.get(), buffer_.data(), static_cast<uint32_t>(buffer_.size()), is_stderr);
        if (n == SSH_ERROR && !ssh_is_connected(session_)) return tl::unexpected(lost());
        if (n <= 0) break;
        (is_stderr ? completed_.err : completed_.out)
            .append(buffer_.data(), static_cast<size_t>(n));
        came = true;
      }
    }
    return came;
  }

  /// Both streams are read to their end and the exit code is there (asking for it handles what the
  /// host has sent; after the streams' end nothing else would).
  bool ended() {
    if (!ssh_channel_is_eof(channel_.get())) return !ssh_is_connected(session_);
    completed_.exit_code = ssh_channel_get_exit_status(channel_.get());
    return completed_.exit_code >= 0 || ssh_channel_is_closed(channel_.get());
  }

  /// Ends the program, once: what ends it is not ended in turn. Not by a signal request: OpenSSH
  /// refuses those to root.
  tl::unexpected<Error> stop(Error error) {
    channel_.reset();
    const std::string group = cut_to_begin(completed_.err);
    if (!ends_another_ && !group.empty() && ssh_is_connected(session_)) {
      Exec killer(session_, host_name_, Limit{std::chrono::seconds(5)});
      killer.ends_another_ = true;
      (void)killer.run({"/bin/sh", "-c", "kill -s KILL -- \"-$1\"", "sh", group}, {});
    }
    return tl::unexpected(std::move(error));
  }

  /// Removes what came before the program's own output; gives its process group, or nothing when it
  /// has not begun.
  static std::string cut_to_begin(std::string& text) {
    const size_t begin = text.find(kBegin);
    const size_t end = begin == std::string::npos ? begin : text.find('\n', begin);
    if (end == std::string::npos) return {};
    std::string group = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
    text.erase(0, end + 1);
    return group;
  }

  Result<Completed> complete() {
    if (!ssh_is_connected(session_)) return tl::unexpected(lost());
    if (cut_to_begin(completed_.out).empty() || cut_to_begin(completed_.err).empty()) {
      return fail("{}: the login shell there did not run the command; it said: {}{}", host_name_,
                  excerpt(completed_.out), excerpt(completed_.err));
    }
    if (completed_.exit_code < 0) return fail("{}: the program gave no exit code", host_name_);
    return std::move(completed_);
  }

  static constexpr size_t kPiece = 1 << 18;
  static constexpr std::chrono::seconds kKnock{5};
  ssh_session session_;
  const std::string& host_name_;
  const Limit limit_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point end_;
  Clock::time_point knocked_ = Clock::now();
  bool ends_another_ = false;
  Channel channel_;
  std::string pending_;
  size_t sent_ = 0;
  bool input_ended_ = false;
  Completed completed_;
  std::vector<char> buffer_ = std::vector<char>(1 << 16);
};

}  // namespace

Result<Completed> exec(ssh_session session, const std::string& host_name,
                       const std::vector<std::string>& argv, const Source& source, Limit limit) {
  if (argv.empty()) return fail("{}: nothing to run: argv is empty", host_name);
  return Exec(session, host_name, limit).run(argv, source);
}

}  // namespace heddle::remote
