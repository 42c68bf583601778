// A recipe's text: read, resolved, edited; and the same text as a --set and as a file of hardware.
#include "engine/hardware/catalogue.h"
#include "engine/recipe/offers.h"
#include "engine/recipe/parse.h"
#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(fuzz::text(data, size));
  const recipe::Parsed parsed = recipe::parse(text, "recipe.toml");
  for (const recipe::Fault& fault : parsed.faults) (void)fault.str();
  if (parsed.ok()) {
    const recipe::Parsed resolved = recipe::resolve(parsed);
    (void)recipe::flatten(resolved.recipe);
    if (resolved.ok() && !recipe::parse(recipe::to_toml(resolved.recipe), "again").ok())
      std::abort();  // what is written is read
  }
  (void)recipe::with_key(text, "training.steps", "7");
  (void)recipe::with_key(text, "data.seq_len", "");
  (void)recipe::with_key("[training]\nsteps = 3\n", "training.steps", text);
  (void)recipe::with_overrides(text, {});
  (void)recipe::parse("", "recipe.toml", {text, "training.steps=" + text});
  (void)hardware::read_catalogue({{"hardware.toml", text}});
  return 0;
}
