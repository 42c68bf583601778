// All hardware that plans can be made for: what ships with Heddle, and what users add.
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
  /// What is wrong with files: such an entry is not in the catalogue, the others are.
  std::vector<recipe::Fault> faults;

  /// NODE or NODE@NETWORK. An unknown name is told with the nearest one; one whose file has a
  /// fault, with that.
  Result<Entry> find(const std::string& name) const;
  /// An unknown name is told with the nearest one.
  Result<Program> find_program(const std::string& name) const;
  /// Of a GPU by the name that its driver gives, as "NVIDIA H100 80GB HBM3". Nothing for one that
  /// is not listed: a guess would make a wrong MFU.
  const Device* of_driver(std::string_view gpu) const;
  /// Of all nodes, in the order of the alphabet.
  std::vector<std::string> names() const;
};

/// Of these files. An entry of a user's takes the place of one of its name that ships with Heddle.
Catalogue read_catalogue(const std::vector<Source>& sources);

/// What ships with Heddle: resources/hardware/*.toml, as they were when it was built.
const std::vector<Source>& built_in();

/// $XDG_CONFIG_HOME/heddle/hardware: users' own files, *.toml.
std::string user_folder();

/// What ships with Heddle and the user's own, read now.
Catalogue load_catalogue(const std::string& folder = user_folder());

}  // namespace heddle::hardware
