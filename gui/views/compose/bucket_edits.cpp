#include "gui/views/compose/bucket_edits.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/recipe/buckets.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/text.h"
#include "gui/views/compose/bucket_list.h"

namespace heddle::gui {
namespace {

using recipe::Model;

/// How many layers most of the buckets have.
int usualLayers(const recipe::Recipe& recipe) {
  std::map<int, int> counts;
  int usual = 1;
  for (const Bucket& bucket : bucketsOf(recipe, false).buckets) {
    const int first = std::max(1, bucket.first);
    const int last = std::min(static_cast<int>(recipe.model.n_layers), bucket.last);
    if (last < first) continue;
    if (++counts[last - first + 1] > counts[usual]) usual = last - first + 1;
  }
  return usual;
}

Model modelAfter(const Model& model, const KeyValues& pairs) {
  Model next = model;
  for (const auto& [key, value] : pairs) {
    if (key == QLatin1String("model.preset")) {
      const std::string name = value.mid(1, value.size() - 2).toStdString();
      if (const auto preset = recipe::preset(name)) next = *preset;
    } else if (key == QLatin1String("model.n_layers") && !value.isEmpty()) {
      next.n_layers = value.toInt();
    }
  }
  return next;
}

}  // namespace

QList<int> everyLayers(const Model& model, int layers) {
  QList<int> firsts{0};
  for (int module = 1; module <= model.n_layers; module += std::max(1, layers)) firsts << module;
  firsts << static_cast<int>(model.n_layers) + 1;
  return firsts;
}

QList<int> regrouped(const recipe::Recipe& recipe, int first, int last, bool together) {
  const BucketList now = bucketsOf(recipe, false);
  std::set<int> firsts;
  if (now.movable) {
    for (const Bucket& bucket : now.buckets) firsts.insert(bucket.first);
  } else {
    const QList<int> all = everyLayers(recipe.model, 1);
    firsts.insert(all.begin(), all.end());
  }
  for (int module = first; module <= last; ++module) {
    if (!together || module == first) {
      firsts.insert(module);
    } else {
      firsts.erase(module);
    }
  }
  if (last + 1 < outerModules(recipe.model)) firsts.insert(last + 1);
  return {firsts.begin(), firsts.end()};
}

KeyValues bucketsByHand(const Model& model, const QList<int>& firsts) {
  return {{QStringLiteral("wrapping.buckets"), bucketsToml(model, firsts)},
          {QStringLiteral("wrapping.mode"), QStringLiteral("\"manual\"")}};
}

KeyValues withBuckets(const RecipeDocument& document, KeyValues pairs) {
  const recipe::Recipe& now = document.resolved().recipe;
  if (now.wrapping.mode != recipe::WrappingMode::manual) return pairs;
  const Model next = modelAfter(now.model, pairs);
  if (next.n_layers != now.model.n_layers && next.n_layers > 0)
    pairs.append({QStringLiteral("wrapping.buckets"),
                  bucketsToml(next, everyLayers(next, usualLayers(now)))});
  return pairs;
}

KeyValues withAllPlaced(const recipe::Recipe& recipe, Place place) {
  const recipe::Modules modules(recipe.model);
  std::vector<std::vector<std::string>> buckets;
  std::set<std::string> placed;
  for (const recipe::Bucket& bucket : recipe::buckets_of(recipe)) {
    std::vector<std::string> names = bucket.names;
    std::erase_if(names, [&](const std::string& name) { return !modules.contains(name); });
    // Modules that no manual bucket names form a bucket of their own at the end.
    if (buckets.size() == recipe.wrapping.buckets.size()) break;
    buckets.push_back(names);
    for (const std::string& name : names)
      for (const size_t i : modules.under(name)) placed.insert(modules.parameters()[i].module);
  }
  const auto bucketOf = [&](const std::string& module) {
    return std::ranges::find_if(buckets, [&](const auto& names) {
      return std::ranges::any_of(names, [&](const std::string& name) {
        return std::ranges::any_of(modules.under(name), [&](size_t i) {
          return modules.parameters()[i].module == module;
        });
      });
    });
  };
  std::string before;
  for (int outer = 0; outer < outerModules(recipe.model); ++outer) {
    const std::string name = outerName(recipe.model, outer).toStdString();
    std::vector<std::string> left;
    std::string last;
    for (const size_t i : modules.under(name)) {
      last = modules.parameters()[i].module;
      if (!placed.contains(last)) left.push_back(last);
    }
    if (left.size() == modules.under(name).size() && !left.empty()) left = {name};
    if (!left.empty()) {
      auto at = before.empty() ? buckets.begin() : bucketOf(before);
      if (place == Place::ownBucket || at == buckets.end()) {
        buckets.insert(before.empty() || at == buckets.end() ? at : at + 1, left);
      } else {
        at->insert(before.empty() ? at->begin() : at->end(), left.begin(), left.end());
      }
    }
    if (!last.empty()) before = last;
  }
  QString toml = QStringLiteral("[\n");
  for (const auto& names : buckets)
    if (!names.empty())
      toml += QStringLiteral("  %1,\n").arg(QString::fromStdString(recipe::strings_text(names)));
  return {{QStringLiteral("wrapping.buckets"), toml + QChar(']')}};
}

}  // namespace heddle::gui
