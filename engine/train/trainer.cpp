#include "engine/train/trainer.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>
#include <deque>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/excerpt.h"
#include "base/read_file.h"
#include "base/resident_memory.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/cost/cpu_use.h"
#include "engine/hardware/catalogue.h"
#include "engine/holdings/states.h"
#include "engine/recipe/data_sources.h"
#include "engine/recipe/modules.h"
#include "engine/runs/last_word.h"
#include "engine/runs/run_files.h"
#include "engine/runtime/agreement.h"
#include "engine/runtime/device.h"
#include "engine/runtime/device_properties.h"
#include "engine/runtime/process_groups.h"
#include "engine/step/feed.h"
#include "engine/telemetry/sample.h"
#include "engine/train/observed.h"
#include "engine/train/patience.h"
#include "engine/train/results.h"
#include "engine/train/step_memory.h"

namespace heddle::train {
namespace {

constexpr size_t kNameFileBytes = 4096;
constexpr double kTokensSeconds = 10;

std::atomic<bool> stop_asked = false, checkpoint_asked = false;

// Takes the name that a checkpoint request has left on this host, and removes its file.
std::string take_name(const runs::RankContext& context) {
  if (context.local_rank != 0) return {};
  const std::string path = runs::checkpoint_name_file(context.run_dir);
  const std::string text = read_file(path, kNameFileBytes).value_or("");
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  const std::string name = text.substr(0, text.find('\n'));
  return checkpoint::is_checkpoint_name(name) ? name : "";
}

class Trainer {
 public:
  Trainer(const recipe::Recipe& recipe, const recipe::Layout& layout,
          const runs::RankContext& context, Runner& runner, const data::DataLoader& loader,
          const Beginning& beginning, Saver* saver, Validator* validator, telemetry::LogWriter& log,
          c10::Device device)
      : recipe_(recipe),
        layout_(layout),
        context_(context),
        runner_(runner),
        loader_(loader),
        beginning_(beginning),
        saver_(saver),
        validator_(validator),
        log_(log),
        device_(device),
        patience_(recipe.timeouts) {
    results_.mode = context.launch.mode;
    results_.first_step = beginning.step + 1;
    results_.tokens_per_step =
        recipe.training.global_batch * recipe.data.seq_len / context.launch.world_size;
    results_.flops_per_token =
        static_cast<double>(recipe::flops_per_token(recipe.model, recipe.data.seq_len));
    if (runner.executor()) {
      gpu_ = runner.executor()->device().name();
      step_memory_.emplace(runner.executor()->program(),
                           holdings::states_of(recipe, layout, context.rank));
      // Guessed rates of a GPU are not refined: its next run may use others.
      if (context.rank == 0 && (gpu_.empty() || runner.facts.rates.device))
        observed_.emplace(runner.executor()->program().graph, runner.facts.rates);
    }
    if (device_.is_cuda()) device_bytes_ = runtime::device_properties(device_).memory_bytes;
    if (gpu_.empty()) return;
    const hardware::Catalogue catalogue = hardware::load_catalogue();
    if (const hardware::Device* known = catalogue.of_driver(gpu_)) {
      const bool eight_bits =
          recipe.precision.float8 != recipe::Float8::none && known->fp8_peak_tflops.known();
      results_.peak_flops =
          (eight_bits ? known->fp8_peak_tflops : known->bf16_peak_tflops).value * 1e12;
    }
  }

