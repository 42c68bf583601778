// A node: one machine that runs ranks, this one or one behind SSH. Everything above it (probe,
// deploy, launch, follow) has one code path. Threads: a Node may be called from any thread; calls
// on one Node take turns. A call blocks until done or until its deadline: never call from the GUI
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace heddle::remote {

using Completed = process::Completed;  // exit_code (128 + signal when killed), out, err
using Command = process::Command;      // argv, input, deadline

/// Told bytes done and in total; returning false stops the transfer, which can be resumed later.
/// Called on a thread of the node's; must not call the node.
using Progress = std::function<bool(uint64_t done, uint64_t total)>;

struct Entry {
  std::string name;  // without its folder
  uint64_t size = 0;
  double modified = 0;  // Unix seconds
  bool folder = false;
};

/// A part of a file: at most `max_bytes` from `offset` on.
struct Range {
  std::string path;
  uint64_t offset = 0;
  uint64_t max_bytes = 1 << 20;
};

/// Facts learnt when the connection began.
struct Greeting {
  std::chrono::milliseconds shell_start{0};  // how long the login shell takes to run a command
  double clock_ahead = 0;                    // seconds, of the node's clock; 0: none to be seen
  std::string home = {};                     // empty: it could not be entered
};

struct Put {
  std::string from;    // a file on this machine
  std::string to;      // absolute path on the node; its folder must exist
  std::string sha256;  // lower-case hex; what arrived must have it
  int mode = 0644;
};

/// Paths are absolute on the node. Errors name the host and say what to do.
class Node {
 public:
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// The host's name in messages.
  const std::string& name() const { return name_; }
  virtual bool is_this_machine() const = 0;
  /// False once the connection is lost: make a new Node. Always true on this machine.
  virtual bool connected() const = 0;
  virtual Greeting greeting() const { return {}; }

  /// Runs a program without a terminal. A non-zero exit code is no error. At the deadline the
  /// program is killed and the result is an error. A child left behind must have its output
  /// redirected.
  virtual Result<Completed> run(const Command& command) = 0;

  /// Writes under a name of its own (base/new_file.h; over SSH it goes on where an earlier attempt
  /// was cut off), checks the hash, renames it. Removes what attempts have left of the file.
  virtual Result<> put_file(const Put& put, const Progress& progress) = 0;
  /// Several files in the same way, with the progress of all. Arrived files stay when one
  /// fails.
  virtual Result<> put_files(const std::vector<Put>& puts, const Progress& progress) = 0;
  /// Writes a small file in the same way.
  virtual Result<> put_bytes(const std::string& bytes, const std::string& to, int mode) = 0;

  /// Reads the ranges in one go. Nothing: there is no such file. Empty: nothing beyond the offset
  /// yet.
  virtual Result<std::vector<std::optional<std::string>>> read(
      const std::vector<Range>& ranges) = 0;
  /// The folder's entries, without `.` and `..`, by name. No such folder: an empty list.
  virtual Result<std::vector<Entry>> list(const std::string& folder) = 0;
  /// Nothing: there is no such path.
  virtual Result<std::optional<Entry>> stat(const std::string& path) = 0;
  virtual Result<> make_folders(const std::string& path) = 0;
  /// Removes a file or a whole folder; one that is not there is no error.
  virtual Result<> remove(const std::string& path) = 0;
  virtual Result<std::string> home() = 0;

  /// One range of one file; a missing file is an error.
  Result<std::string> read(const std::string& path, uint64_t offset = 0,
                           uint64_t max_bytes = 64 << 20);
  /// Runs a program that must end with 0 and gives its stdout; else an error with its stderr.
  Result<std::string> run_checked(const Command& command);
  /// `~` and `~/…` to an absolute path on the node.
  Result<std::string> expand(const std::string& path);

 protected:
  explicit Node(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

}  // namespace heddle::remote
