#include "engine/hardware/read_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/hardware/fields.h"
#include "engine/recipe/nearest.h"
#include "engine/recipe/text.h"
#include "engine/recipe/values.h"

namespace heddle::hardware {
namespace {

constexpr const char* kNumberForm =
    "{ value = 1.5, from = \"measured\" | \"data-sheet\" | \"guess\", source = \"…\" }";

std::string range_words(double least, double most, const char* unit) {
  return fmt::format("{:g} to {:g} ({})", least, most, unit);
}

const std::vector<std::string>& origins() {
  static const std::vector<std::string> words(kOriginNames.begin(), kOriginNames.end());
  return words;
}

// Reads the keys of one table, and knows which it has seen.
class TableReader {
 public:
  TableReader(const toml::table& table, TablePlace place, const Report& report)
      : table_(table), place_(std::move(place)), report_(report) {}

  const toml::node* find(const std::string& key) {
    known_.push_back(key);
    return table_.get(key);
  }

  void fault(const toml::node& node, const std::string& key, std::string what,
             std::string valid = "", std::string suggestion = "") {
    report_(fault_at(node, place_, key, std::move(what), std::move(valid), std::move(suggestion)));
  }

  recipe::Complain complain(const std::string& key) {
    return [this, key](const toml::node& node, std::string what, std::string valid,
                       std::string suggestion) {
      fault(node, key, std::move(what), std::move(valid), std::move(suggestion));
    };
  }

  void missing(const std::string& key, std::string valid) {
    fault(table_, key, "is missing", std::move(valid));
  }

  void text(const std::string& key, std::string& member, const char* valid) {
    const toml::node* node = find(key);
    if (!node) {
      if (member.empty()) missing(key, valid);
    } else if (const auto value = node->value_exact<std::string>(); value && !value->empty()) {
      member = *value;
    } else {
      recipe::complain_of_type(complain(key), *node, "a string", valid);
    }
  }

  void texts(const std::string& key, std::vector<std::string>& member) {
    if (const toml::node* node = find(key))
      member = recipe::read_strings(*node, complain(key)).value_or(member);
  }

  void integer(const std::string& key, int64_t& member, int64_t least, int64_t most,
               bool required = true) {
    const toml::node* node = find(key);
    if (node)
      member = recipe::read_integer(*node, least, most, complain(key)).value_or(member);
    else if (member == 0 && required)
      missing(key, recipe::range_words(least, most));
  }

  void number(const std::string& key, Number& member, double least, double most, const char* unit,
              bool required) {
    const toml::node* node = find(key);
    if (node)
      read_number(*node, key, member, least, most, unit);
    else if (required && !member.known())
      missing(key, kNumberForm);
  }

  void by_protocol(const std::string& key, ByProtocol& member, double least, double most,
                   const char* unit) {
    const toml::node* node = find(key);
    if (!node) {
      if (!member.known()) missing(key, "{ value = [LL, LL128, Simple], from = …, source = … }");
      return;
    }
    auto reader = form(*node, key);
    if (!reader) return;
    const toml::node* value = reader->find("value");
    const toml::array* array = value ? value->as_array() : nullptr;
    const std::string valid =
        "three numbers (LL, LL128, Simple), each " + range_words(least, most, unit);
    if (!array || array->size() != member.value.size()) {
      fault(value ? *value : *node, key,
            value ? recipe::describe(*value) + " is not one number for each protocol"
                  : "has no value",
            valid);
    } else {
      for (size_t i = 0; i < member.value.size(); ++i)
        member.value[i] =
            recipe::read_number(*array->get(i), {least, most, false, false, valid}, complain(key))
                .value_or(member.value[i]);
    }
    reader->provenance(*node, member.origin, member.source);
    reader->no_others();
  }

