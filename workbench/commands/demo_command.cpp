// heddle --demo: the main job by itself. Two runs of the bundled recipe on this machine that differ
// in the learning rate, followed live, then compared; both stay in the store.
#include <fmt/format.h>

#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/commands/compare_text.h"
#include "workbench/commands/launch_and_watch.h"
#include "workbench/paths.h"

namespace heddle::workbench {

int demo_command(const Context& context) {
  const std::string recipe = samples_folder() + "/debug.toml";
  Result<LaunchRequest> request = request_from_file(recipe);
  if (!request) return report(request.error(), kExitUsage);
  request->name = "demo";
  request->sets = {"hardware.ranks=2"};
  say("A small Llama on two ranks of this machine, from {}\n", recipe);
  const Watched first = launch_and_watch(context.store, *request);
  if (first.exit_code != kExitDone) return first.exit_code;

  request->name = "demo-other";
  request->sets.emplace_back("optimizer.lr=1e-3");
  say("\nAgain, with another learning rate\n");
  const Watched second = launch_and_watch(context.store, *request);
  if (second.exit_code != kExitDone) return second.exit_code;

  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const auto comparison = reader.compare({first.run.id, second.run.id});
    if (!comparison) return fail(comparison);
    say("\n{}\nBoth runs are in {}; `heddle` opens them.\n", compare_text(*comparison),
        context.store);
    return kExitDone;
  });
}

}  // namespace heddle::workbench
