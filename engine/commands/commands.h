// The commands of heddle-engine that are more than a call. Each prints to stdout, errors to stderr,
// and returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/launch/foreground.h"
#include "engine/launch/print_log.h"

namespace heddle::commands {

struct RecipeOptions {
  std::string path;
  std::vector<std::string> sets;
  int64_t ranks = 0;  // 0: the recipe's own
};

/// `train` and, with options.eval_to, `eval`: checks recipe and data, then runs the ranks.
int train(const RecipeOptions& recipe, launch::TrainOptions options);

/// `log`: what the ranks of a run directory have logged.
int log(launch::LogOptions options);

struct GraphOptions {
  std::string after = "capture";  // a pass
  int64_t rank = 0;               // of the recipe's, whose stages are meant with a pipeline
  bool stats = false;             // figures as JSON instead of the graph
};

/// Valid values of `--after`: "capture", and the passes in their order.
std::vector<std::string> graph_stages();

/// `graph`: the text of the step behind a pass (or "capture"), or with `stats` its size, memory and
/// the time it took as JSON.
int graph(const RecipeOptions& recipe, const GraphOptions& what);

struct PlanOptions {
  std::string hardware;  // empty: the recipe's
  std::string executor = "heddle";
  bool json = false;
  std::string timeline;  // a file for the plan with its timelines, as JSON
};

/// `plan`: what a step is expected to take, before anything runs.
int plan(const RecipeOptions& recipe, const PlanOptions& what);

struct SearchOptions {
  std::string ranks;         // "64", or several: "8,16,64", "8-64"; empty: the recipe's
  std::string tokens;        // "15T": how long they take, and what they cost; empty: not asked
  std::string hardware;      // empty: the recipe's
  std::string memory_limit;  // "60 GiB"; empty: what a device has
  std::vector<std::string> fixes;
  bool json = false;
};

/// `search`: the layouts that train a recipe fastest; of several numbers of ranks the fastest of
/// each, and what they cost. `recipe.ranks` is not looked at. Progress goes to stderr; SIGINT ends
/// it with what is known so far, and 130.
int search(const RecipeOptions& recipe, const SearchOptions& what);

/// `convert`: see engine/checkpoint/convert.h.
struct ConvertOptions {
  std::string from, to;
  std::string dtype = "fp32";        // of an export: or bf16
  std::string shard_size = "4 GiB";  // of its files
  std::string tokenizer;             // beside it; empty: the run's
};

int convert(const ConvertOptions& options);

/// `tokenize-corpus`: makes the recipe's token stores with `jobs` threads (0: as many as cores);
/// progress on stderr, and a line of JSON a store on stdout.
int tokenize_corpus(const RecipeOptions& recipe, int jobs);

/// `tokenize-corpus --where`: a line of JSON a store, with what it is made of; makes nothing.
int locate_stores(const RecipeOptions& recipe);

struct StoresOptions {
  std::string cache;         // a folder of token stores; empty: this host's own
  bool clean = false;        // removes those whose texts have changed or are gone
  int64_t unused_days = -1;  // removes those not used for so long; -1: none
};

/// `stores`: what token stores there are, or which of them it has removed. One in use stays.
int stores(const StoresOptions& what);

struct DescribeOptions {
  bool on_stdin = false;  // the recipe's text, which is of the file that is named
  bool json = false;
};

/// `describe-data`: sizes of a recipe's data, how often the run reads it, samples; makes no tokens.
int describe_data(const RecipeOptions& recipe, const DescribeOptions& how);

struct TokenizeOptions {
  std::string tokenizer;
  bool decode = false;
  bool json = false;  // each line is a text as a JSON string
};

/// `tokenize`: ids separated by white space, a line a text: all of stdin, or each of its lines.
int tokenize(const TokenizeOptions& options);

}  // namespace heddle::commands
