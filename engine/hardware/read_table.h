// One table of a file, as [device.h100-sxm], to the entry that it describes.
#pragma once

#include <functional>
#include <string>

#include "engine/hardware/entry.h"
#include "engine/recipe/parse.h"
#include "engine/recipe/toml.h"

namespace heddle::hardware {

using Report = std::function<void(recipe::Fault fault)>;

/// Where a table is: its file and its dotted key.
struct TablePlace {
  std::string file, key;
};

/// Adds the numbers of the table to `entry`, which already holds those from the entry that it is
/// `like`.
/// Reports unknown keys, values of another type, numbers out of range, and what is still missing.
void read_table(const toml::table& table, const TablePlace& place, Device& entry,
                const Report& report);
void read_table(const toml::table& table, const TablePlace& place, Node& entry,
                const Report& report);
void read_table(const toml::table& table, const TablePlace& place, Network& entry,
                const Report& report);
void read_table(const toml::table& table, const TablePlace& place, Program& entry,
                const Report& report);

/// Marks the numbers that an entry takes from another as guesses, unless they are known for both.
void take_over(Device& entry);
void take_over(Node& entry);
void take_over(Network& entry);
void take_over(Program& entry);

/// A fault at a node of a file.
recipe::Fault fault_at(const toml::node& node, const TablePlace& place, const std::string& key,
                       std::string what, std::string valid = "", std::string suggestion = "");

}  // namespace heddle::hardware
