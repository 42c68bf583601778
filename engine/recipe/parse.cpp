#include "engine/recipe/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/read_file.h"
#include "engine/recipe/nearest.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/schema.h"

namespace heddle::recipe {
namespace {

const std::string kSet = "--set";

/// Reads one TOML table (the file's, or a --set's) into a recipe; a later table overrides an
/// earlier.
class Reader {
 public:
  Reader(Parsed& parsed, std::string file) : parsed_(parsed), file_(std::move(file)) {}

  void read(const toml::table& table, const std::string& prefix = "") {
    for (const auto& [key, node] : table) {
      const std::string full = prefix + std::string(key.str());
      const bool section = std::ranges::find(sections(), full) != sections().end();
      if (const Field* field = find_field(full)) {
        forget(full);
        place(node, full);
        field->read(
            node, parsed_.recipe,
            [&](const toml::node& at, std::string what, std::string valid, std::string hint) {
              fault(at.source(), full, std::move(what), std::move(valid), std::move(hint));
            });
      } else if (section && node.is_table()) {
        parsed_.places.try_emplace(full, place_of(key.source()));
        read(*node.as_table(), full + ".");
      } else if (section) {
        fault(node.source(), full, fmt::format("{} is no table", describe(node)),
              fmt::format("[{}]", full), "");
      } else {
        unknown(key.source(), prefix, std::string(key.str()));
      }
    }
  }

  void fault(const toml::source_region& at, const std::string& key, std::string what,
             std::string valid, std::string hint) {
    const Place place = place_of(at);
    parsed_.faults.push_back(
        {file_, place.line, place.column, key, std::move(what), std::move(valid), std::move(hint)});
  }

 private:
  Place place_of(const toml::source_region& at) const {
    if (file_ == kSet) return {file_, 0, 0};
    return {file_, static_cast<int>(at.begin.line), static_cast<int>(at.begin.column)};
  }

  // A --set replaces a list: the places of the old one's elements are gone.
  void forget(const std::string& key) {
    std::erase_if(parsed_.places, [&](const auto& item) {
      return item.first == key || item.first.starts_with(key + "[");
    });
  }

  void place(const toml::node& node, const std::string& key) {
    parsed_.places[key] = place_of(node.source());
    if (const toml::array* array = node.as_array()) {
      size_t index = 0;
      for (const toml::node& element : *array) {
        place(element, fmt::format("{}[{}]", key, index++));
      }
    } else if (const toml::table* table = node.as_table()) {
      for (const auto& [inner, value] : *table) {
        place(value, fmt::format("{}.{}", key, inner.str()));
      }
    }
  }

  void unknown(const toml::source_region& at, const std::string& prefix, const std::string& leaf) {
    std::vector<std::string> siblings;
    std::vector<std::string> elsewhere;
    for (const KeyInfo& info : keys()) {
      const bool sibling = section_of(info.key) + "." == prefix;
      (sibling ? siblings : elsewhere).push_back(leaf_of(info.key));
    }
    if (prefix.empty()) siblings = sections();
    std::string hint = nearest(leaf, siblings);
    if (!hint.empty()) {
      hint = prefix + hint;
    } else if (std::ranges::find(elsewhere, leaf) != elsewhere.end()) {
      const auto& all = keys();
      hint = std::ranges::find_if(all, [&](const KeyInfo& info) {
               return leaf_of(info.key) == leaf;
             })->key;
    }
    fault(at, prefix + leaf, "unknown key", fmt::format("{}", joined(siblings, ", ")), hint);
  }

  Parsed& parsed_;
  std::string file_;
};

/// `key=value` as the nested tables that it means. A value that is no TOML is a string, unless it
/// begins like a TOML list, table or string.
Result<toml::table> read_set(const std::string& set) {
  const size_t equals = set.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return fail("is no key=value");
  }
  const std::string key = set.substr(0, equals);
  const std::string value = set.substr(equals + 1);
  toml::parse_result parsed = parse_toml("value = " + value + "\n");
  const bool one = parsed && parsed.table().size() == 1 && parsed.table().contains("value");
  if (!one && !value.empty() &&
      std::string_view("[{\"'").find(value[0]) != std::string_view::npos) {
    return fail("{} is no TOML value", quote(value));
  }
  toml::table innermost;
  const std::string leaf = leaf_of(key);
  if (one) {
    innermost.insert(leaf, std::move(*parsed.table().get("value")));
  } else {
    innermost.insert(leaf, value);
  }
  toml::table outer = std::move(innermost);
  for (std::string path = section_of(key); !path.empty(); path = section_of(path)) {
    toml::table table;
    table.insert(leaf_of(path), std::move(outer));
    outer = std::move(table);
  }
  return outer;
}

/// toml++'s words, but for the slip that is made most.
std::string syntax_fault(std::string_view text, const toml::parse_error& error) {
  std::string words(error.description());
  if (words.find("unescaped control") == words.npos) return words;
  for (toml::source_index line = 1; line < error.source().begin.line; ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  const bool open =
      std::ranges::count(line, '"') % 2 == 1 || std::ranges::count(line, '\'') % 2 == 1;
  return open ? "a string is not closed" : words;
}

/// The preset's numbers come before every number that is written, wherever it is.
void apply_preset(Parsed& parsed, const std::vector<toml::table>& tables) {
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    const auto name = (*table)["model"]["preset"].value_exact<std::string>();
    if (!name) continue;
    if (const auto numbers = preset(*name)) parsed.recipe.model = *numbers;
    return;
  }
}

}  // namespace

