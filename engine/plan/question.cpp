#include "engine/plan/question.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"

namespace heddle::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// Every key, once: reading, writing and the list of valid keys go through these.

template <typename Visit>
void each_key(Subject& subject, const Visit& visit) {
  visit("recipe", subject.text);
  visit("file", subject.file);
  visit("sets", subject.sets);
  visit("ranks", subject.ranks);
  visit("hardware", subject.hardware);
}

template <typename Visit>
void each_key(PlanQuestion& question, const Visit& visit) {
  each_key(static_cast<Subject&>(question), visit);
  visit("executor", question.executor);
  visit("numbers", question.numbers);
  visit("timeline", question.timeline);
  visit("closes", question.closes);
}

template <typename Visit>
void each_key(SearchQuestion& question, const Visit& visit) {
  each_key(static_cast<Subject&>(question), visit);
  visit("memory_limit", question.memory_limit);
  visit("fixes", question.fixes);
  visit("counts", question.counts);
  visit("tokens", question.tokens);
}

template <typename Value>
void read_value(const Json& json, Value& value) {
  value = json.get<Value>();
}

void read_value(const Json& json, int64_t& value) { value = whole<int64_t>(json); }

void read_value(const Json& json, std::vector<int64_t>& values) {
  for (const Json& each : json.get<std::vector<Json>>()) values.push_back(whole<int64_t>(each));
}

/// The words of nlohmann's exceptions begin with a code in brackets.
std::string reason_of(const std::exception& error) {
  const std::string words = error.what();
  const size_t end = words.starts_with('[') ? words.find("] ") : std::string::npos;
  return end == std::string::npos ? words : words.substr(end + 2);
}

/// `envelope`: keys that are not the question's own.
template <typename Question>
Question read_keys(const Json& object, std::vector<std::string> envelope) {
  Question question;
  std::vector<std::string> keys = std::move(envelope);
  each_key(question, [&](const char* key, auto& value) {
    keys.emplace_back(key);
    const auto found = object.find(key);
    if (found == object.end()) return;
    try {
      read_value(*found, value);
    } catch (const Json::exception& error) {
      throw std::runtime_error(fmt::format("{}: {}", key, reason_of(error)));
    }
  });
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(keys, key) == keys.end())
      throw std::runtime_error(
          fmt::format("{}: unknown key; valid: {}", key, fmt::join(keys, " | ")));
  if (!object.contains("recipe")) throw std::runtime_error("recipe: missing");
  return question;
}

/// Keys that have their defaults are left out; the recipe is always there.
template <typename Question>
void write_keys(OrderedJson& line, Question question) {
  OrderedJson defaults;
  Question plain;
  each_key(plain, [&](const char* key, const auto& value) { defaults[key] = value; });
  each_key(question, [&](const char* key, const auto& value) {
    OrderedJson written = value;
    if (written != defaults[key] || key == std::string_view("recipe"))
      line[key] = std::move(written);
  });
}

SearchQuestion read_search(const Json& object) {
  auto question = read_keys<SearchQuestion>(object, {"id", "search"});
  if (std::ranges::any_of(question.counts, [](int64_t ranks) { return ranks < 1; }))
    throw std::runtime_error("counts are numbers of ranks, 1 or more");
  return question;
}

Question question_from(const Json& object, std::string& key) {
  if (object.value("catalogue", false)) return CatalogueQuestion{};
  if (object.contains("cancel")) return Cancel{whole<uint64_t>(object.at("cancel"))};
  if (object.value("search", false)) return read_search(object);
  key = object.value("key", "");
  return read_keys<PlanQuestion>(object, {"id", "key"});
}

struct Writer {
  OrderedJson& line;
  void operator()(const PlanQuestion& question) const { write_keys(line, question); }
  void operator()(const SearchQuestion& question) const {
    line["search"] = true;
    write_keys(line, question);
  }
  void operator()(const CatalogueQuestion&) const { line["catalogue"] = true; }
  void operator()(const Cancel& cancel) const { line["cancel"] = cancel.search; }
};

}  // namespace

std::string line_of(const Asked& asked) {
  OrderedJson line = OrderedJson::object();
  if (asked.id) line["id"] = *asked.id;
  if (!asked.key.empty()) line["key"] = asked.key;
  std::visit(Writer{line}, asked.question);
  // A recipe that is being typed may hold anything.
  return json_text(line);
}

tl::expected<Asked, Answer> read_question(std::string_view line) {
  Asked asked;
  try {
    const auto read = read_json(line);
    if (!read) throw std::runtime_error(read.error().message);
    if (!read->is_object()) throw std::runtime_error("a question is an object");
    if (const auto id = read->find("id"); id != read->end() && !id->is_null())
      asked.id = whole<uint64_t>(*id);
    asked.question = question_from(*read, asked.key);
    return asked;
  } catch (const std::exception& error) {
    return tl::unexpected(Answer{
        .id = asked.id,
        .progress = {},
        .reply =
            Error{fmt::format("no question of this version: {}; for instance {{\"id\": 1, \"key\": "
                              "\"compose\", \"recipe\": \"<TOML text>\"}}",
                              reason_of(error))}});
  }
}

}  // namespace heddle::plan