  void rates(const std::string& key, std::vector<LinkRate>& member) {
    const toml::node* node = find(key);
    if (!node) return;
    constexpr const char* kForm =
        "a list of { ranks = 8, latency_us = 30, gb_per_s = 394, from = …, source = … }";
    const toml::array* array = node->as_array();
    if (!array) return recipe::complain_of_type(complain(key), *node, "a list", kForm);
    member.clear();
    for (const toml::node& element : *array) {
      auto reader = form(element, key);
      if (!reader) continue;
      LinkRate rate;
      reader->integer("ranks", rate.ranks, 2, 1'000'000);
      const auto read = [&](const char* name, Number& number, double least, double most,
                            const char* unit) {
        if (const toml::node* value = reader->find(name))
          number.value = recipe::read_number(
                             *value, {least, most, false, false, range_words(least, most, unit)},
                             reader->complain(name))
                             .value_or(0);
        else
          reader->missing(name, range_words(least, most, unit));
      };
      read("latency_us", rate.latency_us, kMinLatencyUs, kMaxLatencyUs, "microseconds");
      read("gb_per_s", rate.gb_per_s, kMinGbPerS, kMaxGbPerS, "GB/s");
      reader->spread();
      reader->provenance(element, rate.gb_per_s.origin, rate.gb_per_s.source);
      rate.latency_us.origin = rate.gb_per_s.origin;
      rate.latency_us.source = rate.gb_per_s.source;
      reader->no_others();
      member.push_back(std::move(rate));
    }
  }

  void no_others() {
    for (const auto& [key, node] : table_) {
      const std::string word(key.str());
      if (std::ranges::find(known_, word) == known_.end())
        fault(node, word, "unknown key", recipe::joined(known_, ", "),
              recipe::nearest(word, known_));
    }
  }

 private:
  // A reader of the inline table that a number must be.
  std::optional<TableReader> form(const toml::node& node, const std::string& key) {
    if (const toml::table* table = node.as_table())
      return TableReader(*table, {place_.file, place_.key + "." + key}, report_);
    fault(node, key, recipe::describe(node) + " does not say where it is from", kNumberForm);
    return std::nullopt;
  }

  void read_number(const toml::node& node, const std::string& key, Number& member, double least,
                   double most, const char* unit) {
    auto reader = form(node, key);
    if (!reader) return;
    const std::string valid = range_words(least, most, unit);
    if (const toml::node* value = reader->find("value"))
      member.value = recipe::read_number(*value, {least, most, false, false, valid}, complain(key))
                         .value_or(member.value);
    else
      fault(node, key, "has no value", valid);
    reader->spread();
    reader->provenance(node, member.origin, member.source);
    reader->no_others();
  }

  // For people who read the file: plans do not go by it.
  void spread() {
    const std::string valid = range_words(0, kMaxSpread, "a share");
    if (const toml::node* node = find("spread"))
      recipe::read_number(*node, {0, kMaxSpread, false, false, valid}, complain("spread"));
  }

  void provenance(const toml::node& node, Origin& origin, std::string& source) {
    std::string word;
    const toml::node* from = find("from");
    if (from) word = from->value_exact<std::string>().value_or("");
    const auto found = std::ranges::find(origins(), word);
    if (found == origins().end())
      fault(from ? *from : node, "from",
            from ? recipe::describe(*from) + " is no origin" : "is missing",
            recipe::joined(origins(), " | "), recipe::nearest(word, origins()));
    else
      origin = static_cast<Origin>(found - origins().begin());
    source = "?";  // known from here on: one fault is enough
    const toml::node* told = find("source");
    const auto text = told ? told->value_exact<std::string>() : std::nullopt;
    if (text && !text->empty())
      source = *text;
    else
      fault(told ? *told : node, "source",
            told ? recipe::describe(*told) + " names no source" : "is missing",
            "who measured or published the number, or why it is guessed");
  }

