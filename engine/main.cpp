// heddle-engine: the training engine's commands. Exit codes: 0 done, 1 failed, 2 bad usage or
// recipe, 130 stopped by the user.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/clock.h"
#include "base/guard.h"
#include "base/option_values.h"
#include "base/say.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/commands/commands.h"
#include "engine/commands/torch_library.h"
#include "engine/launch/supervise.h"
#include "engine/links/command.h"
#include "engine/probe/report.h"
#include "engine/runs/rank_arguments.h"

namespace {

using namespace heddle;
using commands::TorchCommands;
using commands::with_torch;

int run_rank(const std::vector<std::string>& words) {
  const auto context = runs::parse_rank_arguments(words);
  if (!context) {
    say(stderr, "{}\n", context.error().message);
    return 2;
  }
  return with_torch([&](const TorchCommands& torch) { return torch.rank(*context); });
}

void add_recipe(CLI::App* command, commands::RecipeOptions& options) {
  command->add_option("recipe", options.path, "the recipe's TOML file")->required();
  command->add_option("--set", options.sets, "key=value, over the recipe")->allow_extra_args(false);
}

// --ranks, --set and the recipe, as several commands take them.
void add_recipe_options(CLI::App* command, commands::RecipeOptions& options) {
  add_recipe(command, options);
  command->add_option("--ranks", options.ranks, "ranks instead of the recipe's hardware.ranks")
      ->check(CLI::PositiveNumber);
}

int run(int argc, char** argv) {
  const double started = unix_now();
  // Ranks are started by the launcher alone, with arguments of their own.
  if (argc > 1 && std::string_view(argv[1]) == "rank") return run_rank({argv + 2, argv + argc});
  // Asked by the launcher alone, too: loading CUDA's libraries is a rank's business.
  if (argc == 2 && std::string_view(argv[1]) == "gpus")
    return with_torch([](const TorchCommands& torch) { return torch.gpus(); });

  if (const Result<> given = check_option_values(argc, argv); !given) {
    say(stderr, "heddle-engine: {}\n", given.error().message);
    return 2;
  }
  CLI::App app("heddle-engine: trains Llama models as one captured graph");
  app.set_version_flag("--version", HEDDLE_VERSION);
  app.require_subcommand(1);

  commands::RecipeOptions recipe;
  launch::TrainOptions train;
  train.spawned_at = started;
  auto* train_command = app.add_subcommand("train", "train on this machine's ranks");
  add_recipe_options(train_command, recipe);
  train_command->add_option("--run-dir", train.run_dir,
                            "where logs and results go (default: nowhere)");
  train_command->add_option("--mode", train.mode, "planned or eager")
      ->check(CLI::IsMember({"planned", "eager"}));
  train_command
      ->add_option("--graph", train.graph_file,
                   "train by this text instead of a capture: what `graph` printed for this recipe, "
                   "after any pass (a pipeline's: after recompute at most), edited or not")
      ->check(CLI::ExistingFile);
  bool quiet = false, events = false;
  auto* quiet_flag = train_command->add_flag("--quiet", quiet, "on stderr errors alone");
  train_command
      ->add_flag("--json", events,
                 "every step, log line and end as a line of JSON on stdout, before the last line")
      ->excludes(quiet_flag);

  auto* eval_command = app.add_subcommand("eval", "logits, loss and gradients of the first batch");
  add_recipe_options(eval_command, recipe);
  eval_command->add_option("--mode", train.mode, "planned or eager")
      ->check(CLI::IsMember({"planned", "eager"}));
  eval_command->add_option("--to", train.eval_to, "the safetensors file to write")->required();

  launch::LogOptions log;
  auto* log_command =
      app.add_subcommand("log", "what the ranks of a run directory have logged, in order of time");
  log_command->add_option("RUN_DIR", log.run_dir, "with rank-R.E.hlog in it")->required();
  log_command->add_option("--rank", log.rank, "of one rank alone; -1: the supervisor");
  log_command->add_flag("--follow", log.follow, "go on until the run has ended");
  log_command->add_flag("--json", log.json, "each record as a line of JSON");

  commands::GraphOptions graph;
  auto* graph_command =
      app.add_subcommand("graph", "the captured step as text; allocates no weights");
  add_recipe_options(graph_command, recipe);
  graph_command->add_option("--after", graph.after, "the step as captured, or after a pass")
      ->check(CLI::IsMember(commands::graph_stages()));
  graph_command->add_option("--rank", graph.rank, "with a pipeline: the rank whose step it is");
  graph_command->add_flag("--stats", graph.stats,
                          "nodes, collectives and capture seconds as JSON instead");

  commands::PlanOptions plan;
  bool serve = false;
  auto* plan_command =
      app.add_subcommand("plan", "what a step will take: time, memory, communication");
  add_recipe_options(plan_command, recipe);
  plan_command->get_option("recipe")->required(false);
  plan_command->add_option("--hardware", plan.hardware,
                           "of the catalogue, instead of the recipe's hardware.name");
  plan_command->add_option(
      "--executor", plan.executor,
      "heddle, or what others train with: compiled (torch.compile), eager, or a "
      "program of the catalogue: nanotron, megatron, …");
  plan_command->add_option("--timeline", plan.timeline, "a file for the plan with its timelines");
  plan_command->add_flag("--json", plan.json, "as JSON");
  plan_command->add_flag("--serve", serve,
                         "answer requests on stdin, a line of JSON each, until it ends");

  commands::SearchOptions search;
  auto* search_command = app.add_subcommand(
      "search", "the layouts that train a recipe fastest: mesh, batches, wrapping, recomputation");
  add_recipe(search_command, recipe);
  search_command->add_option(
      "--ranks", search.ranks,
      "ranks instead of the recipe's hardware.ranks; several, as in 8,16,64 "
      "or 8-64 (which doubles): the fastest layout of each, and what it costs");
  search_command->add_option("--tokens", search.tokens,
                             "to be trained, as in 15T: how long that takes, and what it costs");
  search_command->add_option("--hardware", search.hardware,
                             "of the catalogue, instead of the recipe's hardware.name");
  search_command->add_option("--memory-limit", search.memory_limit,
                             "of a rank, as in \"60 GiB\" (default: what the device has)");
  search_command
      ->add_option("--fix", search.fixes, "key=value, over the recipe, which the search leaves so")
      ->allow_extra_args(false);
  search_command->add_flag("--json", search.json, "as JSON");

  bool json = false;
  int32_t ranks = 0;
  auto* calibrate_command = app.add_subcommand(
      "calibrate", "measure this machine: communication at many sizes, operators");
  std::string calibrated = "cpu";
  calibrate_command
      ->add_option("--device", calibrated,
                   "cpu, or cuda: the GPUs, for an entry in the catalogue of hardware")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  calibrate_command
      ->add_option(
          "--ranks", ranks,
          "ranks that share this machine (default: one, as many as cores, and twice as many; of "
          "GPUs one each)")
      ->check(CLI::Range(1, 64));
  calibrate_command->add_flag("--json", json, "as JSON");

  commands::TokenizeOptions tokenize;
  auto* tokenize_command = app.add_subcommand("tokenize", "text on stdin to token ids on stdout");
  tokenize_command->add_option("--tokenizer", tokenize.tokenizer, "Hugging Face tokenizer.json")
      ->required();
  auto* decode =
      tokenize_command->add_flag("--decode", tokenize.decode, "ids on stdin to text on stdout");
  tokenize_command
      ->add_flag("--json", tokenize.json,
                 "each line on stdin is a text, as a JSON string; a line of ids each")
      ->excludes(decode);

  int jobs = 0;
  auto* corpus_command =
      app.add_subcommand("tokenize-corpus", "the recipe's token stores, ahead of its runs");
  add_recipe_options(corpus_command, recipe);
  auto* jobs_option =
      corpus_command->add_option("--jobs", jobs, "threads (default: as many as cores)")
          ->check(CLI::Range(1, 1024));
  bool where = false;
  corpus_command
      ->add_flag("--where", where, "print where the stores are and whether they are whole; no more")
      ->excludes(jobs_option);

  commands::StoresOptions stores;
  auto* stores_command =
      app.add_subcommand("stores", "the token stores of this host, or removing some");
  stores_command->add_option("--cache", stores.cache,
                             "a recipe's data.cache (default: this host's own)");
  stores_command->add_flag("--clean", stores.clean,
                           "remove those whose texts have changed or are gone");
  stores_command
      ->add_option("--unused", stores.unused_days, "remove those not used for so many days")
      ->check(CLI::NonNegativeNumber);

  commands::DescribeOptions describe;
  auto* describe_command = app.add_subcommand(
      "describe-data", "the recipe's data before it is tokenized: sizes, epochs, samples");
  add_recipe_options(describe_command, recipe);
  describe_command->add_flag("--json", describe.json, "as JSON");
  describe_command->add_flag("--stdin", describe.on_stdin,
                             "the recipe's text is on stdin; the file names it, and its relative "
                             "paths start there");

  launch::SuperviseOptions supervise;
  auto* supervise_command =
      app.add_subcommand("supervise", "run a prepared run directory detached");
  supervise_command->add_option("--run-dir", supervise.run_dir, "with launch.json and recipe.toml")
      ->required();
  supervise_command->add_flag(
      "--secret-stdin", supervise.secret_on_stdin,
      "of several hosts: the run's secret is on stdin, 64 hexadecimal digits");
  auto* attached = supervise_command->add_flag("--attached", supervise.attached,
                                               "in the foreground, as a task of a batch system");
  auto* first = supervise_command
                    ->add_option("--first-run-dir", supervise.first_run_dir,
                                 "of several nodes: the run directory of the first")
                    ->needs(attached);
  auto* meeting = supervise_command
                      ->add_option("--rendezvous-host", supervise.rendezvous_host,
                                   "of several nodes: the address of the first")
                      ->needs(first);
  first->needs(meeting);
  auto* actions = supervise_command->add_option_group("action");
  actions->add_flag_callback("--status",
                             [&] { supervise.action = launch::SuperviseAction::status; });
  auto* name = actions
                   ->add_option("--checkpoint", supervise.checkpoint_name,
                                "save after the step; with a name: for good")
                   ->expected(0, 1)
                   ->check([](const std::string& text) {
                     return text.empty() || checkpoint::is_checkpoint_name(text)
                                ? ""
                                : "no name; valid: 1 to 64 of A-Z a-z 0-9 . _ -";
                   });
  actions->add_flag_callback("--stop", [&] { supervise.action = launch::SuperviseAction::stop; });
  actions->add_flag_callback("--kill", [&] { supervise.action = launch::SuperviseAction::kill; });
  actions->require_option(0, 1);

  links::CommandOptions links;
  const auto* links_command = links::add_command(app, links);

  commands::ConvertOptions convert;
  auto* convert_command = app.add_subcommand(
      "convert", "a Hugging Face folder to a checkpoint, or a checkpoint to a Hugging Face folder");
  convert_command
      ->add_option("FROM", convert.from,
                   "either of them, or a run's folder of checkpoints: the newest")
      ->required();
  convert_command->add_option("TO", convert.to, "the folder to make")->required();
  convert_command->add_option("--dtype", convert.dtype, "of a Hugging Face folder's weights")
      ->check(CLI::IsMember({"fp32", "bf16"}));
  convert_command->add_option("--shard-size", convert.shard_size,
                              "of a file of them, as in \"4 GiB\": larger models get an index");
  convert_command->add_option("--tokenizer", convert.tokenizer,
                              "the tokenizer.json to put beside them; without it the run's own");

  auto* probe_command = app.add_subcommand("probe", "what this node has");
  probe_command->add_flag("--json", json, "as JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*train_command)
    train.tell = events ? launch::Tell::json : quiet ? launch::Tell::quiet : launch::Tell::lines;
  if (*train_command || *eval_command) return commands::train(recipe, train);
  if (*log_command) return commands::log(log);
  if (*graph_command) return commands::graph(recipe, graph);
  if (*plan_command && serve)
    return with_torch([](const TorchCommands& torch) { return torch.serve(); });
  if (*plan_command) {
    if (!recipe.path.empty()) return commands::plan(recipe, plan);
    say(stderr, "plan: no recipe is named; valid: plan RECIPE, or plan --serve\n");
    return 2;
  }
  if (*search_command) return commands::search(recipe, search);
  if (*calibrate_command)
    return with_torch([&](const TorchCommands& torch) {
      return calibrated == "cuda" ? torch.calibrate_gpus(ranks, json)
                                  : torch.calibrate(ranks, json);
    });
  if (*tokenize_command) return commands::tokenize(tokenize);
  if (*corpus_command)
    return where ? commands::locate_stores(recipe) : commands::tokenize_corpus(recipe, jobs);
  if (*stores_command) return commands::stores(stores);
  if (*describe_command) return commands::describe_data(recipe, describe);
  if (*name) supervise.action = launch::SuperviseAction::checkpoint;
  if (*supervise_command) return launch::supervise(supervise);
  if (*convert_command) return commands::convert(convert);
  if (*probe_command) return probe::command(json);
  if (*links_command) return links::run_command(links);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = heddle::guarded_main("heddle-engine", [&] { return run(argc, argv); });
#if defined(__SANITIZE_ADDRESS__)
  return code;  // leaks are looked for behind main
#else
  // LibTorch takes 0.1 s to forget its thousands of operators one by one.
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
#endif
}
