#include "workbench/alignment_json.h"

#include <nlohmann/json.hpp>

namespace heddle::workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxRows = 100;  // of a grouping; what is left out is put together in one more

double seconds(int64_t us) { return static_cast<double>(us) * 1e-6; }

Json rows_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : with_others(rows, kMaxRows))
    list.push_back({{"name", row.name},
                    {"left", spent_json(row.left)},
                    {"right", spent_json(row.right)},
                    {"difference_seconds", seconds(row.difference())}});
  return list;
}

Json words_of(const std::vector<Surprise>& surprises) {
  Json words = Json::array();
  for (const Surprise& each : surprises) words.push_back(each.words);
  return words;
}

Json named(const std::string& name, const Spent& spent) {
  Json json{{"name", name}};
  json.update(spent_json(spent));
  return json;
}

}  // namespace

Json spent_json(const Spent& spent) {
  Json json{{"step_seconds", seconds(spent.total())}};
  for (size_t i = 0; i < kParts; ++i)
    json[std::string(kPartNames[i]) + "_seconds"] = seconds(spent.us[i]);
  return json;
}

Json alignment_json(const Pair& pair) {
  const Alignment alignment = align(pair.left, pair.right);
  Json json{{"rank", pair.left.rank},
            {"left", named(pair.left.name, alignment.left)},
            {"right", named(pair.right.name, alignment.right)},
            {"difference_seconds", seconds((alignment.right - alignment.left).total())}};
  for (size_t i = 0; i < kGroupings.size(); ++i)
    json[std::string("by_") + kGroupingNames[i]] = rows_json(alignment.rows[i]);
  if (pair.left.memory && pair.right.memory)
    for (size_t i = 0; i < plan::kCategories; ++i)
      json["memory"][plan::kCategoryNames[i]] = {pair.left.memory->bytes[i],
                                                 pair.right.memory->bytes[i]};
  json["surprises"] = words_of(surprises(alignment, pair.left, pair.right));
  return json;
}

Json prediction_json(const RunSteps& run) {
  Json ranks = Json::array();
  for (const int64_t rank : run.ranks()) {
    const auto pair = usual_pair(run, run, rank);
    if (!pair) continue;
    const Alignment alignment = align(pair->left, pair->right);
    ranks.push_back({{"rank", rank},
                     {"stage", pair->left.stage},
                     {"predicted", spent_json(alignment.left)},
                     {"measured", spent_json(alignment.right)},
                     {"surprises", words_of(surprises(alignment, pair->left, pair->right))}});
  }
  if (ranks.empty()) return nullptr;
  return {{"step", run.step}, {"ranks", std::move(ranks)}};
}

Json breakdown_json(const RunSteps& left, const RunSteps& right) {
  Json list = Json::array();
  for (const int64_t rank : left.ranks())
    if (const auto pair = usual_pair(left, right, rank)) list.push_back(alignment_json(*pair));
  return list;
}

}  // namespace heddle::workbench
