#include "workbench/lost_hosts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/number_text.h"
#include "engine/launch/restarts.h"
#include "engine/recipe/parse.h"
#include "remote/connect.h"
#include "storage/difference.h"
#include "workbench/backend.h"
#include "workbench/continuation.h"
#include "workbench/launch.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

using std::chrono::steady_clock;

// Keys of the environment.
constexpr const char* kLostHosts = "lost_hosts";      // names, kBetween between them
constexpr const char* kGoesOn = "goes_on";            // kSoon, kDone, kNot
constexpr const char* kGoesOnAs = "goes_on_as";       // the run's number
constexpr const char* kRestarts = "restarts_before";  // of the runs that it goes on from

constexpr const char* kSoon = "soon";
constexpr const char* kDone = "done";
constexpr const char* kNot = "not";
constexpr std::string_view kBetween = ", ";
/// The start of the words that hold until it is known what came of it.
constexpr std::string_view kSoonWords = "; it goes on by itself";

/// Hosts of which none answers are tried so often, after this pause.
constexpr int kTries = 20;
constexpr std::chrono::seconds kPause{15};
/// How long the old ranks may need to be gone once they are killed.
constexpr std::chrono::seconds kKilled{30};

std::string text_of(const storage::RunDetail& run, const char* key) {
  const auto found = run.environment.find(key);
  const auto* text =
      found == run.environment.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text ? *text : std::string();
}

int64_t number_of(const storage::Values& values, const char* key) {
  const auto found = values.find(key);
  if (found == values.end()) return 0;
  return static_cast<int64_t>(storage::number_of(found->second).value_or(0));
}

/// By its supervisors, and of the runs that it goes on from.
int64_t restarts_of(const storage::RunDetail& run) {
  return std::max(number_of(run.results, "restarts"), number_of(run.environment, kRestarts));
}

recipe::Restart allowed_by(const storage::RunDetail& run) {
  return recipe::parse(run.recipe, run.summary.name).recipe.restart;
}

/// "hardware.ranks 1 instead of 2, …"; empty: nothing changes.
std::string changes_text(const Continuation& plan) {
  std::string text;
  for (const recipe::Change& change : plan.changes)
    text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", change.key, change.now,
                        change.before);
  return text;
}

class GoingOn {
 public:
  GoingOn(const std::string& store_path, storage::Writer& writer, storage::RunDetail run,
          Place place, const std::function<void()>& changed, std::stop_token stop)
      : store_path_(store_path),
        writer_(writer),
        run_(std::move(run)),
        place_(std::move(place)),
        loss_(loss_of(run_)),
        number_(restarts_of(run_) + 1),
        changed_(changed),
        stop_(std::move(stop)) {}