  Result<Outcome> run() {
    if (context_.rank == 0 && !gpu_.empty() && !results_.peak_flops)
      if (const auto told = log_.append(telemetry::Log{
              unix_now(), telemetry::Level::info,
              fmt::format("no MFU is shown: what a {} could do at most is not known", gpu_)});
          !told)
        return fail(told);
    auto room = reserve_results(context_, recipe_.training.steps);
    if (!room) return fail(room);
    if (saver_ && device_.is_cpu())
      runner_.set_before_update([this] { saver_->wait_until_copied(); });
    std::signal(SIGTERM, [](int) { stop_asked = true; });
    std::signal(SIGUSR1, [](int) { checkpoint_asked = true; });
    Outcome outcome;
    int64_t step = beginning_.step, next = step, asked_before = -1;
    while (!outcome.stopped && (next < recipe_.training.steps || !under_way_.empty())) {
      if (next < recipe_.training.steps && may_launch(next)) {
        if (const auto launched = launch(next); !launched) {
          while (!under_way_.empty())
            if (const auto finished = finish_oldest(); !finished) return fail(finished);
          return fail(launched);
        }
        ++next;
        continue;
      }
      if (const auto finished = finish_oldest(); !finished) return fail(finished);
      ++step;
      runs::give_word(context_.word_fd, {runs::Word::State::working, step});
      if (under_way_.empty()) {
        if (const auto looked = look_for_not_finite(step); !looked) return fail(looked);
        const runtime::Asked asked = std::exchange(asked_, {});
        outcome.stopped = asked.stop && step < recipe_.training.steps;
        // The signals of one request may arrive before and after a step's end.
        const bool again = asked.checkpoint && asked_before == step - 1;
        if (asked.checkpoint) asked_before = step;
        if (const auto saved =
                save(step, outcome.stopped, asked.checkpoint && !again, asked.saver_busy);
            !saved)
          return fail(saved);
      }
      // A save that begins at a step's end is copied while the next step begins.
      runtime::set_timeout(patience_.limit(saver_ && saver_->saves()));
    }
    outcome.step = step;
    const cost::CpuTimes measured_until = cost::cpu_times();
    if (saver_) {
      if (const auto finished = saver_->finish(); !finished) return fail(finished);
      outcome.unsaved = saver_->failure();
    }
    const int32_t ranks = context_.launch.world_size;
    look_at_others(measured_until);
    const auto peaks = runtime::most_of_ranks({runner_.peak_bytes(), runner_.peak_reserved_bytes()},
                                              ranks, device_);
    results_.peak_of_ranks = peaks[0];
    results_.peak_reserved_of_ranks = peaks[1];
    results_.averages = averages_of_ranks(results_.steps, ranks, device_);
    if (observed_) results_.work = observed_->ratios();
    if (const auto written = write_results(std::move(*room), context_, results_, runner_, device_);
        !written)
      return fail(written);
    if (const auto ended = log_.append(end_record(outcome)); !ended) return fail(ended);
    if (const auto synced = log_.sync(); !synced) return fail(synced);
    return outcome;
  }

 private:
  // A step that has been queued.
  struct UnderWay {
    int64_t step;
    bool profiled;
    double time;  // when it began
    Clock::time_point begin;
    double data_seconds = 0;
    step::Feed feed = {};
    runtime::Timeline timeline = {};
  };

  runtime::Asked of_this_rank() {
    return {stop_asked.load(), checkpoint_asked.exchange(false), saver_ && saver_->busy()};
  }

  bool is_profiled(int64_t step) const {
    const int64_t every = recipe_.telemetry.profile_every;
    return every > 0 && (step + 1) % every == 0 && runner_.facts.nodes > 0;
  }

  // Whether a step may be queued now, after the steps under way.
  bool may_launch(int64_t step) const {
    if (under_way_.empty()) return true;
    const auto is_due = [&](int64_t every) { return every > 0 && step % every == 0; };
    const bool something_between = (validator_ && is_due(recipe_.validation.every)) ||
                                   (saver_ && is_due(recipe_.checkpoint.every)) ||
                                   (saver_ && saver_->saves()) || asked_.stop || asked_.checkpoint;
    // One more step that is not finite may end the run.
    const bool may_end = skipped_ > 0 || recipe_.training.max_skipped == 1;
    return static_cast<int64_t>(under_way_.size()) <= runner_.ahead() && !something_between &&
           !may_end && !is_profiled(step) && !under_way_.back().profiled;
  }

  Result<> launch(int64_t step) {
    UnderWay begun{
        .step = step, .profiled = is_profiled(step), .time = unix_now(), .begin = Clock::now()};
    auto feed = step::make_feed(recipe_, layout_, loader_, step, context_.rank);
    if (!feed) return fail(feed);
    begun.feed = std::move(*feed);
    begun.feed.step["asked"] = runtime::tensor_of(of_this_rank());
    begun.data_seconds = seconds_since(begun.begin);
    UnderWay& kept = under_way_.emplace_back(std::move(begun));
    runner_.launch(kept.feed.micro_batches, kept.feed.step,
                   kept.profiled ? &kept.timeline : nullptr);
    return {};
  }

