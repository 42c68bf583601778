#include "remote/bundle.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/process.h"
#include "remote/hash_cache.h"
#include "remote/sha256.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

// HEDDLE_ENGINE: how the engine starts itself again for its ranks (its own /proc/self/exe is the
// loader).
constexpr const char* kWrapper = R"sh(#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P) || exit 1
HEDDLE_ENGINE=$here/heddle-engine
export HEDDLE_ENGINE
exec "$here/lib/{loader}" --library-path "$here/lib" "$here/bin/heddle-engine" "$@"
)sh";

struct Library {
  std::string name;
  std::string file;
};

/// The loader's trace: "\tlibm.so.6 => /lib/…/libm.so.6 (0x…)" and "\t/lib64/ld-….so.2 (0x…)".
Result<std::vector<Library>> libraries_of(const std::string& engine) {
  process::Command trace;
  trace.argv = {"env", "LD_TRACE_LOADED_OBJECTS=1", engine};
  const Result<process::Completed> traced = process::run(trace);
  if (!traced) return fail(traced);
  if (traced->exit_code != 0) {
    return fail("the libraries of {} cannot be told: {}", engine, traced->err);
  }
  std::vector<Library> libraries;
  std::istringstream lines(traced->out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::string arrow;
    std::string file;
    words >> name >> arrow >> file;
    if (arrow != "=>") file = name;
    if (file == "not") return fail("{} needs {}, which is not on this machine", engine, name);
    if (!file.starts_with('/')) continue;  // the kernel's own vdso
    libraries.push_back({fs::path(name).filename().string(), file});
  }
  return libraries;
}

}  // namespace

Result<Bundle> bundle_of(const std::string& engine) {
  if (!fs::is_regular_file(engine)) {
    return fail("there is no engine at {}: build the target heddle-engine", engine);
  }
  const Result<std::vector<Library>> libraries = libraries_of(engine);
  if (!libraries) return fail(libraries);

  Bundle bundle;
  std::string loader;
  bundle.files.push_back({"bin/heddle-engine", engine, {}, 0});
  for (const Library& library : *libraries) {
    if (library.name.starts_with("ld-linux")) loader = library.name;
    bundle.files.push_back({"lib/" + library.name, library.file, {}, 0});
  }
  if (loader.empty()) return fail("{} names no dynamic loader: it cannot be deployed", engine);
  std::sort(bundle.files.begin(), bundle.files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.path < b.path; });

  HashCache cache;
  for (BundleFile& file : bundle.files) {
    const Result<std::string> hash = cache.sha256_of(file.from);
    if (!hash) return fail(hash);
    file.sha256 = *hash;
    file.size = fs::file_size(file.from);
    bundle.manifest += fmt::format("{}  {}\n", file.sha256, file.path);
  }
  cache.save();
  bundle.wrapper = kWrapper;
  constexpr std::string_view blank = "{loader}";
  bundle.wrapper.replace(bundle.wrapper.find(blank), blank.size(), loader);
  bundle.manifest += fmt::format("{}  heddle-engine\n", sha256(bundle.wrapper));
  bundle.id = sha256(bundle.manifest);
  return bundle;
}

}  // namespace heddle::remote
