#include "remote/exec.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/clock.h"
#include "base/excerpt.h"
#include "remote/quote.h"

namespace heddle::remote {
namespace {

constexpr std::chrono::seconds kKillPatience{5};
constexpr std::chrono::seconds kClosePatience{2};
constexpr std::chrono::milliseconds kSignalPatience{500};
// The login shell of a host that is busy takes longer than before.
constexpr int kSlower = 3;

double seconds_of(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

bool has_begun(const std::string& text) {
  const size_t begin = text.find(kBegin);
  return begin != std::string::npos && text.find('\n', begin) != std::string::npos;
}

/// Removes what came before the command's own output; gives its process group, or nothing when it
/// has not begun.
std::string cut_to_begin(std::string& text) {
  const size_t begin = text.find(kBegin);
  const size_t end = begin == std::string::npos ? begin : text.find('\n', begin);
  if (end == std::string::npos) return {};
  std::string group = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
  text.erase(0, end + 1);
  return group;
}

/// The state of one exec: what is still to be written, what has come back.
class Exec {
 public:
  /// `patience`: for the login shell. The limit counts from the command's first word on.
  Exec(Connection& connection, const std::string& host_name, Limit limit,
       std::chrono::milliseconds patience)
      : connection_(connection), host_name_(host_name), limit_(limit), patience_(patience) {}

  /// Nothing is sent before the command says that it reads: a login shell that was replaced would
  /// take it for its own.
  Result<Completed> run(const std::vector<std::string>& argv, const Source& source) {
    program_ = argv[0];
    pending_ = quote_line(argv);
    return run(kReadArguments, source);
  }

  /// A command that reads nothing: its input ends after `open_for`.
  Result<Completed> run_without_input(const char* command, std::chrono::milliseconds open_for) {
    program_ = "the first command";
    input_ended_ = true;
    end_input_at_ = Clock::now() + open_for;
    return run(command, {});
  }

  /// When the command said its first word; nothing: never.
  const std::optional<Clock::time_point>& begun() const { return begun_; }
  double begun_unix() const { return begun_unix_; }
  std::chrono::milliseconds shell_start() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(*begun_ - opened_);
  }
  /// How long after its input's end it began; nothing: before that.
  std::optional<std::chrono::milliseconds> begun_after_input() const {
    if (end_input_at_ || !input_ended_at_ || *begun_ < *input_ended_at_) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(*begun_ - *input_ended_at_);
  }

 private:
  Result<Completed> run(const char* command, const Source& source) {
    auto opened = connection_.open(host_name_, command, Clock::now() + limit_.time);
    if (!opened) return fail(opened);
    streams_ = std::move(*opened);
    opened_ = Clock::now();
    end_ = opened_ + patience_;
    for (;;) {
      end_input();
      const Result<bool> wrote = begun_ ? write(source) : false;
      if (!wrote) return stop(wrote.error());
      const Result<bool> came = read();
      if (!came) return fail(came);
      if (said() > limit_.bytes) return stop(too_much());
      if (streams_->ended()) break;
      if (begun_ && (*wrote || *came) && limit_.of == Limit::Of::silence) extend();
      // Also while it talks: one that never ends must not be heard for ever.
      if (Clock::now() >= end_) return stop(late());
      if (*wrote || *came) continue;
      if (!knock()) return fail("{}: the connection is lost", host_name_);
      streams_->wait(end_);
    }
    // Where the host has room for one program at a time, the next waits for this one's end.
    streams_->wait_for_close(Clock::now() + kClosePatience);
    return complete();
  }

  void begin() {
    begun_ = Clock::now();
    begun_unix_ = unix_now();
    extend();
  }
  void extend() { end_ = std::min(Clock::now() + limit_.time, *begun_ + limit_.most); }

  void end_input() {
    if (!end_input_at_ || begun_ || Clock::now() < *end_input_at_) return;
    end_input_at_.reset();
    input_ended_at_ = Clock::now();
    streams_->end_input();
  }

  Error lost() const {
    return {fmt::format("{}: the connection is lost: {}", host_name_, connection_.error())};
  }
  Error late() const {
    if (!begun_)
      return {
          fmt::format("{}: no answer: the login shell there has not run the command within "
                      "{:.3g} s",
                      host_name_, seconds_of(patience_))};
    if (limit_.of == Limit::Of::silence && end_ == *begun_ + limit_.most)
      return {fmt::format("{}: {} was still talking after {} s and was stopped", host_name_,
                          program_, seconds_of(limit_.most))};
    const double seconds = seconds_of(limit_.time);
    if (limit_.of == Limit::Of::silence)
      return {fmt::format("{}: no answer for {} s", host_name_, seconds)};
    return {fmt::format("{}: {} did not end within {} s and was stopped", host_name_, program_,
                        seconds)};
  }

  Error too_much() const {
    return {fmt::format("{}: {} said more than {} bytes and was stopped", host_name_, program_,
                        limit_.bytes)};
  }
  size_t said() const { return completed_.out.size() + completed_.err.size(); }

  /// Also while a program works and says nothing. False: the network is dead.
  bool knock() {
    if (Clock::now() - knocked_ < kKnock) return true;
    knocked_ = Clock::now();
    return connection_.knock();
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
        streams_->end_input();
        return true;
      }
    }
    const int sent = streams_->write(pending_.data() + sent_, pending_.size() - sent_);
    if (sent == 0) return false;
    if (sent < 0) {
      // The program may have ended without reading all: its exit code says why.
      if (!connection_.is_open()) return tl::unexpected(lost());
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
    for (const bool is_stderr : {false, true}) {
      while (said() <= limit_.bytes) {
        const int n = streams_->read(is_stderr, buffer_.data(), buffer_.size());
        if (n < 0 && !connection_.is_open()) return tl::unexpected(lost());
        if (n <= 0) break;
        std::string& text = is_stderr ? completed_.err : completed_.out;
        const size_t before = text.size();
        text.append(buffer_.data(), static_cast<size_t>(n));
        if (!begun_ && text.find(kBegin, before - std::min(before, kBegin.size())) != text.npos)
          begin();
        came = true;
      }
    }
    return came;
  }