  Result<> finish_oldest() {
    const auto outputs = runner_.finish();
    UnderWay done = std::move(under_way_.front());
    under_way_.pop_front();
    const int64_t step = done.step;
    step::Feed& feed = done.feed;
    // Since the checkpoint that a restarted run goes on from it has trained steps that its log has.
    const bool is_new = step + 1 > log_.last_step();
    for (const std::string& warning : runner_.take_warnings())
      if (const auto logged =
              log_.append(telemetry::Log{unix_now(), telemetry::Level::warning, warning});
          !logged)
        return logged;
    const double loss = outputs.at("loss").item<double>();
    const double norm = outputs.at("grad_norm").item<double>();
    const runtime::Asked asked = runtime::asked_of(outputs.at("asked"));
    asked_ = {asked_.stop || asked.stop, asked_.checkpoint || asked.checkpoint, asked.saver_busy};
    // A step begins when it is launched, or when the one before it ends if that is later.
    const Clock::time_point end = Clock::now();
    const double seconds =
        std::chrono::duration<double>(end - std::max(done.begin, std::exchange(finished_, end)))
            .count();
    patience_.took(seconds);
    if (step == beginning_.step) results_.first_step_seconds = unix_now() - context_.spawned_at;
    results_.losses.push_back(loss);
    if (results_.is_warm_up()) measured_from_ = cost::cpu_times();

    telemetry::Step record{
        .step = step + 1,
        .time = unix_now(),
        .values = {{"loss", loss},
                   {"loss_max", outputs.at("loss_max").item<double>()},
                   {"grad_norm", norm},
                   {"lr", feed.step.at("lr").item<double>()},
                   {"tokens_per_second", static_cast<double>(results_.tokens_per_step) / seconds},
                   {"step_seconds", seconds},
                   {"data_seconds", done.data_seconds},
                   {"resident_bytes", static_cast<double>(resident_bytes())},
                   {"tokens_seen",
                    static_cast<double>(loader_.samples_before(step + 1) * recipe_.data.seq_len)}}};
    if (device_.is_cuda())
      record.values["device_bytes"] =
          static_cast<double>(device_bytes_ - runtime::free_bytes(device_));
    const std::clock_t cpu = std::clock();  // of all threads
    record.values["cpu_seconds"] =
        static_cast<double>(cpu - std::exchange(cpu_, cpu)) / CLOCKS_PER_SEC;
    if (context_.rank == 0) {
      const std::vector<int64_t> samples = loader_.samples_by_text(step + 1);
      for (size_t i = 0; i < samples.size(); ++i)
        record.values[recipe::tokens_seen_of(i)] =
            static_cast<double>(samples[i] * recipe_.data.seq_len);
    }
    if (const auto mfu = results_.mfu(record.values["tokens_per_second"]))
      record.values["mfu"] = *mfu;
    if (validator_ && (step + 1) % recipe_.validation.every == 0)
      if (const auto validated = validate(step, record); !validated) return validated;
    if (done.profiled) {
      telemetry::Spans spans{.step = step + 1, .time = done.time, .spans = done.timeline.take()};
      spans.memory = step_memory_->moments(spans.spans, done.timeline.memory());
      if (observed_ && !results_.is_warm_up()) observed_->add(spans.spans);
      const runtime::Unhidden unhidden = runtime::unhidden(spans.spans);
      results_.steps.add("bubble_seconds", unhidden.bubble);
      record.values["exposed_seconds"] = unhidden.exposed;
      if (const size_t dropped = telemetry::cut_to_fit(spans); dropped > 0)
        if (const auto warned = log_.append(telemetry::Log{
                unix_now(), telemetry::Level::warning,
                fmt::format("the timeline of step {} is cut: its last {} spans are not kept",
                            step + 1, dropped)});
            !warned)
          return warned;
      if (is_new)
        if (const auto logged = log_.append(spans); !logged) return logged;
    }
    for (const auto& [name, value] : record.values) results_.steps.add(name, value);
    if (is_new)
      if (const auto logged = log_.append(record); !logged) return logged;
    if (const auto told = tell_tokens(); !told) return told;
    if (std::isfinite(norm) && std::isfinite(loss)) {
      skipped_ = 0;
      return {};
    }
    if (recipe_.training.max_norm == 0) {
      runs::give_lasting(context_.word_fd);
      return fail(
          "step {}: loss or gradient is not finite, and with training.max_norm = 0 weights are "
          "updated before that is known; start again with a lower optimizer.lr, or with clipping",
          step + 1);
    }
    ++skipped_;
    not_finite_.emplace_back(step, std::move(feed));
    return {};
  }

