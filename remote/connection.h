// An open connection to a host that runs programs there, and one program's streams on it. There are
// two kinds: Heddle's own (channel.h), and one that the user's ssh holds open
// (master_connection.h). Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "remote/dial.h"

namespace heddle::remote {

/// A program that runs on a host. Destroyed before its end it is left to itself.
class Streams {
 public:
  virtual ~Streams() = default;
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Gives the bytes taken for its stdin; 0: none now; negative: it takes no more.
  virtual int write(const char* bytes, size_t size) = 0;
  virtual void end_input() = 0;
  /// Gives the bytes read; 0 or less: none now.
  virtual int read(bool is_stderr, char* bytes, size_t size) = 0;
  /// Both streams were read to their end, and the host has said how it ended.
  virtual bool ended() = 0;
  /// Once it has ended; negative: the host gave none.
  virtual int exit_code() = 0;
  /// Asks the host to kill it. True: it has ended by `deadline`.
  virtual bool kill(Clock::time_point deadline) = 0;
  /// Waits for its room to be free for the next program.
  virtual void wait_for_close(Clock::time_point deadline) = 0;
  /// Waits until there is something to do, at most 100 ms and not beyond `deadline`.
  virtual void wait(Clock::time_point deadline) = 0;

 protected:
  Streams() = default;
};

class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Waits for room and for the host's word that it runs `command`, until `deadline`.
  virtual Result<std::unique_ptr<Streams>> open(const std::string& host_name, const char* command,
                                                Clock::time_point deadline) = 0;
  virtual bool is_open() const = 0;
  /// Why it is not open, or what failed last.
  virtual std::string error() const = 0;
  /// An ignored message now and then: what is sent and never acknowledged makes the kernel notice a
  /// dead network (kSilence). False: it has.
  virtual bool knock() = 0;
  /// Looks whether the host has hung up, while no program runs. False: it has.
  virtual bool take_in() = 0;
  /// The next use fails: its caller connects again.
  virtual void hang_up() = 0;

 protected:
  Connection() = default;
};

}  // namespace heddle::remote
