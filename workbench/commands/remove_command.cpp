// heddle remove RUN
#include <fmt/format.h>

#include "workbench/commands/command.h"
#include "workbench/control.h"

namespace heddle::workbench {

int remove_command(const Context& context, const std::string& name) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<storage::RunDetail> run = find_run(reader, name);
    if (!run) return fail(run);
    const auto writer = storage::Writer::open(context.store);
    if (!writer) return fail(writer);
    if (const Result<> removed = remove(**writer, *run); !removed) return fail(removed);
    fmt::print("{} is removed\n", run->summary.name);
    return kExitDone;
  });
}

}  // namespace heddle::workbench
