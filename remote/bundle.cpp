#include "remote/bundle.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/read_file.h"
#include "remote/build_id.h"
#include "remote/hash_cache.h"
#include "remote/libraries.h"
#include "remote/local_node.h"
#include "remote/sha256.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEngine = "heddle-engine";
constexpr const char* kManifest = "manifest";

// HEDDLE_ENGINE: how the engine starts itself again for its ranks (its own /proc/self/exe is the
// loader).
constexpr const char* kWrapper = R"sh(#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P) || exit 1
HEDDLE_ENGINE=$here/heddle-engine
export HEDDLE_ENGINE
exec "$here/lib/{loader}" --library-path "$here/lib" "$here/bin/heddle-engine" "$@"
)sh";

/// All that the engine loads: when it starts, with the library of the commands that need LibTorch,
/// and with the plug-in for Parquet.
Result<std::vector<Library>> libraries_of_engine(const std::string& engine, Parquet parquet) {
  Result<std::vector<Library>> libraries = libraries_of(engine);
  std::vector<const char*> names{"libheddle_torch.so"};
  if (parquet == Parquet::if_built) names.push_back("libheddle_parquet.so");
  for (const char* name : names) {
    const std::string plugin = fs::path(engine).parent_path() / name;
    if (!libraries || !fs::is_regular_file(plugin)) continue;
    const Result<std::vector<Library>> more = libraries_of_plugin(plugin, *libraries);
    if (!more) return more;
    libraries->insert(libraries->end(), more->begin(), more->end());
  }
  return libraries;
}

/// The folder of an unpacked bundle, when `engine` is its wrapper.
std::optional<fs::path> unpacked_at(const std::string& engine) {
  const fs::path folder = fs::path(engine).parent_path();
  if (fs::path(engine).filename() != kEngine || !fs::is_regular_file(folder / kManifest))
    return std::nullopt;
  return folder;
}

Result<Bundle> read_unpacked(const fs::path& folder) {
  constexpr size_t kMaxBytes = 1 << 20;
  Bundle bundle;
  for (const auto& [file, text] :
       {std::pair(kManifest, &bundle.manifest), std::pair(kEngine, &bundle.wrapper)}) {
    Result<std::string> read = read_file(folder / file, kMaxBytes);
    if (!read) return fail(read);
    *text = std::move(*read);
  }
  HashCache cache;
  std::istringstream lines(bundle.manifest);
  for (BundleFile file; lines >> file.sha256 >> file.path;) {
    file.from = folder / file.path;
    const Result<std::string> hash = cache.sha256_of(file.from);
    if (!hash) return fail(hash);
    if (*hash != file.sha256)
      return fail("{} is damaged: unpack the archive that it came in again", file.from);
    if (file.path == kEngine) continue;
    file.size = fs::file_size(file.from);
    bundle.files.push_back(file);
  }
  cache.save();
  bundle.id = sha256(bundle.manifest);
  return bundle;
}

}  // namespace

std::string program_of(const std::string& engine) {
  const auto folder = unpacked_at(engine);
  return folder ? (*folder / "bin" / kEngine).string() : engine;
}

Result<> unpack(const Bundle& bundle, const std::string& folder) {
  for (const BundleFile& file : bundle.files) {
    const fs::path to = fs::path(folder) / file.path;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (!error) fs::copy_file(file.from, to, error);
    if (!error) fs::permissions(to, fs::perms(0755), error);
    if (error) return fail("{} cannot be written: {}", to.string(), error.message());
  }
  LocalNode here("this machine");
  const Result<> put = here.put_bytes(bundle.wrapper, folder + "/" + kEngine, 0755);
  return put ? here.put_bytes(bundle.manifest, folder + "/" + kManifest, 0644) : put;
}

std::string plugin_of(const std::string& engine) {
  return fs::path(engine).parent_path() / "libheddle_cuda.so";
}

Result<> check_plugin(const std::string& engine) {
  const std::string plugin = plugin_of(engine);
  if (!fs::is_regular_file(plugin))
    return fail(
        "there is no CUDA plug-in next to {}: build it with packaging/start.sh --cuda, or train "
        "with hardware.device = \"cpu\"",
        engine);
  const Result<std::string> ours = build_id_of(engine), theirs = build_id_of(plugin);
  for (const auto* id : {&ours, &theirs})
    if (!*id) return fail(*id);
  if (!ours->empty() && *ours == *theirs) return {};
  return fail("{} is of another build than {}: packaging/start.sh --cuda builds both", plugin,
              engine);
}

Result<Bundle> bundle_of(const std::string& engine, Devices devices, Parquet parquet) {
  if (!fs::is_regular_file(engine)) {
    return fail("there is no engine at {}: build the target heddle-engine", engine);
  }
  if (const auto folder = unpacked_at(engine)) {
    if (devices == Devices::gpus)
      if (const Result<> fits = check_plugin(engine); !fits) return fail(fits);
    return read_unpacked(*folder);
  }
  const Result<std::vector<Library>> libraries = libraries_of_engine(engine, parquet);
  if (!libraries) return fail(libraries);

  Bundle bundle;
  std::string loader;
  bundle.files.push_back({.path = "bin/heddle-engine", .from = engine});
  for (const Library& library : *libraries) {
    if (library.name.starts_with("ld-linux")) loader = library.name;
    bundle.files.push_back({.path = "lib/" + library.name, .from = library.file});
  }
  if (loader.empty()) return fail("{} names no dynamic loader: it cannot be deployed", engine);
  if (devices == Devices::gpus) {
    if (const Result<> fits = check_plugin(engine); !fits) return fail(fits);
    const std::string plugin = plugin_of(engine);
    const Result<std::vector<Library>> more = libraries_of_plugin(plugin, *libraries);
    if (!more) return fail(more);
    for (const Library& library : *more)
      bundle.files.push_back({.path = "lib/" + library.name,
                              .from = library.file,
                              .nodes_may_have = library.file != plugin});
  }
  std::ranges::sort(bundle.files, {}, &BundleFile::path);

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