std::string Fault::str() const {
  std::string line_text = line > 0 ? fmt::format("{}:{}:{}: ", file, line, column) : file + ": ";
  if (!key.empty()) line_text += key + ": ";
  line_text += what;
  if (!valid.empty()) line_text += "; valid: " + valid;
  if (!suggestion.empty()) line_text += fmt::format(" (did you mean {})", suggestion);
  return line_text;
}

Parsed parse(std::string_view text, const std::string& file, const std::vector<std::string>& sets) {
  Parsed parsed;
  parsed.file = file;
  std::vector<toml::table> tables(1);
  std::vector<std::string> origins = {file};
  toml::parse_result result = parse_toml(text);
  if (result) {
    tables[0] = std::move(result.table());
  } else {
    Reader(parsed, file)
        .fault(result.error().source(), "", syntax_fault(text, result.error()), "", "");
  }
  for (const std::string& set : sets) {
    Result<toml::table> table = read_set(set);
    if (table) {
      tables.push_back(std::move(*table));
      origins.push_back(kSet);
    } else {
      const std::string key = set.substr(0, set.find('='));
      parsed.faults.push_back(
          {kSet, 0, 0, key, table.error().message, "as in training.steps=100", ""});
    }
  }
  apply_preset(parsed, tables);
  for (size_t i = 0; i < tables.size(); ++i) Reader(parsed, origins[i]).read(tables[i]);
  std::ranges::stable_sort(parsed.faults, {}, [](const Fault& fault) {
    return std::tuple(fault.line == 0, fault.line, fault.column);
  });
  return parsed;
}

namespace {

Parsed parse_read(const Result<std::string>& text, const std::string& path,
                  const std::vector<std::string>& sets) {
  if (!text) {
    Parsed parsed;
    parsed.file = path;
    // The path precedes the fault already.
    parsed.faults.push_back(
        {path, 0, 0, "", text.error().message.substr(path.size() + 2), "a recipe (.toml)", ""});
    return parsed;
  }
  Parsed parsed = parse(*text, path, sets);
  resolve_paths(parsed.recipe, std::filesystem::absolute(path).parent_path().string());
  return parsed;
}

}  // namespace

Parsed parse_file(const std::string& path, const std::vector<std::string>& sets) {
  return parse_read(read_file(path, kMaxRecipeBytes), path, sets);
}

Parsed parse_named_file(const std::string& path, const std::vector<std::string>& sets) {
  return parse_read(read_named_file(path, kMaxRecipeBytes), path, sets);
}

void resolve_paths(Recipe& recipe, const std::string& folder) {
  const auto absolute = [&](std::string& path) {
    if (path.empty()) return;
    const bool names_folder = path.ends_with('/');
    path = (std::filesystem::path(folder) / path).lexically_normal().string();
    if (names_folder && !path.ends_with('/')) path += '/';
  };
  absolute(recipe.model.checkpoint);
  for (std::string& path : recipe.data.text) absolute(path);
  for (MixPart& part : recipe.data.mix)
    for (std::string& path : part.text) absolute(path);
  absolute(recipe.data.token_ids);
  absolute(recipe.data.tokenizer);
  absolute(recipe.data.cache);
  for (std::string& path : recipe.validation.text) absolute(path);
  absolute(recipe.checkpoint.folder);
}

const std::vector<KeyInfo>& keys() {
  static const std::vector<KeyInfo> infos = [] {
    std::vector<KeyInfo> result;
    for (const Field& field : schema()) result.push_back(field.info);
    return result;
  }();
  return infos;
}

const KeyInfo* find_key(std::string_view key) {
  const auto found = std::ranges::find(keys(), key, &KeyInfo::key);
  return found == keys().end() ? nullptr : &*found;
}

bool applies(const KeyInfo& info, const Recipe& recipe) {
  return info.optimizers.empty() ||
         std::ranges::find(info.optimizers, recipe.optimizer.name) != info.optimizers.end();
}

}  // namespace heddle::recipe
