#include "workbench/follow_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/runs/run_files.h"
#include "storage/clock.h"
#include "storage/job.h"
#include "workbench/backend.h"
#include "workbench/hooks.h"
#include "workbench/host_feed.h"
#include "workbench/import.h"
#include "workbench/lost_hosts.h"
#include "workbench/queue_pause.h"
#include "workbench/run_watch.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using storage::RunState;

/// How long a host may bring nothing before its supervisor is asked for, at first and at most.
constexpr milliseconds kQuietFirst{3000};
constexpr milliseconds kQuietMost{30000};
constexpr milliseconds kRetryFirst{500};
constexpr milliseconds kRetryMost{15000};
/// A host that does not answer is left so long after the other hosts' ranks have ended.
constexpr std::chrono::seconds kHostGone{60};
/// Readings of one host before the next one's turn.
constexpr int kMaxReadings = 16;
/// How often an answer of the hosts is written down: each costs a commit.
constexpr double kNote = 2;  // seconds

/// The first host's clock as the store knows it.
double known_clock(const storage::RunDetail& run) {
  const auto found = run.environment.find(storage::kClockAhead);
  if (found == run.environment.end()) return 0;
  const auto* ahead = std::get_if<double>(&found->second);
  return ahead ? *ahead : 0;
}

/// Its job as the store knows it; without a number: none.
Job known_job(const storage::RunDetail& run) {
  Job job;
  const auto found = run.environment.find(storage::kJob);
  if (found != run.environment.end())
    if (const auto* number = std::get_if<std::string>(&found->second)) job.id = *number;
  job.waits = run.summary.state == RunState::waiting;
  if (job.waits) job.words = run.summary.cause;
  return job;
}

/// How a run ended: among several hosts the first failure decides, then a loss, then a stop.
struct Verdict {
  RunState state = RunState::done;
  std::string cause;
  double finished = 0;  // by this machine's clock; 0: nobody knows
};

Verdict verdict_of(const std::deque<HostFeed>& feeds) {
  const runs::End* first_failed = nullptr;
  double failed_at = 0;
  Verdict verdict;
  for (const HostFeed& feed : feeds) {
    if (feed.lost()) {
      verdict.state = RunState::lost;
      verdict.cause = feed.loss();
      continue;
    }
    const runs::End& end = *feed.end();
    const double finished = end.finished - feed.clock_ahead();
    if (end.state == "failed" && (!first_failed || finished < failed_at)) {
      first_failed = &end;
      failed_at = finished;
    } else if (end.state == "stopped" && verdict.state == RunState::done) {
      verdict.state = RunState::stopped;
      verdict.cause = end.cause;
    }
    verdict.finished = std::max(verdict.finished, finished);
  }
  // The others of a lost host fail for want of it.
  if (first_failed && verdict.state != RunState::lost) {
    return {RunState::failed, first_failed->cause, failed_at};
  }
  // The others' ends are not the lost host's.
  if (verdict.state == RunState::lost) verdict.finished = 0;
  return verdict;
}

class RunFollower {
 public:
  RunFollower(const std::string& store_path, storage::Writer& writer, const storage::RunDetail& run,
              Place place, const std::function<void()>& changed, std::stop_token stop)
      : store_path_(store_path),
        writer_(writer),
        run_(run.summary.id),
        adopted_(run.summary.state == RunState::preparing),
        place_(std::move(place)),
        changed_(changed),
        stop_(std::move(stop)),
        pause_(backend_of(place_.target).pause()),
        hooks_(store_path, writer, run_),
        watch_(store_path, writer, run_, place_,
               [this](const Alert& alert) { hooks_.alert(alert); }) {
    for (size_t i = 0; i < place_.shares.size(); ++i)
      feeds_.emplace_back(writer, run_, place_, i, i == 0 ? known_clock(run) : 0);
    heard_.resize(feeds_.size());
    silent_.resize(feeds_.size());
    brought_.resize(feeds_.size());
    job_ = known_job(run);
    quiet_in_queue_ = run.ranks.empty();
    quiet_since_ = steady_clock::now();
  }

  void follow() {
    milliseconds retry = kRetryFirst;
    watch_.begin();
    while (!stop_.stop_requested()) {
      const Result<bool> over = step();
      if (!over) {
        report_trouble(over.error().message, retry);
        for (HostFeed& feed : feeds_) feed.disconnect();
        sleep(retry);
        retry = std::min(2 * retry, kRetryMost);
        continue;
      }
      if (*over) return;
      retry = kRetryFirst;
      sleep(pause_);
    }
  }

