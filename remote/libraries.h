// The shared libraries of a program or of a plug-in, as this machine's dynamic loader finds them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

struct Library {
  std::string name;  // by which the loader looks for it: "libc10.so"
  std::string file;  // absolute path
};

/// All that a program loads when it starts, the loader (`ld-linux…`) included. An error names what
/// is not on this machine.
Result<std::vector<Library>> libraries_of(const std::string& program);

/// All that a plug-in adds to a program with these libraries: itself, what it loads, and what these
/// open by name when they run (a list of libraries.cpp). Not the driver's: each node has its own.
Result<std::vector<Library>> libraries_of_plugin(const std::string& plugin,
                                                 const std::vector<Library>& program);

}  // namespace heddle::remote