  Result<> go_on() {
    const double seconds = launch::backoff_of(allowed_by(run_), number_);
    wait(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(seconds)));
    for (int tries = 1; !stop_.stop_requested(); ++tries) {
      const Result<bool> wanted = is_wanted();
      if (!wanted) return fail(wanted);
      if (!*wanted) return {};
      if (const auto before = went_on_before(); !before || *before) return as_done(before);
      again_ = false;
      const Result<> gone = try_now();
      if (gone || stop_.stop_requested()) return {};
      if (!again_ || tries == kTries) return settle_not(gone.error().message);
      wait(kPause);
    }
    return {};
  }

 private:
  static Result<> as_done(const Result<bool>& done) { return done ? Result<>() : fail(done); }

  void wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop_, time, [] { return false; });
  }

  Result<storage::RunDetail> detail(storage::RunId run) const {
    Result<storage::Reader> reader = storage::Reader::open(store_path_);
    if (!reader) return fail(reader);
    return reader->run(run);
  }

  /// A person may have put an end to it, or may be resuming the run.
  Result<bool> is_wanted() const {
    const auto now = detail(run_.summary.id);
    if (!now) return fail(now);
    return loss_of(*now).goes_on_soon && !now->summary.trashed;
  }

  /// An earlier holder of the lease may have started it without recording it, or a person has.
  Result<bool> went_on_before() {
    Result<storage::Reader> reader = storage::Reader::open(store_path_);
    if (!reader) return fail(reader);
    const auto runs = reader->runs();
    if (!runs) return fail(runs);
    for (const storage::RunSummary& run : *runs) {
      const bool resumes = run.lineage && run.lineage->parent == run_.summary.id &&
                           run.lineage->kind == storage::Lineage::Kind::resume;
      const bool began = !storage::has_ended(run.state) || run.started;
      if (!resumes || !began) continue;
      const Result<> settled =
          settle({run.id, run.name}, fmt::format("it goes on as {}", run.name));
      return settled ? Result<bool>(true) : fail(settled);
    }
    return false;
  }

  /// Looks which hosts answer, and starts the run on the best choice of them that can be had.
  Result<> try_now() {
    std::vector<std::string> silent, faults;
    for (size_t i = 0; i < place_.shares.size(); ++i) {
      const Result<> clear = clear_host(i);
      if (clear) continue;
      silent.push_back(place_.target.hosts[i].name);
      faults.push_back(clear.error().message);
    }
    if (silent.size() == place_.shares.size()) {
      again_ = true;
      return fail("none of its hosts answers: {}", fmt::join(faults, "; "));
    }
    std::vector<std::vector<std::string>> choices;  // hosts to go on without
    if (silent.empty()) choices.emplace_back();
    choices.push_back(silent.empty() ? loss_.hosts : silent);
    std::vector<std::string> refusals;
    for (const std::vector<std::string>& without : choices) {
      if (without.size() == place_.shares.size() || stop_.stop_requested()) continue;
      const Result<> started = start(without);
      if (started || again_) return started;
      if (std::ranges::find(refusals, started.error().message) == refusals.end())
        refusals.push_back(started.error().message);
    }
    return fail("{}", fmt::join(refusals, "; "));
  }

  /// Connects to it, and ends what is left of the run there. An error: it does not answer.
  Result<> clear_host(size_t host) const {
    const remote::Target target = target_of_now();
    remote::ConnectOptions options;
    options.background = true;
    const auto node = remote::connect(target, target.hosts[host], options);
    if (!node) return fail("{}", node.error().message);
    const Backend& backend = backend_of(target);
    const Share& share = place_.shares[host];
    auto status = backend.state(**node, share);
    const auto deadline = steady_clock::now() + kKilled;
    while (status && status->condition == runs::Condition::running) {
      if (steady_clock::now() > deadline || stop_.stop_requested())
        return fail("{}: the ranks of {} do not end", (*node)->name(), run_.summary.name);
      status = backend.order(**node, share, Order::kill);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    // A host that was installed again answers, but has no files of the run.
    return {};
  }

  remote::Target target_of_now() const {
    Result<storage::Reader> reader = storage::Reader::open(store_path_);
    if (!reader) return place_.target;
    return with_keys_and_spares_of_now(*reader, place_.target);
  }

  Result<> start(const std::vector<std::string>& without) {
    Result<storage::Reader> reader = storage::Reader::open(store_path_);
    if (!reader) return fail(reader);
    Result<Continuation> plan = plan_continuation(*reader, {.kind = storage::Lineage::Kind::resume,
                                                            .parent = run_,
                                                            .without = without,
                                                            .may_begin_again = true});
    if (!plan) return fail(plan);
    if (const std::string mode = text_of(run_, "mode"); !mode.empty()) plan->launch.mode = mode;
    const std::string how = words_of(*plan);
    plan->launch.begin->restarts = static_cast<int32_t>(number_);
    plan->launch.begin->restart_cause = loss_words() + "; it went on " + how;
    const auto run = launch(writer_, plan->launch, [this](const std::string&, uint64_t, uint64_t) {
      return !stop_.stop_requested();
    });
    if (!run) {
      again_ = run.error().connection.has_value() || run.error().cancelled;
      return fail("{}", run.error().message);
    }
    return settle(*run, fmt::format("it goes on as {} {}", run->name, how));
  }

  /// "from step-30, without other, on loom: hardware.ranks 1 instead of 2".
  static std::string words_of(const Continuation& plan) {
    const std::string from = plan.from.name.empty()
                                 ? "from where it had begun, for want of a checkpoint"
                                 : "from " + plan.from.name;
    const std::string changes = changes_text(plan);
    return fmt::format("{}, {}{}{}", from,
                       plan.hosts.empty() ? "on all of its hosts, which answer again" : plan.hosts,
                       changes.empty() ? "" : ": ", changes);
  }

  /// Its cause, without what was to come.
  std::string loss_words() const {
    return run_.summary.cause.substr(0, run_.summary.cause.rfind(kSoonWords));
  }

  Result<> settle(const storage::CreatedRun& as, const std::string& words) {
    Result<> kept =
        writer_.set_environment(as.id, {{kRestarts, static_cast<double>(number_)}}).get();
    if (kept) kept = say_there(as.id, loss_words() + " (" + run_.summary.name + "); " + words);
    if (!kept) return kept;
    return settle_lost({{kGoesOn, kDone}, {kGoesOnAs, static_cast<double>(as.id)}}, words);
  }

  Result<> settle_not(const std::string& why) {
    return settle_lost(
        {{kGoesOn, kNot}},
        fmt::format("it does not go on by itself: {}. Once that is mended: heddle launch --resume "
                    "{}, or --without HOST for one that stays away",
                    why, run_.summary.name));
  }

  Result<> settle_lost(storage::Values values, const std::string& words) {
    const storage::RunSummary& run = run_.summary;
    Result<> kept = say_there(run.id, words);
    if (kept)
      kept = writer_
                 .set_state(run.id, storage::RunState::lost, loss_words() + "; " + words,
                            run.finished.value_or(0))
                 .get();
    if (kept) kept = writer_.set_environment(run.id, std::move(values)).get();
    changed_();
    return kept;
  }

  Result<> say_there(storage::RunId run, const std::string& text) {
    return writer_.add_line(run, {.level = telemetry::Level::warning, .text = text}).get();
  }

  const std::string& store_path_;
  storage::Writer& writer_;
  storage::RunDetail run_;
  Place place_;
  Loss loss_;
  int64_t number_;      // of this restart
  bool again_ = false;  // what has failed may do the next time
  const std::function<void()>& changed_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
};

}  // namespace

