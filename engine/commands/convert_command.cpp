#include <fmt/format.h>

#include "base/say.h"
#include "engine/checkpoint/convert.h"
#include "engine/checkpoint/reader.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/checkpoint/weights.h"
#include "engine/commands/commands.h"
#include "engine/commands/refuse.h"
#include "engine/data/export_model.h"
#include "engine/recipe/units.h"

namespace heddle::commands {
int convert(const ConvertOptions& options) {
  const std::string from = checkpoint::checkpoint_meant(options.from);
  if (from != options.from)
    say(stderr, "{}: holds checkpoints; the newest is taken: {}\n", options.from, from);
  checkpoint::Export how;
  if (options.dtype == "bf16") how.dtype = checkpoint::Dtype::bf16;
  const auto shard = recipe::parse_bytes(options.shard_size);
  if (!shard || *shard < 1)
    return refuse(
        fmt::format("--shard-size: \"{}\" is no size; valid: as in \"4 GiB\"", options.shard_size));
  how.shard_bytes = *shard;
  const bool exports = checkpoint::is_checkpoint(from);
  if (!exports && !options.tokenizer.empty())
    return refuse("--tokenizer: a checkpoint of Heddle's holds none; valid: without it");
  const auto done = exports ? data::export_model(from, options.to, how, options.tokenizer)
                            : checkpoint::convert(from, options.to);
  if (!done) return refuse(done.error().message);
  for (const std::string& note : *done) say(stderr, "{}\n", note);
  return 0;
}

}  // namespace heddle::commands
