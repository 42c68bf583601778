// with_key: one key changed in a recipe's text, the rest left byte for byte.
#include <fmt/format.h>

#include <algorithm>

#include "engine/recipe/schema.h"

namespace heddle::recipe {
namespace {

/// Byte offset of a 1-based line and column; columns count code points.
size_t offset_of(const std::string& text, toml::source_position position) {
  size_t at = 0;
  for (toml::source_index line = 1; line < position.line; ++line) {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) return text.size();
    at = end + 1;
  }
  for (toml::source_index column = 1; column < position.column && at < text.size(); ++column) {
    do {
      ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return at;
}

size_t line_start(const std::string& text, size_t at) {
  const size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

/// The first byte after the line's newline, or the end of the text.
size_t line_end(const std::string& text, size_t at) {
  const size_t newline = text.find('\n', at);
  return newline == std::string::npos ? text.size() : newline + 1;
}

struct Entry {
  const toml::key* key = nullptr;
  const toml::node* node = nullptr;
  const toml::table* parent = nullptr;
};

Entry find(const toml::table& root, const std::string& key) {
  Entry entry;
  const toml::table* table = &root;
  for (size_t from = 0; table != nullptr;) {
    const size_t dot = key.find('.', from);
    const auto item = table->find(key.substr(from, dot == key.npos ? dot : dot - from));
    if (item == table->end()) return {};
    entry = {&item->first, &item->second, table};
    if (dot == key.npos) return entry;
    table = item->second.as_table();
    from = dot + 1;
  }
  return {};
}

size_t begin_of(const std::string& text, const toml::node& node) {
  return offset_of(text, node.source().begin);
}

size_t node_end(const std::string& text, const toml::node& node) {
  return offset_of(text, node.source().end);
}

/// End of all that is written of a node: for a table or a list of tables, of what is below it too.
size_t end_of_all(const std::string& text, const toml::node& node) {
  size_t end = node_end(text, node);
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, below] : *table) end = std::max(end, end_of_all(text, below));
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array) end = std::max(end, end_of_all(text, element));
  }
  return end;
}

std::string insert_lines(const std::string& text, size_t after, const std::string& lines) {
  const size_t at = line_end(text, after);
  const bool unfinished = at > 0 && text[at - 1] != '\n';
  return text.substr(0, at) + (unfinished ? "\n" : "") + lines + "\n" + text.substr(at);
}

/// A pair into `{ … }`.
std::string insert_inline(const std::string& text, const toml::table& table,
                          const std::string& pair) {
  if (table.empty()) {
    return text.substr(0, begin_of(text, table)) + "{ " + pair + " }" +
           text.substr(node_end(text, table));
  }
  size_t end = 0;
  for (const auto& [key, node] : table) end = std::max(end, end_of_all(text, node));
  return text.substr(0, end) + ", " + pair + text.substr(end);
}

/// A pair out of `{ … }`, with the comma that joined it.
std::string remove_inline(const std::string& text, const Entry& entry) {
  size_t from = offset_of(text, entry.key->source().begin);
  size_t to = node_end(text, *entry.node);
  const size_t next = text.find_first_not_of(" \t", to);
  const size_t before = text.find_last_not_of(" \t", from - 1);
  if (next != text.npos && text[next] == ',') {
    to = std::min(text.find_first_not_of(" \t", next + 1), text.size());
  } else if (before != text.npos && text[before] == ',') {
    from = before;
  }
  return text.substr(0, from) + text.substr(to);
}

size_t order_of(const std::string& key) {
  const auto& fields = schema();
  const auto at = std::ranges::find_if(fields, [&](const Field& field) {
    return field.info.key == key || field.info.key.starts_with(key + ".") ||
           key.starts_with(field.info.key + ".");
  });
  return static_cast<size_t>(at - fields.begin());
}

/// After the key of the same table that comes before `key` in the design's order, else after the
/// table's header (or, in a table of dotted keys, after its last).
size_t place_in(const std::string& text, const toml::table& table, const std::string& path,
                const std::string& key, bool header) {
  size_t place = header ? node_end(text, table) : end_of_all(text, table);
  size_t best = 0;
  for (const auto& [name, node] : table) {
    const size_t order = order_of(path + "." + std::string(name.str()));
    const toml::table* below = node.as_table();
    const bool own_header = below != nullptr && !below->is_inline();
    if (own_header || !header || order >= order_of(key) || order < best) continue;
    best = order;
    place = node_end(text, node);
  }
  return place;
}

/// The end of all sections that come before one in the design's order; 0: there are none.
size_t end_before(const std::string& text, const toml::table& root, const std::string& section) {
  size_t after = 0;
  for (const std::string& name : sections()) {
    if (name == section) break;
    if (const toml::node* node = root.get(name)) after = end_of_all(text, *node);
  }
  return after;
}

/// Lines after all that comes before `section`, or at the end.
std::string insert_section(const std::string& text, const toml::table& root,
                           const std::string& section, const std::string& lines) {
  const size_t after = end_before(text, root, section);
  if (after != 0) return insert_lines(text, after, "\n" + lines);
  const bool blank = text.find_first_not_of(" \t\r\n") == text.npos;
  return blank ? lines + "\n" : insert_lines(text, text.size(), "\n" + lines);
}

