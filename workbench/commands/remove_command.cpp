// heddle remove RUN, heddle restore RUN
#include <fmt/format.h>

#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/control.h"

namespace heddle::workbench {

int remove_command(const Context& context, const std::string& name) {
  const auto work = [&](storage::Reader&, const storage::RunDetail& run) -> Result<int> {
    const auto writer = storage::Writer::open(context.store);
    if (!writer) return fail(writer);
    if (const Result<> removed = remove(**writer, run); !removed) return fail(removed);
    say("{} is removed\n", run.summary.name);
    return kExitDone;
  };
  return with_run(context, name, work, true);
}

int restore_command(const Context& context, const std::string& name) {
  const auto work = [&](storage::Reader& reader, const storage::RunDetail& run) -> Result<int> {
    if (!run.summary.trashed) return fail("{} is not in the trash", run.summary.name);
    const auto writer = storage::Writer::open(context.store);
    if (!writer) return fail(writer);
    if (const Result<> done = (*writer)->restore(run.summary.id).get(); !done) return fail(done);
    const Result<storage::RunDetail> now = reader.run(run.summary.id);
    if (!now) return fail(now);
    say("{} is back\n", now->summary.name);
    return kExitDone;
  };
  return with_run(context, name, work, true);
}

}  // namespace heddle::workbench