  // Records how many cores other processes took from the steps after the warm-up.
  void look_at_others(cost::CpuTimes until) {
    const double own =
        runtime::mean_of_ranks(until.own - measured_from_.own, context_.launch.world_size, device_);
    until.own = measured_from_.own + own;
    const cost::CpuUse use =
        cost::cpu_use(measured_from_, until, static_cast<double>(context_.launch.local_ranks));
    if (use.is_busy()) results_.others = use.others;
  }

  // Logs how far tokenizing is, while it is still going on.
  Result<> tell_tokens() {
    if (context_.rank != 0 || unix_now() - told_tokens_ < kTokensSeconds) return {};
    told_tokens_ = unix_now();
    const auto progress = loader_.progress();
    if (!progress) return {};
    return log_.append(telemetry::Log{unix_now(), telemetry::Level::info,
                                      "tokenized: " + data::progress_text(*progress)});
  }

  Result<> validate(int64_t step, telemetry::Step& record) {
    const auto loss = validator_->loss(runner_);
    if (!loss) return fail(loss);
    record.values["validation_loss"] = *loss;
    for (const Validator::Sample& sample : validator_->samples(runner_, step)) {
      if (context_.rank != 0 || step + 1 <= log_.last_step()) continue;
      const std::string how = sample.temperature == 0
                                  ? "the likeliest tokens"
                                  : fmt::format("temperature {}", sample.temperature);
      if (const auto logged = log_.append(telemetry::Log{
              unix_now(), telemetry::Level::info,
              telemetry::sample_line({step + 1, how, recipe_.validation.prompt + sample.text})});
          !logged)
        return logged;
    }
    return {};
  }

  // Finds where the values that are not finite began, in the steps that this rank has kept; `done`
  // is the last one's number. With clipping nothing was updated, and training goes on.
  Result<> look_for_not_finite(int64_t done) {
    // A step that was queued already may have been finite, and have changed the weights.
    const char* nowhere = skipped_ > 0 ? "it did not begin on rank 0"
                                       : "where is not known: the weights have changed since";
    std::string where;
    for (const auto& [step, feed] : std::exchange(not_finite_, {})) {
      where = runner_.first_non_finite(feed.micro_batches, feed.step);
      if (!where.empty()) where = fmt::format("it began on rank {} in {}", context_.rank, where);
      if (!where.empty() || context_.rank == 0)
        if (const auto logged = log_.append(telemetry::Log{
                unix_now(), telemetry::Level::warning,
                fmt::format("step {}: loss or gradient is not finite, nothing was updated; {}",
                            step + 1, where.empty() ? nowhere : where)});
            !logged)
          return logged;
    }
    if (recipe_.training.max_skipped == 0 || skipped_ < recipe_.training.max_skipped) return {};
    return too_many_skipped(done, where);
  }

  // Loss and norm are the same on all ranks, so that all end here. The weights are still as they
  // were before the first of these steps: they are saved as at a stop.
  Result<> too_many_skipped(int64_t step, const std::string& where_here) {
    std::string where = "where it began is not known";
    for (const std::string& of_rank : runtime::gather_texts(where_here, context_.launch.world_size))
      if (!of_rank.empty()) {
        where = of_rank;
        break;
      }
    std::string kept = "nothing is kept: the run has no checkpoints";
    if (saver_) {
      if (const auto saved = save(step, true, false, asked_.saver_busy); !saved) return saved;
      runtime::set_timeout(patience_.limit(true));
      if (const auto finished = saver_->finish(); !finished) return finished;
      const std::string unsaved = saver_->failure();
      kept = unsaved.empty() ? fmt::format(
                                   "the weights as they were before, and what was read of "
                                   "the data, are kept as {}",
                                   saver_->newest())
                             : unsaved;
    }
    runs::give_lasting(context_.word_fd);
    return fail(
        "step {}: {} steps in a row were not finite (training.max_skipped = {}); {}; {}; a lower "
        "optimizer.lr or a smaller training.max_norm may help, from there or from an earlier "
        "checkpoint",
        step, skipped_, recipe_.training.max_skipped, where, kept);
  }

