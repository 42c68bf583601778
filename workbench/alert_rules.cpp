// The rules' file: one JSON object, its keys those of AlertRules.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "workbench/alerts.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

struct RuleKey {
  const char* name;
  double AlertRules::*value;
  double most;
  const char* valid;
};
constexpr std::array kRuleKeys{
    RuleKey{"spike", &AlertRules::spike, 1e6, "deviations from 0 on, 0 for never"},
    RuleKey{"slower", &AlertRules::slower, 1, "a share from 0 to 1, 0 for never"},
    RuleKey{"memory", &AlertRules::memory, 1, "a share from 0 to 1, 0 for never"},
    RuleKey{"silence", &AlertRules::silence, 1e6, "seconds from 0 on, 0 for never"},
};
constexpr const char* kNotFinite = "not_finite";

Result<> take_rule(AlertRules& rules, const std::string& key, const nlohmann::json& value) {
  if (key == kNotFinite) {
    if (!value.is_boolean()) return fail("{}: valid: true or false", key);
    rules.not_finite = value.get<bool>();
    return {};
  }
  for (const RuleKey& each : kRuleKeys) {
    if (key != each.name) continue;
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= each.most)) return fail("{}: valid: {}", key, each.valid);
    rules.*each.value = number;
    return {};
  }
  return fail("{}: there is no such rule; valid: not_finite, spike, slower, memory, silence", key);
}

}  // namespace

std::string alert_rules_path() { return settings_folder() + "/alerts.json"; }

Result<AlertRules> read_alert_rules(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return AlertRules{};
  const auto json = read_json_file(path, {.bytes = 1 << 16, .values = 64, .depth = 2});
  if (!json) return fail(json);
  if (!json->is_object()) return fail("{}: valid: an object of rules", path);
  AlertRules rules;
  for (const auto& [key, value] : json->items())
    if (const auto taken = take_rule(rules, key, value); !taken)
      return fail("{}: {}", path, taken.error().message);
  return rules;
}

Result<> write_alert_rules(const std::string& path, const AlertRules& rules) {
  nlohmann::json json{{kNotFinite, rules.not_finite}};
  for (const RuleKey& each : kRuleKeys) json[each.name] = rules.*each.value;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return write_atomically(path, json_text(json, 2) + "\n");
}

}  // namespace heddle::workbench
