// heddle trust
#include <fmt/format.h>

#include "base/say.h"
#include "storage/schema.h"
#include "storage/trust.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {

int trust_command(const Context& context) {
  if (const Result<> readable = storage::check_readable(context.store); !readable)
    return report(readable.error());
  const bool before = storage::is_listed(context.store);
  if (const Result<> done = storage::trust(context.store); !done) return report(done.error());
  say("{} {} trusted\n", context.store, before ? "was already" : "is now");
  return kExitDone;
}

}  // namespace heddle::workbench
