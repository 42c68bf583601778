#include "engine/hardware/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>

#include "base/read_file.h"
#include "engine/hardware/contradictions.h"
#include "engine/hardware/read_table.h"
#include "engine/recipe/nearest.h"
#include "engine/recipe/text.h"
#include "engine/recipe/values.h"

namespace heddle::hardware {
namespace {

// Tables of one kind by name, before they are read: any may be like any other.
struct Table {
  const toml::table* table;
  const Source* source;
};
using Tables = std::map<std::string, Table>;

template <typename Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// Reads the tables of a kind, those first that others are like.
template <typename T>
class KindReader {
 public:
  KindReader(std::string kind, const Tables& tables, std::map<std::string, T>& entries,
             std::vector<recipe::Fault>& faults)
      : kind_(std::move(kind)), tables_(tables), entries_(entries), faults_(faults) {}

  void read_all() {
    for (const auto& [name, table] : tables_) read(name);
  }

 private:
  bool read(const std::string& name) {
    if (entries_.contains(name)) return true;
    if (!begun_.insert(name).second) return false;  // it has a fault, or is like itself
    const auto& [table, source] = tables_.at(name);
    const TablePlace place{source->file, kind_ + "." + name};
    T entry;
    if (const toml::node* like = table->get("like")) {
      const std::string other = like->value_or(std::string());
      if (!tables_.contains(other)) {
        const auto known = keys_of(tables_);
        faults_.push_back(fault_at(*like, place, "like",
                                   recipe::describe(*like) + " is no " + kind_,
                                   recipe::joined(known, ", "), recipe::nearest(other, known)));
        return false;
      }
      if (!read(other)) {
        faults_.push_back(fault_at(*like, place, "like",
                                   fmt::format("{} has a fault itself, or is like this one", other),
                                   fmt::format("a {} that can be read", kind_)));
        return false;
      }
      entry = entries_.at(other);
      take_over(entry);
    }
    entry.name = name;
    const size_t before = faults_.size();
    read_table(*table, place, entry, [&](recipe::Fault fault) { faults_.push_back(fault); });
    if (faults_.size() > before) return false;  // contradictions would only repeat it
    for (const Contradiction& each : contradictions(entry)) {
      const toml::node* node = table->get(each.key);
      faults_.push_back(fault_at(node ? *node : *table, place, each.key, each.what, each.valid));
    }
    if (faults_.size() > before) return false;
    entries_[name] = std::move(entry);
    return true;
  }

  std::string kind_;
  const Tables& tables_;
  std::map<std::string, T>& entries_;
  std::vector<recipe::Fault>& faults_;
  std::set<std::string> begun_;
};

class CatalogueReader {
 public:
  Catalogue read(const std::vector<Source>& sources) {
    std::vector<toml::parse_result> parsed;
    parsed.reserve(sources.size());
    for (const Source& source : sources) {
      parsed.push_back(recipe::parse_toml(source.text));
      if (parsed.back()) {
        collect(parsed.back().table(), source);
      } else {
        const auto at = parsed.back().error().source().begin;
        all_.faults.push_back({source.file, static_cast<int>(at.line), static_cast<int>(at.column),
                               "", std::string(parsed.back().error().description()), "", ""});
      }
    }
    KindReader<Device>("device", kinds_["device"], all_.devices, all_.faults).read_all();
    KindReader<Network>("network", kinds_["network"], all_.networks, all_.faults).read_all();
    KindReader<Program>("program", kinds_["program"], all_.programs, all_.faults).read_all();
    KindReader<Node>("node", kinds_["node"], all_.nodes, all_.faults).read_all();
    std::erase_if(all_.nodes, [&](const auto& each) { return !is_whole(each.second); });
    return std::move(all_);
  }