  // Advances the save that is under way at a step's end, and begins one where it is due.
  Result<> save(int64_t step, bool stopped, bool asked, bool any_busy) {
    const bool last = step == recipe_.training.steps || stopped;
    // After the last step no later step can take the name of a request that came during it.
    const std::string name = asked || last ? take_name(context_) : "";
    if (!saver_) {
      if (!asked || context_.rank != 0) return {};
      return log_.append(
          telemetry::Log{unix_now(), telemetry::Level::warning,
                         "a checkpoint was asked for, but checkpoint.enabled is false"});
    }
    if (const auto advanced = saver_->advance(any_busy); !advanced) return advanced;
    const bool due = recipe_.checkpoint.every > 0 && step % recipe_.checkpoint.every == 0;
    if (!due && !last && !asked) return {};
    return saver_->save(step, loader_.samples_before(step), loader_.since(), name);
  }

  telemetry::End end_record(const Outcome& outcome) const {
    telemetry::End end{
        .time = unix_now(),
        .state = !outcome.unsaved.empty() ? "failed"
                 : outcome.stopped        ? "stopped"
                                          : "done",
        .cause = excerpt(outcome.unsaved),
        .results = {{"tokens_per_second_per_rank", results_.tokens_per_second_per_rank()},
                    {"peak_bytes", static_cast<double>(results_.peak_of_ranks)},
                    {"first_step_seconds", results_.first_step_seconds},
                    {"capture_seconds", runner_.facts.capture_seconds},
                    {"plan_seconds", runner_.facts.plan_seconds},
                    {"nodes", static_cast<double>(runner_.facts.nodes)},
                    {"collectives", static_cast<double>(runner_.facts.collectives)},
                    {"model_forward_calls", static_cast<double>(runner_.model_forward_calls())}}};
    if (const auto mfu = results_.mfu(results_.tokens_per_second_per_rank()))
      end.results["mfu"] = *mfu;
    if (!results_.losses.empty()) end.results["last_loss"] = results_.losses.back();
    end.results.insert(results_.averages.begin(), results_.averages.end());
    if (outcome.stopped && end.cause.empty()) end.cause = "stopped by the user";
    return end;
  }

  const recipe::Recipe& recipe_;
  const recipe::Layout& layout_;
  const runs::RankContext& context_;
  Runner& runner_;
  const data::DataLoader& loader_;
  const Beginning& beginning_;
  Saver* saver_;
  Validator* validator_;
  telemetry::LogWriter& log_;
  c10::Device device_;
  std::deque<UnderWay> under_way_;   // the oldest first
  Clock::time_point finished_;       // when the newest numbers were read
  std::clock_t cpu_ = std::clock();  // CPU time when the newest step ended
  cost::CpuTimes measured_from_;     // the end of the warm-up
  runtime::Asked asked_;             // of any rank, by the steps since nothing was under way
  std::vector<std::pair<int64_t, step::Feed>> not_finite_;  // of those
  Patience patience_;
  double told_tokens_ = 0;
  int64_t skipped_ = 0;  // steps in a row that were not finite
  Results results_;
  std::string gpu_;                        // its name; empty on a CPU
  int64_t device_bytes_ = 0;               // of that GPU's memory in all
  std::optional<StepMemory> step_memory_;  // of planned steps
  std::optional<Observed> observed_;       // of planned steps, on rank 0
};

}  // namespace

Result<Outcome> train(const recipe::Recipe& recipe, const recipe::Layout& layout,
                      const runs::RankContext& context, Runner& runner,
                      const data::DataLoader& loader, const Beginning& beginning, Saver* saver,
                      Validator* validator, telemetry::LogWriter& log, c10::Device device) {
  return Trainer(recipe, layout, context, runner, loader, beginning, saver, validator, log, device)
      .run();
}

}  // namespace heddle::train