 private:
  /// Whether the run is over and all of it in the store.
  Result<bool> step() {
    bool came = false;
    std::optional<Error> trouble;
    for (size_t i = 0; i < feeds_.size(); ++i) {
      const Result<bool> some = read(i);
      if (some) {
        silent_[i].reset();
        came |= *some;
        brought_[i] = brought_[i] || *some;
        continue;
      }
      // The other hosts are read all the same.
      if (!silent_[i]) silent_[i] = steady_clock::now();
      if (!trouble) trouble = some.error();
    }
    if (trouble && !leave_gone_hosts(trouble->message)) return fail("{}", trouble->message);
    if (all_brought()) {
      brought_.assign(feeds_.size(), false);
      // A run of long steps is often quiet: twice its last silence is nothing to ask about.
      const auto silence =
          std::chrono::duration_cast<milliseconds>(steady_clock::now() - quiet_since_);
      quiet_ = std::clamp(2 * silence, kQuietFirst, kQuietMost);
      quiet_since_ = steady_clock::now();
    }
    note_begin(came);
    Result<> looked = look_after_supervisors();
    if (looked) looked = end_with_the_first();
    if (looked) looked = note_job();
    if (!looked && !is_silence()) return fail(looked);
    note_silence(looked ? "" : looked.error().message);
    note_heard(true);
    const bool all_drained = std::all_of(feeds_.begin(), feeds_.end(),
                                         [](const HostFeed& feed) { return feed.drained(); });
    if (watch_.look(all_drained)) changed_();
    if (!all_drained) return false;
    if (Result<> finished = finish(); !finished) return fail(finished);
    return true;
  }

  /// Whether every host whose ranks train has brought something: one that is dead brings nothing,
  /// while another's ranks may wait for it and log that.
  bool all_brought() const {
    for (size_t i = 0; i < feeds_.size(); ++i)
      if (!brought_[i] && !feeds_[i].end() && !feeds_[i].lost()) return false;
    return true;
  }

  /// Whether anything has come from that host.
  Result<bool> read(size_t i) {
    HostFeed& feed = feeds_[i];
    if (feed.lost() && feed.drained()) return false;
    const bool is_new = !feed.connected();
    if (Result<> connected = feed.connect(current_target()); !connected) return fail(connected);
    is_back_ |= is_new && heard_[i] > 0;
    const bool forged = feed.forged();
    bool came = false;
    // As long as there is more than one piece, the pause between polls would only fall behind.
    // But the other hosts wait meanwhile, and a run of quick steps always has more.
    for (int readings = 0; readings < kMaxReadings; ++readings) {
      const Result<uint64_t> bytes = feed.poll();
      if (!bytes) return fail(bytes);
      heard_[i] = unix_now();
      note_heard(*bytes > 0);
      if (*bytes == 0 || stop_.stop_requested()) break;
      came = true;
      changed_();
    }
    if (feed.forged() && !forged)
      line(telemetry::Level::warning,
           fmt::format("the end.json of {} was not written by the run's supervisor: it counts for "
                       "nothing",
                       feed.name()));
    return came;
  }

  /// Where the ranks of the hosts that answer have failed, those of a silent host train no more:
  /// the run is over. True: no host is silent any longer.
  bool leave_gone_hosts(const std::string& trouble) {
    const HostFeed* failed = nullptr;
    for (size_t i = 0; i < feeds_.size(); ++i) {
      const HostFeed& feed = feeds_[i];
      if (!silent_[i] && !feed.drained()) return false;
      if (silent_[i] && steady_clock::now() - *silent_[i] < kHostGone) return false;
      if (feed.end() && feed.end()->state == "failed") failed = &feed;
    }
    if (!failed) return false;
    for (size_t i = 0; i < feeds_.size(); ++i) {
      if (!silent_[i]) continue;
      feeds_[i].leave(fmt::format("{} is lost: {}. The ranks of {} have ended: {}",
                                  feeds_[i].name(), trouble, failed->name(), failed->end()->cause));
      lost_hosts_.push_back(feeds_[i].name());
      silent_[i].reset();
    }
    return true;
  }

  /// A run whose supervisor is dead brings nothing and has no end.
  Result<> look_after_supervisors() {
    const bool quiet = steady_clock::now() - quiet_since_ >= quiet_;
    const bool unsettled = std::ranges::any_of(feeds_, &HostFeed::unsettled);
    if (!quiet && !adopted_ && !unsettled && !is_back_) return {};
    for (HostFeed& feed : feeds_) {
      if (feed.end() || feed.lost()) continue;
      const Result<runs::Status> status = feed.status();
      if (!status) return fail(status);
      using runs::Condition;
      if (status->condition == Condition::lost || status->condition == Condition::absent) {
        Result<std::string> cause = cause_of_loss(feed, status->condition);
        if (!cause) return fail(cause);
        feed.give_up(std::move(*cause));
        // A person who takes its files away wants no more of it.
        if (status->condition == Condition::lost && !feed.forged())
          lost_hosts_.push_back(feed.name());
        else
          is_taken_away_ = true;
      }
      if (status->stopped && !std::exchange(stop_told_, true))
        line(telemetry::Level::warning,
             fmt::format(
                 "the supervisor on {} (process {}) has been stopped by somebody; kill -CONT "
                 "{} there lets it go on, and so does asking the run to stop",
                 feed.name(), status->state->supervisor.pid, status->state->supervisor.pid));
    }
    is_back_ = false;
    if (quiet || adopted_) {
      quiet_since_ = steady_clock::now();
      quiet_ = std::min(2 * quiet_, kQuietMost);
    }
    return adopt();
  }

