// The engine with every shared library it loads, the loader and libc included: a set of files that
// runs on a node which has none of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

struct BundleFile {
  std::string path;  // in the bundle: "bin/heddle-engine", "lib/libc10.so"
  std::string from;  // on this machine
  std::string sha256;
  uint64_t size = 0;
};

struct Bundle {
  std::vector<BundleFile> files;  // sorted by path
  /// Starts bin/heddle-engine with the bundle's own loader and libraries. Written as
  /// `heddle-engine`.
  std::string wrapper;
  std::string manifest;  // as sha256sum writes and checks it; the wrapper included
  std::string id;        // SHA-256 of the manifest
};

/// Asks the dynamic loader which libraries `engine` loads, and hashes them (see HashCache).
Result<Bundle> bundle_of(const std::string& engine);

}  // namespace heddle::remote
