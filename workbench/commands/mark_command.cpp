// heddle runs tag | rename | note | star | archive: what a person adds to runs.
#include <fmt/format.h>

#include <functional>

#include "base/say.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {
namespace {

using Change = std::function<Result<>(storage::Writer&, const storage::RunSummary&)>;

/// The same change to each run; the first that fails ends it.
int change_runs(const Context& context, const std::vector<std::string>& runs,
                const Change& change) {
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    for (const std::string& name : runs) {
      const auto run = find_run(reader, name);
      if (!run) return report(run.error(), kExitUsage);
      if (Result<> changed = change(**writer, run->summary); !changed) return fail(changed);
    }
    return kExitDone;
  });
}

}  // namespace

int tag_command(const Context& context, const TagOptions& options) {
  for (const std::string& tag : options.add)
    if (!tag.starts_with('+') || tag.size() == 1)
      return report({fmt::format("\"{}\" is no change of a tag; valid: +TAG to add, -TAG to "
                                 "remove it",
                                 tag)},
                    kExitUsage);
  std::vector<std::string> add, left;
  for (const std::string& tag : options.add) add.push_back(tag.substr(1));
  const int exit_code =
      change_runs(context, {options.run},
                  [&](storage::Writer& writer, const storage::RunSummary& run) -> Result<> {
                    auto tags = writer.change_tags(run.id, add, options.remove).get();
                    if (!tags) return fail(tags);
                    left = std::move(*tags);
                    return {};
                  });
  if (exit_code == kExitDone)
    say("{}: {}\n", options.run,
        left.empty() ? "no tags" : fmt::format("{}", fmt::join(left, ", ")));
  return exit_code;
}

int rename_command(const Context& context, const std::string& run, const std::string& name) {
  return change_runs(context, {run},
                     [&](storage::Writer& writer, const storage::RunSummary& found) {
                       return writer.rename(found.id, name).get();
                     });
}

int note_command(const Context& context, const std::string& run, const std::string& text) {
  return change_runs(context, {run},
                     [&](storage::Writer& writer, const storage::RunSummary& found) {
                       return writer.set_notes(found.id, text).get();
                     });
}

int star_command(const Context& context, const MarkOptions& options) {
  return change_runs(context, options.runs,
                     [&](storage::Writer& writer, const storage::RunSummary& run) {
                       return writer.set_starred(run.id, !options.undo).get();
                     });
}

int archive_command(const Context& context, const MarkOptions& options) {
  return change_runs(context, options.runs,
                     [&](storage::Writer& writer, const storage::RunSummary& run) {
                       return writer.set_archived(run.id, !options.undo).get();
                     });
}

}  // namespace heddle::workbench