  Result<std::string> cause_of_loss(HostFeed& feed, runs::Condition found) const {
    if (found == runs::Condition::lost)
      return fmt::format(
          "the supervisor on {} is gone and left no end{}: it was killed, or the host was "
          "restarted",
          feed.name(), feed.forged() ? " (the end.json there is not its own)" : "");
    const Result<bool> there = feed.has_run_dir();
    if (!there) return fail(there);
    if (*there && adopted_)
      return fmt::format("it was never started on {}: the launch was interrupted before",
                         feed.name());
    return fmt::format("{}{} on {} is gone: somebody has moved or removed it, and its ranks end",
                       feed.run_dir(), *there ? "/state.json" : "", feed.name());
  }

  /// Notes the batch system's state of the run's job, while the run goes on.
  Result<> note_job() {
    const HostFeed& first = feeds_.front();
    if (steady_clock::now() < job_look_ || first.end() || first.lost()) return {};
    auto job = feeds_.front().job();
    if (!job) return fail(job);
    job_look_ = steady_clock::now() + queue_pause.load();
    if (!*job) return {};
    const bool is_new = job_.id != (*job)->id;
    const bool turned = is_new || job_.waits != (*job)->waits;
    if (turned) quiet_in_queue_ = false;
    job_ = std::move(**job);
    if (turned && !job_.words.empty())
      line(telemetry::Level::info, fmt::format("job {} {}", job_.id, job_.words));
    if (turned) noted_ = 0;
    if (!is_new) return {};
    return writer_.set_environment(run_, {{storage::kJob, job_.id}}).get();
  }

  /// A waiting job whose logs grow has begun since the last look at the queue. Its logs may have
  /// been behind when it began to wait.
  void note_begin(bool came) {
    if (!job_.waits) return;
    if (!came) quiet_in_queue_ = true;
    if (!came || !quiet_in_queue_) return;
    job_.waits = false;
    job_look_ = steady_clock::now() + queue_pause.load();
    noted_ = 0;
    line(telemetry::Level::info, fmt::format("job {} has begun", job_.id));
  }

  /// Whether it is the batch system that did not answer: the hosts are in reach, and so are the
  /// logs.
  bool is_silence() const {
    return backend_of(place_.target).ends_parts() &&
           std::ranges::all_of(feeds_, &HostFeed::connected);
  }

  void note_silence(const std::string& message) {
    if (message.empty() == silence_.empty()) return;
    silence_ = message;
    noted_ = 0;
    if (message.empty())
      line(telemetry::Level::info, "the batch system answers again");
    else
      line(telemetry::Level::warning, message + "; the run is followed by its logs meanwhile");
  }

  /// Without the ranks of a failed host the others' would wait for them.
  Result<> end_with_the_first() {
    const bool one_failed = std::any_of(feeds_.begin(), feeds_.end(), [](const HostFeed& feed) {
      return feed.lost() || (feed.end() && feed.end()->state == "failed");
    });
    for (HostFeed& feed : feeds_) {
      if (!one_failed || feed.end() || feed.lost()) continue;
      if (Result<> killed = feed.kill(); !killed) return killed;
    }
    return {};
  }

  /// The launcher died between starting the supervisors and saying so.
  Result<> adopt() {
    if (!adopted_) return {};
    adopted_ = false;
    const bool all_lost =
        std::all_of(feeds_.begin(), feeds_.end(), [](const HostFeed& feed) { return feed.lost(); });
    if (all_lost) return {};
    Result<> set = writer_.set_state(run_, RunState::running).get();
    changed_();
    return set;
  }

  Result<> finish() {
    for (HostFeed& feed : feeds_) {
      if (Result<> ended = feed.end_logs(); !ended) return ended;
    }
    // With several hosts, no host's end is the run's, and a log alone proves none: the verdict ends
    // it.
    if (feeds_.size() == 1 && feeds_.front().end()) {
      if (Result<> taken = feeds_.front().take_end(); !taken) return taken;
    }
    Verdict verdict = verdict_of(feeds_);
    if (const Result<> noted = note_lost_hosts(verdict); !noted) return noted;
    Result<> set = writer_.set_state(run_, verdict.state, verdict.cause, verdict.finished).get();
    changed_();
    if (set) hooks_.end();
    return set;
  }

