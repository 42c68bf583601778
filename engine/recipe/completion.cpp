#include "engine/recipe/completion.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/recipe/members.h"
#include "engine/recipe/nearest.h"
#include "engine/recipe/schema.h"
#include "engine/recipe/text.h"

namespace heddle::recipe {
namespace {

using Expects = Completion::Expects;

constexpr std::string_view kHardware = "hardware.name";
constexpr size_t kNamedKeys = 4;  // of a table, in its candidate's words
constexpr size_t kMinMeant = 3;   // letters of a word that is corrected

/// The innermost statement whose name or value is there; null: none.
const Statement* statement_at(const std::vector<Statement>& all, size_t place) {
  const Statement* found = nullptr;
  for (const Statement& one : all)
    if (one.name.touches(place) || (one.assigned && one.value.touches(place))) found = &one;
  return found;
}

bool holds(std::string_view whole, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return part.empty() || !std::ranges::search(whole, part, same).empty();
}

/// Whether one of the words begins so.
bool has_word(std::string_view words, std::string_view typed) {
  for (size_t at = 0; at < words.size(); ++at) {
    const bool begins_word =
        at == 0 || std::isalnum(static_cast<unsigned char>(words[at - 1])) == 0;
    if (begins_word && holds(words.substr(at, typed.size()), typed)) return true;
  }
  return false;
}

std::string bare(std::string text) {
  std::erase_if(text,
                [](char c) { return c == '"' || c == '[' || c == ']' || c == ' ' || c == '='; });
  return text;
}

/// By its last part, where no other part is typed.
bool begins(const Candidate& candidate, std::string_view typed) {
  const std::string whole = bare(candidate.text);
  const std::string text = typed.find('.') == std::string_view::npos ? leaf_of(whole) : whole;
  return holds(std::string_view(text).substr(0, typed.size()), typed);
}

/// Keeps the candidates that fit what is typed, those that begin with it first; if none fits, the
/// one that was probably meant.
void rank(std::vector<Candidate>& all, const std::string& typed) {
  std::vector<Candidate> fitting;
  std::ranges::copy_if(all, std::back_inserter(fitting), [&](const Candidate& one) {
    return holds(bare(one.text), typed) || has_word(one.detail, typed);
  });
  std::ranges::stable_partition(fitting, [&](const Candidate& one) { return begins(one, typed); });
  if (fitting.empty() && typed.size() >= kMinMeant) {
    std::vector<std::string> words;
    for (const Candidate& one : all) words.push_back(bare(one.text));
    const std::string meant = nearest(typed, words);
    std::ranges::copy_if(all, std::back_inserter(fitting),
                         [&](const Candidate& one) { return bare(one.text) == meant; });
  }
  all = std::move(fitting);
}

/// Whether the recipe's optimizer has the key.
bool is_offered(const KeyInfo& info, std::string_view optimizer) {
  return info.optimizers.empty() ||
         std::ranges::find(info.optimizers, optimizer) != info.optimizers.end();
}

std::string optimizer_of(std::string_view text, const std::vector<Statement>& all) {
  const auto found = std::ranges::find(all, "optimizer.name", &Statement::key);
  if (found == all.end()) return Recipe().optimizer.name;
  std::string name(found->value.of(text));
  std::erase_if(name, [](char c) { return c == '"' || c == '\'' || c == ' '; });
  return name;
}

bool is_in_braces(std::string_view text, const Statement& statement) {
  return statement.block > 0 && text[statement.block - 1] == '{';
}

/// The first keys of a table.
std::string keys_in(const std::string& table) {
  std::vector<std::string> names;
  for (const KeyInfo& info : keys())
    if (section_of(info.key) == table) names.push_back(leaf_of(info.key));
  const bool more = names.size() > kNamedKeys;
  if (more) names.resize(kNamedKeys);
  return joined(names, ", ") + (more ? " …" : "");
}

/// Headers of the tables that the text does not have yet, and of lists of tables.
std::vector<Candidate> table_headers(const std::vector<Statement>& all, const Statement* typing) {
  std::set<std::string> written;
  for (const Statement& one : all)
    if (&one != typing && one.key.empty()) written.insert(one.table);
  std::vector<Candidate> found;
  const auto add = [&](const std::string& table) {
    const KeyInfo* info = find_key(table);
    const bool listed = info != nullptr && info->type == "list";
    if (!listed && written.contains(table)) return;
    found.push_back({listed ? "[[" + table + "]]" : "[" + table + "]",
                     info != nullptr ? info->label : keys_in(table), info});
  };
  for (const std::string& section : sections()) add(section);
  for (const KeyInfo& info : keys())
    if (!section_of(info.key).empty() && !members_of(info.key).empty()) add(info.key);
  return found;
}

/// Keys that may be written below a header, or within braces, and are not there yet.
std::vector<Candidate> keys_below(std::string_view text, const std::vector<Statement>& all,
                                  const std::string& table, size_t block, const Statement* typing,
                                  const std::string& typed) {
  std::set<std::string> written;
  for (const Statement& one : all)
    if (&one != typing && one.block == block) written.insert(one.key);
  const std::string optimizer = optimizer_of(text, all);
  const std::string ending = typing != nullptr && typing->assigned ? "" : " = ";
  const std::string prefix = table.empty() ? "" : table + ".";
  std::vector<Candidate> found;
  const auto add = [&](const KeyInfo& info) {
    if (!info.key.starts_with(prefix) || written.contains(info.key)) return;
    if (!is_offered(info, optimizer)) return;
    const std::string name = info.key.substr(prefix.size());
    // Tables of lists have headers; parts of other tables come once one types.
    if (prefix.empty() && (section_of(info.key).empty() || typed.empty())) return;
    if (!prefix.empty() && name.find('.') != std::string::npos &&
        typed.find('.') == std::string::npos)
      return;
    found.push_back({name + ending, info.label, &info});
  };
  for (const KeyInfo& info : keys()) {
    add(info);
    for (const KeyInfo& member : members_of(info.key)) add(member);
  }
  return found;
}

/// The words for the default value, which 0 or nothing may be.
std::string about_default(const KeyInfo& info) {
  static const std::set<std::string> nothing = {"0", "0.0", "-1", "\"\"", "[]"};
  const bool named = !info.zero.empty() && nothing.contains(info.fallback);
  return named ? "default: " + info.zero : "default";
}

std::vector<Candidate> values_of(const KeyInfo& info, const std::vector<Candidate>& hardware) {
  std::vector<Candidate> found;
  if (info.key == kHardware)
    for (const Candidate& one : hardware) found.push_back({quote(one.text), one.detail, &info});
  for (size_t i = 0; i < info.choices.size(); ++i) {
    const std::string& word = info.choices[i];
    Candidate one{info.type == "boolean" ? word : quote(word), "", &info};
    if (i < info.names.size() && info.names[i] != word) one.detail = info.names[i];
    if (one.text == info.fallback) one.detail += one.detail.empty() ? "default" : "; default";
    found.push_back(std::move(one));
  }
  if (!found.empty() || info.fallback.empty()) return found;
  found.push_back({info.fallback, about_default(info), &info});
  const std::string none = info.low == -1 ? "-1" : "0";
  const bool number = info.type == "integer" || info.type == "number";
  if (number && !info.zero.empty() && info.fallback != none && info.low <= 0)
    found.push_back({none, info.zero, &info});
  return found;
}

void complete_value(std::string_view text, const Statement& statement, size_t cursor,
                    const std::vector<Statement>& all, const std::vector<Candidate>& hardware,
                    Completion& completion) {
  const KeyInfo* info = find_key_or_member(statement.key);
  const Piece piece = piece_at(text, statement.value, cursor);
  if (info == nullptr || !piece.possible) return;
  completion.piece = piece.span;
  completion.typed = piece.typed;
  if (piece.within == '{') {
    completion.expects = Expects::key;
    completion.candidates =
        keys_below(text, all, statement.key, piece.block, nullptr, completion.typed);
  } else if (piece.within == 0) {
    completion.expects = Expects::value;
    completion.enumerated = !info->choices.empty() || info->key == kHardware;
    completion.candidates = values_of(*info, hardware);
  }
}

}  // namespace

Completion complete(std::string_view text, size_t cursor, const std::vector<Candidate>& hardware) {
  cursor = std::min(cursor, text.size());
  const std::vector<Statement> all = statements(text);
  Completion completion;
  completion.piece = {cursor, 0};
  const Statement* at = statement_at(all, cursor);
  if (at != nullptr && !at->name.touches(cursor)) {
    complete_value(text, *at, cursor, all, hardware, completion);
  } else if (at != nullptr) {
    completion.piece = at->name;
    completion.typed = bare(std::string(text.substr(at->name.at, cursor - at->name.at)));
    completion.expects = at->key.empty() ? Expects::table : Expects::key;
    if (at->key.empty()) {
      completion.candidates = table_headers(all, at);
      if (at->listed)
        std::erase_if(completion.candidates,
                      [](const Candidate& one) { return !one.text.starts_with("[["); });
    } else {
      completion.candidates = keys_below(text, all, at->table, at->block, at, completion.typed);
      // A header may stand here, too.
      if (!at->assigned && !is_in_braces(text, *at))
        std::ranges::copy(table_headers(all, at), std::back_inserter(completion.candidates));
    }
  } else {
    const size_t line = cursor == 0 ? 0 : text.rfind('\n', cursor - 1) + 1;
    const std::string_view before = text.substr(line, cursor - line);
    if (before.find_first_not_of(" \t\r") != std::string_view::npos) return completion;
    const auto above = std::ranges::find_if(all.rbegin(), all.rend(), [&](const Statement& one) {
      return one.key.empty() && one.name.at < cursor;
    });
    const bool top = above == all.rend();
    completion.expects = Expects::key;
    completion.candidates =
        keys_below(text, all, top ? "" : above->table, top ? 0 : above->block, nullptr, "");
    std::ranges::copy(table_headers(all, nullptr), std::back_inserter(completion.candidates));
  }
  rank(completion.candidates, completion.typed);
  return completion;
}

const KeyInfo* key_at(std::string_view text, size_t place) {
  const std::vector<Statement> all = statements(text);
  const Statement* at = statement_at(all, place);
  return at == nullptr ? nullptr : find_key_or_member(at->key.empty() ? at->table : at->key);
}

}  // namespace heddle::recipe
