// The engine with every shared library it loads, the loader and libc included: a set of files that
// runs on a node which has none of them. For GPUs the plug-in, and what it needs, are part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

struct BundleFile {
  std::string path;  // in the bundle: "bin/heddle-engine", "lib/libc10.so"
  std::string from;  // on this machine
  std::string sha256 = {};
  uint64_t size = 0;
  bool nodes_may_have = false;  // a library of CUDA or of LibTorch's for GPUs
};

/// The devices that the engine is brought for.
enum class Devices { cpus, gpus };

/// The plug-in for texts in Parquet files, where it is built.
enum class Parquet { if_built, never };

struct Bundle {
  std::vector<BundleFile> files;  // sorted by path
  /// Starts bin/heddle-engine with the bundle's own loader and libraries. Written as
  /// `heddle-engine`.
  std::string wrapper;
  std::string manifest;  // as sha256sum writes and checks it; the wrapper included
  std::string id;        // SHA-256 of the manifest
};

/// Asks the dynamic loader which libraries `engine`, libheddle_torch.so and the plug-in for Parquet
/// load, and hashes them (see HashCache). For GPUs an error says when there is no plug-in next to
/// it, or one of another build. The wrapper of an unpacked bundle gives that bundle; an error names
/// a file that is not as the manifest has it.
Result<Bundle> bundle_of(const std::string& engine, Devices devices = Devices::cpus,
                         Parquet parquet = Parquet::if_built);

/// Copies all of a bundle into a folder, which need not exist: from there it runs as it is, without
/// being deployed.
Result<> unpack(const Bundle& bundle, const std::string& folder);

/// The engine's own file: `engine`, or the program that the wrapper of an unpacked bundle starts.
std::string program_of(const std::string& engine);

/// The CUDA plug-in of an engine on this machine; it need not be there.
std::string plugin_of(const std::string& engine);

/// An error says why runs cannot use GPUs: there is no plug-in, or one of another build.
Result<> check_plugin(const std::string& engine);

}  // namespace heddle::remote