Loss loss_of(const storage::RunDetail& run) {
  Loss loss;
  std::string_view names;
  const std::string text = text_of(run, kLostHosts);
  for (names = text; !names.empty();) {
    const size_t end = std::min(names.find(kBetween), names.size());
    loss.hosts.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + kBetween.size(), names.size()));
  }
  loss.goes_on_soon =
      run.summary.state == storage::RunState::lost && text_of(run, kGoesOn) == kSoon;
  loss.goes_on_as = number_of(run.environment, kGoesOnAs);
  return loss;
}

std::vector<std::vector<std::string>> choices_without(const storage::RunDetail& run) {
  const auto place = place_from_json(run.hosts);
  if (!place || run.summary.state != storage::RunState::lost || place->target.job ||
      place->shares.size() < 2)
    return {};
  std::vector<std::vector<std::string>> choices;
  const std::vector<std::string> lost = loss_of(run).hosts;
  if (!lost.empty() && lost.size() < place->shares.size()) choices.push_back(lost);
  for (const remote::Host& host : place->target.hosts)
    if (std::vector one{host.name}; one != lost) choices.push_back(std::move(one));
  choices.emplace_back();
  return choices;
}

LossNote note_loss(const storage::RunDetail& run, const Place& place,
                   const std::vector<std::string>& hosts) {
  LossNote note;
  note.environment[kLostHosts] = fmt::format("{}", fmt::join(hosts, kBetween));
  const recipe::Restart allowed = allowed_by(run);
  const int64_t before = restarts_of(run);
  if (before < allowed.times) {
    note.environment[kGoesOn] = kSoon;
    note.words = fmt::format("{} in {} (restart {} of {})", kSoonWords,
                             seconds_text(launch::backoff_of(allowed, before + 1)), before + 1,
                             allowed.times);
    return note;
  }
  if (allowed.times > 0)
    note.words = fmt::format("; restarted {} before, as often as restart.times allows",
                             before == 1 ? "once" : fmt::format("{} times", before));
  note.words += fmt::format(". heddle launch --resume {}", run.summary.name);
  if (place.shares.size() > hosts.size()) {
    for (const std::string& host : hosts) note.words += " --without " + host;
    note.words += " goes on with fewer ranks, where the other hosts see all of the checkpoint";
  } else {
    note.words += " goes on from its newest checkpoint";
  }
  return note;
}

Result<std::vector<storage::RunId>> runs_to_go_on(storage::Reader& reader) {
  const auto column = reader.column(std::string("environment.") + kGoesOn);
  if (!column) return fail(column);
  std::vector<storage::RunId> runs;
  for (const auto& [run, value] : *column) {
    const auto* text = std::get_if<std::string>(&value);
    if (text && *text == kSoon) runs.push_back(run);
  }
  return runs;
}

void go_on_by_itself(const std::string& store_path, storage::Writer& writer, storage::RunId run,
                     const std::function<void()>& changed, std::stop_token stop) {
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return;  // the next look tries again
  auto detail = reader->run(run);
  if (!detail || !loss_of(*detail).goes_on_soon) return;
  auto place = place_from_json(detail->hosts);
  if (!place) return;
  const Result<> gone =
      GoingOn(store_path, writer, std::move(*detail), std::move(*place), changed, std::move(stop))
          .go_on();
  if (gone) return;
  // Should the store be what fails, the next look tries again.
  [[maybe_unused]] const Result<> said =
      writer.add_line(run, {.level = telemetry::Level::error, .text = gone.error().message}).get();
}

Result<bool> keep_from_going_on(storage::Writer& writer, const storage::RunDetail& run) {
  if (!loss_of(run).goes_on_soon) return false;
  const std::string& cause = run.summary.cause;
  Result<> kept = writer.set_environment(run.summary.id, {{kGoesOn, kNot}}).get();
  if (kept)
    kept = writer
               .set_state(run.summary.id, storage::RunState::lost,
                          cause.substr(0, cause.rfind(kSoonWords)) +
                              "; a person has kept it from going on by itself",
                          run.summary.finished.value_or(0))
               .get();
  return kept ? Result<bool>(true) : fail(kept);
}

}  // namespace heddle::workbench
