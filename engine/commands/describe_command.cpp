// `heddle-engine describe-data`: what a recipe's data is, before anything trains.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_file.h"
#include "base/say.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/commands/commands.h"
#include "engine/data/description_json.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::commands {
namespace {

constexpr size_t kMaxRecipe = size_t{1} << 20;

/// Whether a fault leaves nothing of the data to describe.
bool matters(const recipe::Fault& fault) {
  if (fault.key.empty()) return true;
  for (const std::string_view section : {"data.", "training.", "parallelism.", "hardware."})
    if (fault.key.starts_with(section)) return true;
  return false;
}

/// "about 1,200 documents", "1 file".
std::string counted(data::Known known, int64_t count, const char* noun) {
  return fmt::format("{}{} {}{}", known == data::Known::guessed ? "about " : "",
                     count_text(static_cast<double>(count)), noun, count == 1 ? "" : "s");
}

void print(const data::Description& description) {
  for (const data::DescribedSource& source : description.sources) {
    say("{}: {:.1f} % of the samples; {} in {}; ", source.name, 100 * source.share,
        bytes_text(static_cast<double>(source.bytes)),
        counted(data::Known::counted, source.files, "file"));
    if (source.documents) say("{}, ", counted(source.known, *source.documents, "document"));
    say("{}, of which the run reads {:.3g} epochs\n", counted(source.known, source.tokens, "token"),
        source.epochs);
    for (const std::string& complaint : source.complaints) say("  skipped: {}\n", complaint);
  }
  if (!description.parting.empty()) say("{}\n", description.parting);
  for (const std::string& note : description.notes) say("{}\n", note);
  say("the run reads {} tokens\n", count_text(static_cast<double>(description.run_tokens)));
  say("samples, {}:\n", description.first_of_run
                            ? "as its first steps read them"
                            : "from the start of each text; the run reads them in another order");
  for (const data::DescribedSample& sample : description.samples) {
    say("--- {}, {}\n", description.sources[sample.source].name,
        counted(data::Known::counted, sample.tokens, "token"));
    for (size_t i = 0; i < sample.documents.size(); ++i)
      say("{}{}", i == 0 ? "" : "\n=== another document\n", sample.documents[i]);
    say("{}\n", sample.whole ? "" : " …");
  }
}

}  // namespace

int describe_data(const RecipeOptions& options, const DescribeOptions& how) {
  const std::string input = how.on_stdin ? "/dev/stdin" : options.path;
  const auto text = read_named_file(input, kMaxRecipe);
  if (!text) {
    say(stderr, "{}\n", text.error().message);
    return 2;
  }
  recipe::Parsed parsed = checkpoint::load_recipe(*text, options.path, options.sets, options.ranks);
  std::erase_if(parsed.faults, [](const recipe::Fault& fault) { return !matters(fault); });
  if (!parsed.ok()) {
    say(stderr, "{}\n", recipe::lines_of(parsed.faults));
    return 2;
  }
  const auto description = data::describe(parsed.recipe);
  if (!description) {
    say(stderr, "{}\n", description.error().message);
    return 2;
  }
  if (how.json)
    say("{}\n", json_text(data::to_json(*description)));
  else
    print(*description);
  return 0;
}

}  // namespace heddle::commands
