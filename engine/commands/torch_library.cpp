#include "engine/commands/torch_library.h"

#include <dlfcn.h>

#include "base/build_id.h"

namespace heddle::commands {
namespace {

constexpr const char* kTorchLibrary = "libheddle_torch.so";

}  // namespace

Result<const TorchCommands*> load_torch_commands() {
  static const TorchCommands* loaded = nullptr;
  if (loaded != nullptr) return loaded;
  // Lazily, as a program binds its libraries: LibTorch has many functions that nobody calls.
  // Global: the CUDA plug-in uses its symbols.
  void* library = dlopen(kTorchLibrary, RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr)
    return fail("{} does not load: {}; build it with packaging/start.sh", kTorchLibrary, dlerror());
  const auto give = reinterpret_cast<GiveTorchCommands>(dlsym(library, kTorchCommands));
  if (give == nullptr || give()->build != build_id())
    return fail("{} is of another build; packaging/start.sh builds both", kTorchLibrary);
  loaded = give();
  return loaded;
}

}  // namespace heddle::commands