 private:
  void collect(const toml::table& file, const Source& source) {
    for (const auto& [kind, node] : file) {
      const TablePlace place{source.file, std::string(kind.str())};
      const auto known = keys_of(kinds_);
      if (!kinds_.contains(place.key)) {
        all_.faults.push_back(fault_at(node, place, "", "unknown section",
                                       "[device.NAME], [node.NAME], [network.NAME], [program.NAME]",
                                       recipe::nearest(place.key, known)));
      } else if (!node.is_table()) {
        all_.faults.push_back(fault_at(node, place, "", recipe::describe(node) + " is no table",
                                       fmt::format("[{}.NAME]", place.key)));
      } else {
        for (const auto& [name, entry] : *node.as_table())
          add(std::string(name.str()), entry, place, source);
      }
    }
  }

  void add(const std::string& name, const toml::node& node, const TablePlace& kind,
           const Source& source) {
    auto& tables = kinds_.at(kind.key);
    const auto fault = [&](std::string what, std::string valid) {
      all_.faults.push_back(fault_at(node, kind, name, std::move(what), std::move(valid)));
    };
    if (!node.is_table())
      return fault(recipe::describe(node) + " is no table", fmt::format("[{}.{}]", kind.key, name));
    if (name.empty() || name.find_first_of("@ \t\n") != std::string::npos || name == kThisMachine)
      return fault("cannot be a name",
                   "no space, no @, and this-machine is the machine that you are at");
    const auto other = tables.find(name);
    if (other != tables.end() && !other->second.source->shipped)
      return fault(fmt::format("{}:{} describes it as well", other->second.source->file,
                               other->second.table->source().begin.line),
                   "once in all files");
    tables[name] = {node.as_table(), &source};
  }

  bool is_whole(const Node& node) {
    const Table& table = kinds_["node"].at(node.name);
    const TablePlace place{table.source->file, "node." + node.name};
    const size_t before = all_.faults.size();
    const auto refers = [&](const char* key, const std::string& name, const auto& entries,
                            const Tables& tables) {
      if (entries.contains(name)) return;
      const toml::node* at = table.table->get(key);
      const bool faulty = tables.contains(name);
      const auto known = keys_of(entries);
      all_.faults.push_back(fault_at(
          at ? *at : *table.table, place, key,
          faulty ? name + " has a fault itself" : fmt::format("\"{}\" is no {}", name, key),
          recipe::joined(known, ", "), faulty ? "" : recipe::nearest(name, known)));
    };
    refers("device", node.device, all_.devices, kinds_["device"]);
    refers("network", node.network, all_.networks, kinds_["network"]);
    if (all_.faults.size() > before) return false;
    for (const Contradiction& each : contradictions(node, all_.devices.at(node.device))) {
      const toml::node* at = table.table->get(each.key);
      all_.faults.push_back(
          fault_at(at ? *at : *table.table, place, each.key, each.what, each.valid));
    }
    return all_.faults.size() == before;
  }

  Catalogue all_;
  std::map<std::string, Tables> kinds_ = {
      {"device", {}}, {"network", {}}, {"node", {}}, {"program", {}}};
};

// A whole word: "B200" is not in "GB200".
bool has_word(std::string_view name, std::string_view word) {
  const auto within = [&](size_t i) {
    return i < name.size() && std::isalnum(static_cast<unsigned char>(name[i]));
  };
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1))
    if ((at == 0 || !within(at - 1)) && !within(at + word.size())) return true;
  return false;
}

// How many words of `driver` the name has, if it has all of them; else 0.
size_t words_matched(std::string_view gpu, const std::string& driver) {
  std::istringstream words(driver);
  size_t count = 0;
  for (std::string word; words >> word; ++count)
    if (!has_word(gpu, word)) return 0;
  return count;
}

// Plans come by the thousand, and the files hardly ever change between two.
Catalogue remembered(const std::vector<Source>& sources) {
  static std::mutex mutex;
  static std::vector<Source> known;
  static Catalogue catalogue;
  const std::lock_guard lock(mutex);
  const auto same = [](const Source& a, const Source& b) {
    return a.file == b.file && a.text == b.text && a.shipped == b.shipped;
  };
  if (!std::ranges::equal(known, sources, same)) {
    catalogue = read_catalogue(sources);
    known = sources;
  }
  return catalogue;
}

