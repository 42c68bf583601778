// heddle runs [--filter F] [--sort K] [--limit N] [--columns K,K] [--group K[,K]]
//             [--trash] [--json | --csv]
#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/say.h"
#include "storage/difference.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/run_table.h"

namespace heddle::workbench {
namespace {

constexpr size_t kMaxGroupKeys = 2;

using Restarts = std::map<storage::RunId, storage::Value>;

/// "running, restarted 2 times" is the state of a run that survived a failure of its ranks.
std::string state_text(const storage::RunSummary& run, const Restarts& restarts) {
  const auto found = restarts.find(run.id);
  const double times = found == restarts.end() ? 0 : storage::number_of(found->second).value_or(0);
  const std::string state = storage::to_string(run.state);
  if (times < 1) return state;
  return fmt::format("{}, restarted {}", state, times == 1 ? "once" : count_text(times) + " times");
}

std::string runs_table(const std::vector<storage::RunSummary>& runs, const Restarts& restarts) {
  std::vector<std::vector<std::string>> rows{{"ID", "NAME", "STATE", "TARGET", "RECIPE", "CREATED",
                                              "STEPS", "PER RANK", "LOSS", "LINEAGE"}};
  for (const storage::RunSummary& run : runs) {
    rows.push_back({std::to_string(run.id), run.name, state_text(run, restarts), run.target,
                    run.recipe_name, time_text(run.created),
                    count_text(static_cast<double>(run.steps)),
                    or_none(Unit::tokens_per_second, run.tokens_per_second_per_rank),
                    or_none(Unit::loss, run.loss), lineage_text(run)});
  }
  std::string text =
      table(std::move(rows), {0, 6, 7, 8}, {.names = {1, 3, 4, 9}, .columns = terminal_columns()});
  for (const storage::RunSummary& run : runs)
    if (run.state == storage::RunState::waiting)
      text += fmt::format("{}: its job {}\n", run.name, run.cause);
  return text;
}

/// Archived ones only where that is asked for.
Result<std::vector<storage::RunSummary>> read_runs(storage::Reader& reader,
                                                   const RunsOptions& options) {
  auto runs = reader.runs(options.trash);
  if (!runs) return fail(runs);
  const RunFilter filter(options.filter);
  const auto keys = filter.keys();
  const bool asks = std::ranges::find(keys, "archived") != keys.end() || options.trash;
  if (!asks)
    std::erase_if(*runs, [&](const storage::RunSummary& run) {
      return run.archived.has_value() != options.archived;
    });
  auto wanted = filtered(reader, filter, std::move(*runs));
  if (!wanted) return fail(wanted);
  if (!options.sort.empty())
    if (Result<> sorted = sort_runs(reader, options.sort, *wanted); !sorted)
      return fail("--sort: {}", sorted.error().message);
  return wanted;
}

/// The first runs, or groups.
template <typename Items>
void limit(Items& items, size_t most) {
  if (most > 0 && items.size() > most) items.resize(most);
}

Result<int> print_groups(storage::Reader& reader, const RunsOptions& options,
                         const std::vector<storage::RunSummary>& runs,
                         const std::vector<RunColumn>& columns) {
  const auto keys = read_columns(reader, options.group, runs);
  if (!keys) return fail("--group: {}", keys.error().message);
  if (keys->empty() || keys->size() > kMaxGroupKeys)
    return fail("--group: valid: one key or two, as --group lr or --group lr,seed");
  std::vector<RunGroup> groups = groups_of(runs, *keys);
  limit(groups, options.limit);
  if (options.json)
    say("{}\n", json_text(groups_json(groups, columns), 2));
  else
    say("{}", groups_text(groups, *keys, columns));
  return kExitDone;
}

const char* none_text(const RunsOptions& options) {
  if (!options.filter.empty()) return "No run is as the filter says.";
  if (options.trash) return "The trash is empty.";
  if (options.archived) return "No run is archived.";
  return "There are no runs yet; heddle launch RECIPE makes one.";
}

}  // namespace

int runs_command(const Context& context, const RunsOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    auto runs = read_runs(reader, options);
    if (!runs) return report(runs.error(), kExitUsage);
    const auto columns = read_columns(reader, options.columns, *runs);
    if (!columns) return report({"--columns: " + columns.error().message}, kExitUsage);
    if (reader.damage()) say(stderr, "heddle: {}\n", *reader.damage());
    if (!options.group.empty() && !runs->empty())
      return print_groups(reader, options, *runs, *columns);
    limit(*runs, options.limit);
    if (options.json) {
      say("{}\n", json_text(columns_json(*runs, *columns), 2));
    } else if (options.csv) {
      say("{}", columns_csv(*runs, *columns));
    } else if (runs->empty()) {
      say("{}\n", none_text(options));
    } else {
      const auto restarts = reader.column("results.restarts");
      if (!restarts) return fail(restarts);
      say("{}", columns->empty() ? runs_table(*runs, *restarts) : columns_text(*runs, *columns));
    }
    return kExitDone;
  });
}

}  // namespace heddle::workbench