std::string add_section(const std::string& text, const toml::table& root, const std::string& key,
                        const std::string& value) {
  const size_t dot = key.find('.');
  const std::string section = key.substr(0, dot);
  const std::string lines = fmt::format("[{}]\n{} = {}", section, key.substr(dot + 1), value);
  return insert_section(text, root, section, lines);
}

std::string add(const std::string& text, const toml::table& root, const std::string& key,
                const std::string& value) {
  for (std::string path = section_of(key); !path.empty(); path = section_of(path)) {
    const Entry parent = find(root, path);
    if (parent.node == nullptr || !parent.node->is_table()) continue;
    const toml::table& table = *parent.node->as_table();
    const std::string pair = fmt::format("{} = {}", key.substr(path.size() + 1), value);
    if (table.is_inline()) return insert_inline(text, table, pair);
    const bool header = text[begin_of(text, table)] == '[';
    const std::string line = header ? pair : fmt::format("{} = {}", key, value);
    return insert_lines(text, place_in(text, table, path, key, header), line);
  }
  return add_section(text, root, key, value);
}

std::string remove(const std::string& text, const Entry& entry) {
  if (entry.parent->is_inline()) return remove_inline(text, entry);
  const size_t from = line_start(text, offset_of(text, entry.key->source().begin));
  return text.substr(0, from) + text.substr(line_end(text, node_end(text, *entry.node)));
}

/// [[override]] tables of a text: their lines, from the header to the last key.
struct Block {
  size_t from, to;
  Override exception;
};

std::vector<Block> blocks_of(const std::string& text, const toml::array& tables,
                             const std::vector<Override>& exceptions) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < tables.size() && i < exceptions.size(); ++i) {
    const toml::node& table = *tables.get(i);
    blocks.push_back({line_start(text, begin_of(text, table)),
                      line_end(text, end_of_all(text, table)), exceptions[i]});
  }
  return blocks;
}

/// The lines of the wanted exceptions: lines that the text has already are kept as written.
std::string block_lines(const std::string& text, std::vector<Block> blocks,
                        const std::vector<Override>& wanted) {
  std::string lines;
  for (const Override& exception : wanted) {
    if (!lines.empty()) lines += "\n";
    const auto same = std::ranges::find(blocks, exception, &Block::exception);
    if (same == blocks.end()) {
      Recipe one;
      one.overrides = {exception};
      lines += override_blocks(one);
      continue;
    }
    lines += text.substr(same->from, same->to - same->from);
    if (!lines.ends_with('\n')) lines += '\n';
    blocks.erase(same);
  }
  return lines;
}

bool is_value(const std::string& source) {
  const toml::parse_result parsed = parse_toml("value = " + source + "\n");
  return parsed && parsed.table().size() == 1;
}

}  // namespace

Result<std::string> with_key(const std::string& text, const std::string& key,
                             const std::string& value) {
  const toml::parse_result parsed = parse_toml(text);
  if (!parsed) {
    return fail("line {}: {}; mend it first", parsed.error().source().begin.line,
                parsed.error().description());
  }
  if (!value.empty() && !is_value(value)) return fail("{} = {} is no TOML value", key, value);
  const Entry entry = find(parsed.table(), key);
  const toml::table* table = entry.node == nullptr ? nullptr : entry.node->as_table();
  if (key == "override" || key.find('.') == key.npos || (table != nullptr && !table->is_inline())) {
    return fail("{} is a table: change it in the text", key);
  }
  std::string edited = text;
  if (entry.node == nullptr) {
    if (!value.empty()) edited = add(text, parsed.table(), key, value);
  } else if (value.empty()) {
    edited = remove(text, entry);
  } else {
    edited = text.substr(0, begin_of(text, *entry.node)) + value +
             text.substr(node_end(text, *entry.node));
  }
  const toml::parse_result check = parse_toml(edited);
  if (!check || (find(check.table(), key).node == nullptr) != value.empty()) {
    return fail("{} cannot be changed here: change it in the text", key);
  }
  return edited;
}

Result<std::string> with_overrides(const std::string& text, const std::vector<Override>& wanted) {
  const Parsed parsed = parse(text, "");
  const toml::parse_result tables = parse_toml(text);
  if (!tables) return fail("{}; mend it first", parsed.faults.front().str());
  if (parsed.recipe.overrides == wanted) return text;
  const toml::node* node = tables.table().get("override");
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  std::string edited;
  if (node == nullptr) {
    std::string lines = block_lines(text, {}, wanted);
    lines.pop_back();
    edited = insert_section(text, tables.table(), "override", lines);
  } else if (array != nullptr && !array->empty() && text[begin_of(text, *array->get(0))] == '[') {
    const std::vector<Block> blocks = blocks_of(text, *array, parsed.recipe.overrides);
    if (blocks.size() != array->size()) return fail("override has faults: mend them first");
    const std::string lines = block_lines(text, blocks, wanted);
    edited = text;
    for (size_t i = blocks.size(); i-- > 0;) {
      size_t from = blocks[i].from, to = blocks[i].to;
      const bool goes = i > 0 || lines.empty();
      if (goes && from >= 2 && edited.compare(from - 2, 2, "\n\n") == 0) --from;
      edited = edited.substr(0, from) + (i == 0 ? lines : "") + edited.substr(to);
    }
  } else {
    return fail("override is written as a list: change it in the text");
  }
  if (parse(edited, "").recipe.overrides != wanted) {
    return fail("override cannot be changed here: change it in the text");
  }
  return edited;
}

}  // namespace heddle::recipe
