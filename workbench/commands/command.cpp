#include "workbench/commands/command.h"

#include "base/say.h"
#include "storage/reading.h"

namespace heddle::workbench {

int report(const Error& error, int exit_code) {
  say(stderr, "heddle: {}\n", error.message);
  return exit_code;
}

void note_unwritable(const Context& context) {
  if (!storage::is_writable(context.store))
    say(stderr, "note: {}\n", storage::unwritable(context.store).message);
}

Result<storage::RunDetail> find_run(storage::Reader& reader, const std::string& name_or_id,
                                    bool trash_too) {
  const Result<storage::RunSummary> found = reader.find_run(name_or_id, trash_too);
  if (!found) return fail(found);
  return reader.run(found->id);
}

std::string lineage_text(const storage::RunSummary& run) {
  return run.lineage ? storage::words_of(*run.lineage) : "";
}

}  // namespace heddle::workbench
