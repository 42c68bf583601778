#include "engine/train/saver.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/runtime/agreement.h"

namespace heddle::train {
namespace {

// Begins something on a thread of its own.
template <typename Work>
std::future<Result<std::string>> in_background(Work work) {
  return std::async(std::launch::async, [work = std::move(work)]() mutable -> Result<std::string> {
    try {
      return work();
    } catch (const std::exception& error) {
      return fail("{}", error.what());
    }
  });
}

Result<std::string> text_of(const Result<>& done) {
  if (!done) return fail(done);
  return std::string();
}

// The first error among the ranks' texts, with its rank.
std::string first_error(const std::vector<std::string>& errors) {
  for (size_t rank = 0; rank < errors.size(); ++rank)
    if (!errors[rank].empty()) return fmt::format("rank {}: {}", rank, errors[rank]);
  return {};
}

std::string error_of(const Result<std::string>& result) {
  return result ? "" : result.error().message;
}

}  // namespace

Saver::Saver(const recipe::Recipe& recipe, const runs::RankContext& context,
             const runtime::NamedTensors& states, CheckpointPlace place, c10::Device device,
             telemetry::LogWriter& log)
    : recipe_(recipe),
      context_(context),
      place_(std::move(place)),
      device_(device),
      log_(log),
      staging_(recipe, context.rank, states, device) {
  manifest_.engine = HEDDLE_VERSION;
  manifest_.recipe = recipe;
}

bool Saver::busy() const {
  return work_.valid() && work_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

Result<> Saver::advance(bool any_busy) {
  if (any_busy) return {};
  switch (stage_) {
    case Stage::idle:
      return {};
    case Stage::writing:
      return written();
    case Stage::naming:
      return named();
    case Stage::tidying:
      return tidied();
  }
  return {};
}

Result<> Saver::save(int64_t step, int64_t samples, int64_t since, const std::string& name) {
  if (const auto settled = settle(); !settled) return settled;
  begun_ = Clock::now();
  manifest_.step = step;
  manifest_.samples = samples;
  manifest_.since = since;
  name_ = name;
  failure_.clear();
  std::promise<void> copied;
  copied_ = copied.get_future();
  stage_ = Stage::writing;
  work_ = in_background([this, path = place_.folder + "/" + checkpoint::step_folder(step),
                         copied = std::move(copied)]() mutable -> Result<std::string> {
    staging_.take();
    copied.set_value();
    const auto partial = checkpoint::begin_checkpoint(path);
    if (!partial) return fail(partial);
    const auto contents = staging_.write(*partial);
    if (!contents) return fail(contents);
    return checkpoint::to_text(*contents);
  });
  stopped_seconds_ = seconds_since(begun_);
  // A GPU's steps may be recorded: nobody could wait within one.
  if (!device_.is_cpu()) wait_until_copied();
  return {};
}

std::string Saver::newest() const {
  return place_.folder + "/" + checkpoint::step_folder(manifest_.step, name_);
}

void Saver::wait_until_copied() {
  if (!copied_.valid()) return;
  const auto begin = Clock::now();
  copied_.wait();
  copied_ = {};
  stopped_seconds_ += seconds_since(begin);
}

Result<> Saver::finish() { return settle(); }

std::string Saver::failure() const {
  if (failure_.empty()) return {};
  return fmt::format("step {}: the last checkpoint could not be written: {}", manifest_.step,
                     failure_);
}

// All ranks leave a stage together; one that only waits asks the others now and then, since a
// collective that waits for a slow disk may run into its own time limit.
Result<> Saver::settle() {
  while (stage_ != Stage::idle) {
    if (work_.valid()) work_.wait_for(std::chrono::seconds(1));
    const bool any_busy = runtime::any_rank(busy(), context_.launch.world_size, device_);
    if (const auto advanced = advance(any_busy); !advanced) return advanced;
  }
  return {};
}

Result<> Saver::written() {
  const Result<std::string> mine = work_.get();
  const int64_t ranks = context_.launch.world_size;
  const std::string error = first_error(runtime::gather_texts(error_of(mine), ranks));
  if (!error.empty()) return failed(error);
  for (const std::string& name : runtime::gather_texts(name_, ranks))
    if (!name.empty()) name_ = name;
  std::vector<std::string> contents = runtime::gather_texts(*mine, ranks);
  stage_ = Stage::naming;
  if (!place_.is_keeper) return {};
  work_ = in_background([this, contents = std::move(contents)]() -> Result<std::string> {
    manifest_.contents = {};
    for (const std::string& text : contents) {
      auto of_rank = checkpoint::parse_contents(text);
      if (!of_rank) return fail(of_rank);
      manifest_.contents.add(std::move(*of_rank));
    }
    const std::string folder = place_.folder + "/";
    const auto partial =
        checkpoint::begin_checkpoint(folder + checkpoint::step_folder(manifest_.step));
    if (!partial) return fail(partial);
    return text_of(checkpoint::commit_checkpoint(
        *partial, folder + checkpoint::step_folder(manifest_.step, name_), manifest_));
  });
  return {};
}

Result<> Saver::named() {
  const Result<std::string> mine = work_.valid() ? work_.get() : Result<std::string>();
  const std::string error =
      first_error(runtime::gather_texts(error_of(mine), context_.launch.world_size));
  if (!error.empty()) return failed(error);
  stage_ = Stage::tidying;
  if (place_.is_keeper)
    work_ = in_background([this] {
      return text_of(checkpoint::keep_newest(place_.folder, recipe_.checkpoint.keep));
    });
  if (context_.rank != 0) return {};
  return tell(
      telemetry::Level::info,
      fmt::format("step {}: checkpoint {}/{}, {} of rank 0 in {:.2f} s; training "
                  "stopped for {:.1f} ms",
                  manifest_.step, place_.folder, checkpoint::step_folder(manifest_.step, name_),
                  bytes_text(static_cast<double>(staging_bytes())), seconds_since(begun_),
                  stopped_seconds_ * 1e3));
}

Result<> Saver::tidied() {
  stage_ = Stage::idle;
  const Result<std::string> mine = work_.valid() ? work_.get() : Result<std::string>();
  if (mine) return {};
  return tell(telemetry::Level::warning, mine.error().message);
}

Result<> Saver::failed(const std::string& error) {
  failure_ = error;
  stage_ = Stage::tidying;
  if (place_.is_keeper)
    work_ = in_background([this] { return text_of(checkpoint::remove_partials(place_.folder)); });
  if (context_.rank != 0) return {};
  const std::vector<std::string> whole = checkpoint::checkpoints_in(place_.folder);
  return tell(
      telemetry::Level::warning,
      fmt::format("step {}: no checkpoint was written, training goes on; {}; {}", manifest_.step,
                  error,
                  whole.empty() ? "there is none before it" : "the newest is " + whole.front()));
}

Result<> Saver::tell(telemetry::Level level, const std::string& text) {
  return log_.append(telemetry::Log{unix_now(), level, text});
}

}  // namespace heddle::train
