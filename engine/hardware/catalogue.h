// All hardware that plans can be made for: built in, and added by users.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/hardware/entry.h"
#include "engine/recipe/parse.h"

namespace heddle::hardware {

/// A file of the catalogue, read.
struct Source {
  std::string file, text;
  bool shipped = false;  // with Heddle
};

/// This machine, as its calibration knows it: no entry of the catalogue, and a name of its own.
inline constexpr const char* kThisMachine = "this-machine";

struct Catalogue {
  std::map<std::string, Device> devices;
  std::map<std::string, Node> nodes;
  std::map<std::string, Network> networks;
  std::map<std::string, Program> programs;
  /// Faults of files: such an entry is not in the catalogue, the others are.
  std::vector<recipe::Fault> faults;

  /// NODE or NODE@NETWORK. The error names the nearest entry for an unknown name, or the fault of
  /// the file.
  Result<Entry> find(const std::string& name) const;
  /// The error names the nearest program for an unknown name.
  Result<Program> find_program(const std::string& name) const;
  /// The device by the name that its driver gives, as "NVIDIA H100 80GB HBM3". Null for one that is
  /// not listed: a guess would make a wrong MFU.
  const Device* of_driver(std::string_view gpu) const;
  /// The names of all nodes, sorted.
  std::vector<std::string> names() const;
};

/// Reads these files. A user's entry replaces the built-in one of its name.
Catalogue read_catalogue(const std::vector<Source>& sources);

/// The built-in files: resources/hardware/*.toml, as they were when Heddle was built.
const std::vector<Source>& built_in();

/// $XDG_CONFIG_HOME/heddle/hardware: users' own files, *.toml.
std::string user_folder();

/// The built-in and the user's own entries, read now.
Catalogue load_catalogue(const std::string& folder = user_folder());

}  // namespace heddle::hardware