std::string faulty(const std::vector<recipe::Fault>& faults, const std::string& key) {
  for (const recipe::Fault& fault : faults)
    if (fault.key == key || fault.key.starts_with(key + ".")) return fault.str();
  return {};
}

}  // namespace

Catalogue read_catalogue(const std::vector<Source>& sources) {
  return CatalogueReader().read(sources);
}

Result<Entry> Catalogue::find(const std::string& name) const {
  const size_t at = name.find('@');
  const std::string node_name = name.substr(0, at);
  const auto node = nodes.find(node_name);
  if (node == nodes.end()) {
    if (const std::string why = faulty(faults, "node." + node_name); !why.empty())
      return fail("{}", why);
    std::vector<std::string> known = names();
    known.insert(known.begin(), kThisMachine);
    const std::string near = recipe::nearest(node_name, known);
    return fail("no hardware \"{}\" is in the catalogue; valid: {}{}", node_name,
                recipe::joined(known, ", "),
                near.empty() ? "" : fmt::format(" (did you mean {})", near));
  }
  const std::string network_name =
      at == std::string::npos ? node->second.network : name.substr(at + 1);
  const auto network = networks.find(network_name);
  if (network == networks.end()) {
    if (const std::string why = faulty(faults, "network." + network_name); !why.empty())
      return fail("{}", why);
    const std::vector<std::string> known = keys_of(networks);
    const std::string near = recipe::nearest(network_name, known);
    return fail("no network \"{}\" is in the catalogue; valid: {}{}", network_name,
                recipe::joined(known, ", "),
                near.empty() ? "" : fmt::format(" (did you mean {}@{})", node_name, near));
  }
  return Entry{name, devices.at(node->second.device), node->second, network->second};
}

Result<Program> Catalogue::find_program(const std::string& name) const {
  if (const auto program = programs.find(name); program != programs.end()) return program->second;
  if (const std::string why = faulty(faults, "program." + name); !why.empty())
    return fail("{}", why);
  const std::vector<std::string> known = keys_of(programs);
  const std::string near = recipe::nearest(name, known);
  return fail("no program \"{}\" is in the catalogue; valid: {}{}", name,
              recipe::joined(known, ", "),
              near.empty() ? "" : fmt::format(" (did you mean {})", near));
}

const Device* Catalogue::of_driver(std::string_view gpu) const {
  // A part of one, or another chip of nearly the same name.
  for (const char* other : {"MIG", "Laptop", "Max-Q", "D", "Ti"})
    if (has_word(gpu, other)) return nullptr;
  const Device* found = nullptr;
  size_t most = 0;
  for (const auto& [name, device] : devices)
    for (const std::string& driver : device.driver)
      if (const size_t words = words_matched(gpu, driver); words > most) {
        most = words;
        found = &device;
      }
  return found;
}

std::vector<std::string> Catalogue::names() const { return keys_of(nodes); }

std::string user_folder() {
  const char* config = getenv("XDG_CONFIG_HOME");
  const char* home = getenv("HOME");
  return (config && *config ? config : std::string(home ? home : "") + "/.config") +
         "/heddle/hardware";
}

Catalogue load_catalogue(const std::string& folder) {
  std::vector<Source> sources = built_in();
  std::vector<recipe::Fault> unread;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error))
    if (file.path().extension() == ".toml") paths.push_back(file.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    if (auto text = read_file(path, recipe::kMaxRecipeBytes))
      sources.push_back({path, std::move(*text)});
    else
      unread.push_back({path, 0, 0, "", text.error().message.substr(path.size() + 2),
                        "a file that you may read", ""});
  }
  Catalogue catalogue = remembered(sources);
  catalogue.faults.insert(catalogue.faults.end(), unread.begin(), unread.end());
  return catalogue;
}

}  // namespace heddle::hardware
