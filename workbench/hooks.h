// Hooks: a program, a webhook or a mail when a run ends or gives an alert, as `hooks.json` in the
// settings folder asks for (docs/hooks.md).
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "storage/run.h"
#include "storage/writer.h"
#include "workbench/alerts.h"

namespace heddle::workbench {

/// One entry of the file: on these events, one of the three.
struct Hook {
  std::vector<std::string> on;       // states of ended runs, "alert", "over"
  std::vector<std::string> command;  // a program and its arguments; the event as JSON on stdin
  std::string webhook;               // an http or https address to which the event is posted
  std::string mail;                  // an address

  bool operator==(const Hook&) const = default;
};

std::string hooks_path();
/// None where there is no file. An error names the file, the entry and what is valid.
Result<std::vector<Hook>> read_hooks(const std::string& path);

struct RunEvent {
  std::string name;  // one of Hook::on
  storage::RunSummary run;
  std::string words;  // the alert's, or why the run ended

  /// "shakespeare-auto failed: rank 1 was killed": a subject, and what a chat shows.
  std::string line() const;
  /// {event, text, run, words, store}: `run` as `heddle runs --json` has it.
  std::string json(const std::string& store_path) const;
};

/// Runs the hook to its end, 20 seconds at most. Blocks; any thread.
Result<> run_hook(const Hook& hook, const RunEvent& event, const std::string& store_path);

/// Runs hooks of one run on a thread of its own. A hook that fails becomes a line of the run's log.
class Hooks {
 public:
  /// `writer` outlives it.
  Hooks(std::string store_path, storage::Writer& writer, storage::RunId run);
  /// Finishes those that are under way.
  ~Hooks();
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  /// The file is read for each event: a person may change it at any time. Does not wait.
  void alert(const Alert& alert);
  void end();

 private:
  struct Task {
    std::string event;  // empty: the state of the run
    std::string words;
  };
  void add(Task task);
  void work();
  Result<> handle(const Task& task) const;

  std::string store_path_;
  storage::Writer& writer_;
  storage::RunId run_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool ends_ = false;
  std::thread thread_;  // started with the first task
};

}  // namespace heddle::workbench
