#include "storage/json.h"

#include <cmath>

#include "base/read_json.h"
#include "base/utf8.h"

namespace heddle::storage {
namespace {

using nlohmann::json;

json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

json number_json(const std::optional<double>& value) {
  return value ? number_json(*value) : json();
}

/// Nodes may send bytes that are no UTF-8, which JSON cannot hold: those become U+FFFD.
json text_json(const std::string& text) { return valid_utf8(text); }

json value_json(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  // Counts and bytes are kept as doubles; whole ones print as integers.
  if (number && std::abs(*number) < 1e15 && *number == std::floor(*number)) {
    return static_cast<int64_t>(*number);
  }
  if (number) return number_json(*number);
  return text_json(std::get<std::string>(value));
}

json values_json(const Values& values) {
  json object = json::object();
  for (const auto& [key, value] : values) object[key] = value_json(value);
  return object;
}

void add_rows(json& object, const std::string& prefix, const std::vector<Compared>& rows,
              bool only_differing) {
  for (const Compared& row : rows) {
    if (only_differing && !row.differs()) continue;
    json& values = object[prefix + row.key] = json::array();
    for (const auto& value : row.values) values.push_back(value ? value_json(*value) : json());
  }
}

json summary_json(const RunSummary& run) {
  json parent;
  if (const auto& lineage = run.lineage)
    parent = {{"lineage", to_string(lineage->kind)},
              {"id", lineage->parent > 0 ? json(lineage->parent) : json()},
              {"name", lineage->parent_name},
              {"step", lineage->step}};
  return {{"id", run.id},
          {"name", run.name},
          {"parent", parent},
          {"state", to_string(run.state)},
          {"target", run.target},
          {"recipe_name", run.recipe_name},
          {"created", run.created},
          {"steps", run.steps},
          {"tokens_per_second_per_rank", number_json(run.tokens_per_second_per_rank)},
          {"loss", number_json(run.loss)}};
}

}  // namespace

json runs_json(const std::vector<RunSummary>& runs) {
  json list = json::array();
  for (const RunSummary& run : runs) list.push_back(summary_json(run));
  return list;
}

json show_json(const RunDetail& run) {
  json object = summary_json(run.summary);
  object["recipe"] = text_json(run.recipe);
  object["environment"] = values_json(run.environment);
  object["results"] = values_json(run.results);
  object["series"] = run.series;
  return object;
}

json compare_json(const Comparison& comparison) {
  json differences = json::object();
  add_rows(differences, "", comparison.recipe, true);
  add_rows(differences, "environment.", comparison.environment, true);
  json results = json::object();
  add_rows(results, "", comparison.results, false);
  return {{"runs", runs_json(comparison.runs)}, {"differences", differences}, {"results", results}};
}

}  // namespace heddle::storage