  /// Before it ends: from its end on it may go on by itself.
  Result<> note_lost_hosts(Verdict& verdict) {
    if (verdict.state != RunState::lost || lost_hosts_.empty() || is_taken_away_ ||
        backend_of(place_.target).kind() != "ssh")
      return {};
    Result<storage::Reader> reader = storage::Reader::open(store_path_);
    if (!reader) return fail(reader);
    const auto run = reader->run(run_);
    if (!run) return fail(run);
    LossNote note = note_loss(*run, place_, lost_hosts_);
    verdict.cause += note.words;
    return writer_.set_environment(run_, std::move(note.environment)).get();
  }

  /// The target as it is now: a person may have accepted a new key since the launch.
  remote::Target current_target() const {
    Result<storage::Reader> reader = storage::Reader::open(store_path_);
    if (!reader) return place_.target;
    return with_keys_and_spares_of_now(*reader, place_.target);
  }

  /// A run is heard of when each of its hosts has answered.
  double heard() const { return *std::min_element(heard_.begin(), heard_.end()); }

  /// `works`: an answer alone does not end a trouble, which may be elsewhere.
  void note_heard(bool works) {
    const bool back = works && lost_ && heard() > *lost_;
    if (!back && (lost_ || heard() - noted_ < kNote)) return;
    noted_ = heard();
    lost_.reset();
    write({.heard = noted_, .reason = silence_});
    if (back) line(telemetry::Level::info, "following again");
  }

  void report_trouble(const std::string& message, milliseconds retry) {
    const bool first = !lost_;
    const double now = unix_now();
    if (first) lost_ = now;
    write({.heard = heard(),
           .lost = lost_,
           .next_try = now + std::chrono::duration<double>(retry).count(),
           .reason = message});
    if (first) line(telemetry::Level::warning, message + "; trying again");
  }

  void write(storage::Link link) {
    if (job_.waits) link.waits = job_.words;
    // Should the store be what fails, the next step says so.
    [[maybe_unused]] const Result<> set = writer_.set_link(run_, std::move(link)).get();
    changed_();
  }

  void line(telemetry::Level level, const std::string& text) {
    storage::LogLine line;
    line.level = level;
    line.text = text;
    // Should the store be what fails, the next step says so again.
    [[maybe_unused]] const Result<> added = writer_.add_line(run_, line).get();
    changed_();
  }

  void sleep(milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop_, time, [] { return false; });
  }

  const std::string& store_path_;
  storage::Writer& writer_;
  storage::RunId run_;
  bool adopted_;
  bool stop_told_ = false;
  Place place_;
  const std::function<void()>& changed_;
  std::stop_token stop_;
  milliseconds pause_;
  Hooks hooks_;
  RunWatch watch_;
  std::deque<HostFeed> feeds_;
  steady_clock::time_point quiet_since_;
  milliseconds quiet_ = kQuietFirst;
  std::vector<bool> brought_;                                    // by feed: since `quiet_since_`
  std::vector<std::optional<steady_clock::time_point>> silent_;  // by feed: since when
  std::vector<double> heard_;  // by feed: when it last answered, Unix seconds
  double noted_ = 0;           // what of it the store has
  Job job_;                    // as the store has it; without a number: none
  bool is_back_ = false;       // a host answers again, which may have been restarted meanwhile
  std::vector<std::string> lost_hosts_;  // by name
  bool is_taken_away_ = false;           // its files have been touched on a host
  bool quiet_in_queue_ = false;          // since it waits, there was nothing to read
  steady_clock::time_point job_look_;
  std::string silence_;         // the batch system does not answer: its words
  std::optional<double> lost_;  // since when a step fails
  std::mutex mutex_;
  std::condition_variable_any wake_;
};

}  // namespace

void follow_run(const std::string& store_path, storage::Writer& writer,
                const storage::RunDetail& run, const std::function<void()>& changed,
                std::stop_token stop) {
  Result<Place> place = place_from_json(run.hosts);
  if (place && is_import(run.summary, *place)) {
    // All of it is still in its directory: importing it again starts over.
    [[maybe_unused]] const Result<> removed = writer.remove(run.summary.id).get();
    changed();
    return;
  }
  std::string unlaunched;
  if (!place) {
    unlaunched = place.error().message;
  } else if (place->shares.empty()) {
    unlaunched = "interrupted while it was being prepared";
  }
  if (!unlaunched.empty()) {
    [[maybe_unused]] const Result<> set =
        writer.set_state(run.summary.id, RunState::failed, unlaunched).get();
    changed();
    return;
  }
  RunFollower(store_path, writer, run, std::move(*place), changed, std::move(stop)).follow();
}

}  // namespace heddle::workbench
