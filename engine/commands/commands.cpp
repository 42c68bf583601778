#include "engine/commands/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "base/say.h"
#include "engine/checkpoint/convert.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/checkpoint/reader.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/checkpoint/weights.h"
#include "engine/cost/layer_work.h"
#include "engine/data/corpus.h"
#include "engine/data/export_model.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/graph/text.h"
#include "engine/inputs/inputs.h"
#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/fault_lines.h"
#include "engine/recipe/units.h"
#include "engine/runs/checkpoint_folder.h"
#include "engine/step/capture.h"

namespace heddle::commands {
namespace {

int bad_usage(const std::string& message) {
  say(stderr, "{}\n", message);
  return 2;
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

}  // namespace

int train(const RecipeOptions& options, launch::TrainOptions launch) {
  if (!launch.graph_file.empty() && launch.mode == "eager")
    return bad_usage(fmt::format(
        "--graph: {}: the eager mode runs the model and reads no graph; valid: --mode planned",
        launch.graph_file));
  std::vector<std::string> sets = options.sets;
  // An evaluation neither validates nor saves.
  if (!launch.eval_to.empty())
    sets.insert(sets.end(), {"validation.every=0", "checkpoint.enabled=false"});
  const auto inputs = inputs::read_inputs(options.path, options.ranks, true, sets);
  if (!inputs) return bad_usage(inputs.error().message);
  recipe::Recipe recipe = inputs->recipe;
  launch.keeps_checkpoints = !runs::checkpoint_folder(recipe.checkpoint, launch.run_dir).empty();
  recipe.checkpoint.enabled = launch.keeps_checkpoints;
  if (!launch.eval_to.empty() && recipe.micro_batches() != 1)
    return bad_usage(fmt::format(
        "{}: eval takes the whole first batch at once, and this recipe cuts it into {} "
        "micro-batches; valid: training.global_batch = {} (local_batch times {} ranks of data), "
        "parallelism.microbatches = 1",
        options.path, recipe.micro_batches(),
        recipe.training.local_batch * recipe.data_parallel_ranks(), recipe.data_parallel_ranks()));
  launch.recipe_text = recipe::to_toml(recipe);
  launch.steps = recipe.training.steps;
  launch.ranks = static_cast<int32_t>(recipe.hardware.ranks);
  launch.run_dir = absolute(launch.run_dir);
  launch.graph_file = absolute(launch.graph_file);
  launch.eval_to = absolute(launch.eval_to);
  return launch::run_foreground(launch);
}

int log(launch::LogOptions options) {
  // A run directory made elsewhere may hold a recipe that is not read here: then no line says how
  // far the run is.
  const recipe::Parsed parsed = recipe::parse_file(options.run_dir + "/recipe.toml");
  if (parsed.ok()) options.steps = parsed.recipe.training.steps;
  return launch::print_log(options);
}

std::vector<std::string> graph_stages() {
  std::vector<std::string> stages = passes::pass_names();
  stages.insert(stages.begin(), "capture");
  return stages;
}

int graph(const RecipeOptions& options, const GraphOptions& what) {
  recipe::Parsed parsed = checkpoint::load_recipe_file(options.path, options.sets, options.ranks);
  if (!parsed.ok()) return bad_usage(recipe::lines_of(parsed.faults));
  if (parsed.recipe.model.vocab_size == 0) {
    const auto vocabulary = data::vocabulary(parsed.recipe.model, parsed.recipe.data);
    if (!vocabulary)
      return bad_usage(fmt::format("{}: {}", options.path, vocabulary.error().message));
    parsed.recipe.model.vocab_size = *vocabulary;
  }
  auto captured = step::capture_step(parsed.recipe);
  if (!captured) {
    say(stderr, "{}\n", captured.error().message);
    return 1;
  }
  captured->graph.notes["recipe"] = std::filesystem::path(options.path).filename().string();
  const auto captured_nodes = captured->graph.nodes.size();
  passes::Plan plan{std::move(captured->graph)};
  const auto begin = Clock::now();
  if (what.stats || what.after != "capture") {
    const cost::Rates rates = predict::rates_here(parsed.recipe);
    auto planned = predict::plan_validation(parsed.recipe, what.rank, rates)
                       .and_then([&](const passes::Plan& validation) {
                         return predict::plan_step(parsed.recipe, what.rank, std::move(plan.graph),
                                                   rates, what.stats ? "" : what.after,
                                                   validation.memory.arena_bytes);
                       });
    if (!planned) return bad_usage(planned.error().message);
    plan = std::move(*planned);
  }
  if (what.stats) {
    const double planning = seconds_since(begin);
    nlohmann::ordered_json passes;
    for (const auto& [pass, seconds] : plan.seconds) passes[pass] = seconds;
    nlohmann::ordered_json json = {{"nodes", captured_nodes},
                                   {"capture_seconds", captured->seconds},
                                   {"planned_nodes", plan.graph.nodes.size()},
                                   {"collectives", graph::collectives_per_step(plan.graph)},
                                   {"plan_seconds", planning},
                                   {"pass_seconds", std::move(passes)},
                                   {"arena_bytes", plan.memory.arena_bytes},
                                   {"live_bytes", plan.memory.live_bytes},
                                   {"plan", plan.graph.notes["plan"]},
                                   {"model_forward_calls", captured->model_forward_calls}};
    if (const auto layer = cost::layer_work(plan.graph))
      json["layer"] = {{"kernels", layer->kernels},
                       {"bytes", layer->bytes},
                       {"least_bytes", layer->least_bytes}};
    say("{}\n", json_text(json));
    return 0;
  }
  say("{}", passes::to_text(plan));
  return 0;
}

int convert(const ConvertOptions& options) {
  const std::string from = checkpoint::checkpoint_meant(options.from);
  if (from != options.from)
    say(stderr, "{}: holds checkpoints; the newest is taken: {}\n", options.from, from);
  checkpoint::Export how;
  if (options.dtype == "bf16") how.dtype = checkpoint::Dtype::bf16;
  const auto shard = recipe::parse_bytes(options.shard_size);
  if (!shard || *shard < 1)
    return bad_usage(
        fmt::format("--shard-size: \"{}\" is no size; valid: as in \"4 GiB\"", options.shard_size));
  how.shard_bytes = *shard;
  const bool exports = checkpoint::is_checkpoint(from);
  if (!exports && !options.tokenizer.empty())
    return bad_usage("--tokenizer: a checkpoint of Heddle's holds none; valid: without it");
  const auto done = exports ? data::export_model(from, options.to, how, options.tokenizer)
                            : checkpoint::convert(from, options.to);
  if (!done) return bad_usage(done.error().message);
  for (const std::string& note : *done) say(stderr, "{}\n", note);
  return 0;
}

int tokenize_corpus(const RecipeOptions& options, int jobs) {
  const recipe::Parsed parsed =
      checkpoint::load_recipe_file(options.path, options.sets, options.ranks);
  if (!parsed.ok()) return bad_usage(recipe::lines_of(parsed.faults));
  if (!parsed.recipe.data.tokenizer.empty()) {
    const auto tokenizer = data::load_tokenizer(data::tokenizer_of(parsed.recipe.data));
    if (!tokenizer) return bad_usage(tokenizer.error().message);
    if (const std::string parting = data::parting_of(*tokenizer); !parting.empty())
      say(stderr, "{}\n", parting);
    for (const std::string& warning : data::warnings_of(*tokenizer)) say(stderr, "{}\n", warning);
  }
  const auto begin = Clock::now();
  const auto made = data::tokenize_corpus(
      parsed.recipe, {.jobs = jobs, .progress = [](const std::string& key, const auto& progress) {
                        say(stderr, "{}: {}\n", key, data::progress_text(progress));
                      }});
  if (!made) return bad_usage(made.error().message);
  for (const auto& [key, data, part, weight] : data::texts_of(parsed.recipe)) {
    const auto origin = data::store_origin(data, part);
    const auto totals = origin ? data::read_totals(origin->folder()) : fail(origin);
    if (!totals) return bad_usage(totals.error().message);
    if (!*totals) return bad_usage(fmt::format("{}: has changed meanwhile; start again", key));
    say("{}\n", json_text(nlohmann::ordered_json{{"key", key},
                                                 {"store", origin->folder()},
                                                 {"tokens", (*totals)->tokens},
                                                 {"documents", (*totals)->documents},
                                                 {"skipped", (*totals)->skipped},
                                                 {"bytes", (*totals)->bytes},
                                                 {"seconds", seconds_since(begin)}}));
  }
  return 0;
}

int tokenize(const TokenizeOptions& options) {
  auto tokenizer = data::Tokenizer::load(options.tokenizer);
  if (!tokenizer) return bad_usage(tokenizer.error().message);
  for (const std::string& warning : tokenizer->warnings())
    say(stderr, "{}: {}\n", options.tokenizer, warning);
  if (!options.decode) {
    const auto print = [&](const std::string& text) {
      const auto ids = tokenizer->encode(text);
      if (!ids) return bad_usage(ids.error().message);
      say("{}\n", fmt::join(*ids, " "));
      return 0;
    };
    if (!options.json) return print({std::istreambuf_iterator<char>(std::cin), {}});
    int64_t number = 1;
    for (std::string line; std::getline(std::cin, line); ++number) {
      const auto text = read_json(line, {.bytes = line.size(), .values = 1, .depth = 1});
      if (!text || !text->is_string())
        return bad_usage(fmt::format("line {}: is no text; valid: a JSON string", number));
      if (const int rc = print(text->get<std::string>()); rc != 0) return rc;
    }
    return 0;
  }
  std::vector<int32_t> ids;
  for (std::string word; std::cin >> word;) {
    char* end = nullptr;
    const long id = std::strtol(word.c_str(), &end, 10);
    if (*end != '\0' || id < 0 || id >= tokenizer->vocab_size())
      return bad_usage(fmt::format("\"{}\" is not a token id; valid: 0 to {}", word,
                                   tokenizer->vocab_size() - 1));
    ids.push_back(static_cast<int32_t>(id));
  }
  const std::string text = tokenizer->decode(ids);
  std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
  return 0;
}

}  // namespace heddle::commands