  /// Ends the program, once: what ends it is not ended in turn. OpenSSH refuses a signal request to
  /// root, and where there is no room for a second program there is no other way.
  tl::unexpected<Error> stop(Error error) {
    if (connection_.is_open() && streams_->kill(Clock::now() + kSignalPatience))
      return tl::unexpected(std::move(error));
    streams_.reset();
    const std::string group = cut_to_begin(completed_.err);
    if (!ends_another_ && !group.empty() && connection_.is_open()) {
      Exec killer(connection_, host_name_, Limit{kKillPatience}, kKillPatience + patience_);
      killer.ends_another_ = true;
      (void)killer.run({"/bin/sh", "-c", "kill -s KILL -- \"-$1\"", "sh", group}, {});
      // It keeps the only room there is: the next program needs a connection of its own.
      if (!killer.begun_) connection_.hang_up();
    }
    return tl::unexpected(std::move(error));
  }

  Result<Completed> complete() {
    if (!connection_.is_open()) return tl::unexpected(lost());
    completed_.exit_code = streams_->exit_code();
    if (!has_begun(completed_.out) || !has_begun(completed_.err)) {
      std::string said = excerpt(completed_.out) + excerpt(completed_.err);
      while (!said.empty() && (said.back() == '\n' || said.back() == '.')) said.pop_back();
      return fail(
          "{}: the login shell there did not run the command; it said: {}. Does a start-up file "
          "(~/.bashrc, ~/.zshenv …) end or replace it, as `exec zsh` does? Let it do so only where "
          "there is a terminal: `[ -t 0 ] && exec zsh`. Or is the account made for something else "
          "(its shell in /etc/passwd, ForceCommand of sshd_config)?",
          host_name_, said.empty() ? "nothing" : said);
    }
    cut_to_begin(completed_.out);
    cut_to_begin(completed_.err);
    if (completed_.exit_code < 0) return fail("{}: the program gave no exit code", host_name_);
    return std::move(completed_);
  }

  static constexpr size_t kPiece = 1 << 18;
  static constexpr size_t kMuch = 4 << 20;  // on the way at once, from a program that says more
  static constexpr std::chrono::seconds kKnock{5};
  Connection& connection_;
  const std::string& host_name_;
  const Limit limit_;
  const std::chrono::milliseconds patience_;
  std::string program_;
  Clock::time_point opened_;
  std::optional<Clock::time_point> begun_;
  double begun_unix_ = 0;
  std::optional<Clock::time_point> end_input_at_;
  std::optional<Clock::time_point> input_ended_at_;
  Clock::time_point end_;
  Clock::time_point knocked_ = Clock::now();
  bool ends_another_ = false;
  std::unique_ptr<Streams> streams_;
  std::string pending_;
  size_t sent_ = 0;
  bool input_ended_ = false;
  Completed completed_;
  std::vector<char> buffer_ = std::vector<char>(limit_.bytes > kMuch ? kMuch : 1 << 16);
};

/// By how many seconds a clock that showed `there` between the two times is ahead.
double ahead(double there, double asked, double answered) {
  return there < asked ? there - asked : std::max(0.0, there - answered);
}

}  // namespace

Result<Completed> exec(Connection& connection, const std::string& host_name,
                       const std::vector<std::string>& argv, const Source& source, Limit limit,
                       std::chrono::milliseconds& shell_start) {
  if (argv.empty()) return fail("{}: nothing to run: argv is empty", host_name);
  Exec running(connection, host_name, limit, limit.time + kSlower * shell_start);
  Result<Completed> completed = running.run(argv, source);
  if (running.begun()) shell_start = std::max(shell_start, running.shell_start());
  return completed;
}

Result<Greeting> greet(Connection& connection, const std::string& host_name,
                       std::chrono::milliseconds patience) {
  // A start-up file that reads its input goes on when that ends.
  constexpr std::chrono::seconds kOpenFor{8};
  constexpr std::chrono::milliseconds kAtOnce{1500};
  const Limit limit{.time = std::min(patience, Limit{}.time), .bytes = size_t{64} << 10};
  Exec hello(connection, host_name, limit, patience);
  const Result<Completed> said = hello.run_without_input(kSayClock, kOpenFor);
  if (!said) return fail(said);
  const double answered = unix_now();
  if (const auto after = hello.begun_after_input(); after && *after < kAtOnce) {
    Exec again(connection, host_name, limit, patience);
    if (const auto heard = again.run_without_input(kSayClock, {}); !heard) return fail(heard);
    if (again.shell_start() < kOpenFor / 2)
      return fail(
          "{}: a start-up file of the login shell there (~/.bashrc, ~/.profile …) reads from its "
          "input, which is where Heddle's commands come from: let it read only where there is a "
          "terminal: `[ -t 0 ] && read …`",
          host_name);
  }
  Greeting greeting{.shell_start = hello.shell_start()};
  double there = 0;
  const char* text = said->out.data();
  if (std::from_chars(text, text + said->out.size(), there).ec == std::errc())
    greeting.clock_ahead = ahead(there, hello.begun_unix(), answered);
  std::istringstream lines(said->out);
  std::string clock;
  std::getline(lines, clock);
  if (std::getline(lines, greeting.home) && !greeting.home.starts_with('/')) greeting.home.clear();
  return greeting;
}

}  // namespace heddle::remote