  const toml::table& table_;
  TablePlace place_;
  const Report& report_;
  std::vector<std::string> known_;
};

template <typename T>
void read_numbers(TableReader& reader, T& entry) {
  for (const auto& field : numbers(static_cast<T*>(nullptr)))
    reader.number(field.key, entry.*field.member, field.least, field.most, field.unit,
                  field.required);
  for (const auto& field : by_protocol(static_cast<T*>(nullptr)))
    reader.by_protocol(field.key, entry.*field.member, field.least, field.most, field.unit);
}

template <typename T>
TableReader begun(const toml::table& table, const TablePlace& place, T& entry,
                  const Report& report) {
  TableReader reader(table, place, report);
  reader.find("like");
  entry.file = place.file;
  reader.text("title", entry.title, "what people call it");
  return reader;
}

void guessed(Origin& origin, std::string& source, const std::string& name) {
  if (source.empty()) return;
  origin = Origin::guess;
  if (!source.starts_with("as of ")) source = fmt::format("as of {}: {}", name, source);
}

template <typename T>
void numbers_taken_over(T& entry) {
  for (const auto& field : numbers(static_cast<T*>(nullptr)))
    guessed((entry.*field.member).origin, (entry.*field.member).source, entry.name);
  for (const auto& field : by_protocol(static_cast<T*>(nullptr)))
    guessed((entry.*field.member).origin, (entry.*field.member).source, entry.name);
}

}  // namespace

recipe::Fault fault_at(const toml::node& node, const TablePlace& place, const std::string& key,
                       std::string what, std::string valid, std::string suggestion) {
  const auto at = node.source().begin;
  return {place.file,
          static_cast<int>(at.line),
          static_cast<int>(at.column),
          key.empty() ? place.key : place.key + "." + key,
          std::move(what),
          std::move(valid),
          std::move(suggestion)};
}

void read_table(const toml::table& table, const TablePlace& place, Device& entry,
                const Report& report) {
  TableReader reader = begun(table, place, entry, report);
  reader.texts("driver", entry.driver);
  read_numbers(reader, entry);
  reader.no_others();
}

void read_table(const toml::table& table, const TablePlace& place, Node& entry,
                const Report& report) {
  TableReader reader = begun(table, place, entry, report);
  reader.text("device", entry.device, "the name of a [device.NAME]");
  reader.text("network", entry.network, "the name of a [network.NAME]");
  // Another node's parts need not divide this one.
  if (table.contains("devices")) entry.part = 0;
  reader.integer("devices", entry.devices, 1, 1024);
  reader.integer("nics", entry.nics, 1, 1024);
  reader.integer("part", entry.part, 1, 1024, false);
  reader.number("usd_per_device_hour", entry.usd_per_device_hour, 0.001, 10'000, "US dollars",
                false);
  read_numbers(reader, entry);
  // Another node's measurements do not hold for links of another rate.
  if (table.contains("link_gb_per_s"))
    for (const RatesField& field : measured_rates()) (entry.*field.member).clear();
  for (const RatesField& field : measured_rates()) reader.rates(field.key, entry.*field.member);
  reader.no_others();
}

void read_table(const toml::table& table, const TablePlace& place, Network& entry,
                const Report& report) {
  TableReader reader = begun(table, place, entry, report);
  read_numbers(reader, entry);
  reader.no_others();
}

void read_table(const toml::table& table, const TablePlace& place, Program& entry,
                const Report& report) {
  TableReader reader = begun(table, place, entry, report);
  read_numbers(reader, entry);
  reader.no_others();
}

void take_over(Device& entry) {
  numbers_taken_over(entry);
  entry.title.clear();
  entry.driver.clear();
}

void take_over(Node& entry) {
  numbers_taken_over(entry);
  for (const RatesField& field : measured_rates())
    for (LinkRate& rate : entry.*field.member) {
      guessed(rate.latency_us.origin, rate.latency_us.source, entry.name);
      guessed(rate.gb_per_s.origin, rate.gb_per_s.source, entry.name);
    }
  entry.title.clear();
  entry.usd_per_device_hour = {};  // hardware that is built alike may cost anything
}

void take_over(Network& entry) {
  numbers_taken_over(entry);
  entry.title.clear();
}

void take_over(Program& entry) {
  numbers_taken_over(entry);
  entry.title.clear();
}

}  // namespace heddle::hardware
