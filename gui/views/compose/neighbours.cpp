#include "gui/views/compose/neighbours.h"

#include <algorithm>

#include "engine/recipe/offers.h"

namespace heddle::gui {
namespace {

std::vector<recipe::Fault> faultsOf(const QString& text, const recipe::Model& model) {
  recipe::Parsed parsed = recipe::parse(text.toStdString(), "");
  // A checkpoint sets the model's sizes.
  if (!parsed.recipe.model.checkpoint.empty()) parsed.recipe.model = model;
  return recipe::resolve(parsed).faults;
}

/// An offer for a key other than the field's; preferably for the number of shards, which takes the
/// remaining ranks.
std::optional<recipe::Offer> otherKey(const QString& text, const recipe::Fault& fault,
                                      const std::string& key) {
  std::vector<recipe::Offer> all = recipe::offers(recipe::parse(text.toStdString(), ""), fault);
  std::erase_if(all, [&](const recipe::Offer& offer) { return offer.key == key; });
  const auto shards = std::ranges::find(all, recipe::kRest.key(), &recipe::Offer::key);
  if (shards != all.end()) return *shards;
  return all.empty() ? std::nullopt : std::optional(all.front());
}

}  // namespace

QList<Neighbour> neighboursOf(const RecipeDocument& document, const KeyField& field) {
  const recipe::Model& model = document.resolved().recipe.model;
  const size_t faultsNow = faultsOf(document.text(), model).size();
  QList<Neighbour> all;
  for (const KeyValue& value : field.nextValues()) {
    Neighbour next{value.words, {}, field.pairsFor(value.toml), {}};
    const auto text = document.textWith(next.pairs);
    if (!text) continue;
    next.text = *text;
    const std::vector<recipe::Fault> faults = faultsOf(*text, model);
    if (faults.size() > faultsNow) {
      if (const auto offer = otherKey(*text, faults.front(), field.info().key)) {
        KeyValues pairs = next.pairs;
        pairs.append({QString::fromStdString(offer->key), QString::fromStdString(offer->value)});
        const auto mended = document.textWith(pairs);
        if (mended && faultsOf(*mended, model).size() <= faultsNow) {
          const recipe::KeyInfo* info = recipe::find_key(offer->key);
          next = {QObject::tr("%1 with %2 %3")
                      .arg(value.words, QString::fromStdString(info->label),
                           QString::fromStdString(offer->value)),
                  *mended,
                  pairs,
                  {}};
        }
      }
    }
    all << next;
  }
  return all;
}

QList<Neighbour> neighboursOf(const RecipeDocument& document, const LayerException& exception) {
  using recipe::RecomputeMode;
  const recipe::Recipe& recipe = document.resolved().recipe;
  QList<Neighbour> all;
  for (const RecomputeMode mode : {recipe.recompute.mode, RecomputeMode::none,
                                   RecomputeMode::selective, RecomputeMode::full}) {
    const bool without = all.isEmpty();
    if (mode == exception.mode || (!without && mode == recipe.recompute.mode)) continue;
    const auto overrides = withLayers(recipe, exception.first, exception.last, mode);
    const auto text = recipe::with_overrides(document.text().toStdString(), overrides);
    if (!text) continue;
    const QString words = QObject::tr("recompute %1").arg(wordOf(mode));
    all << Neighbour{without ? QObject::tr("without it: %1").arg(words) : words,
                     QString::fromStdString(*text),
                     {},
                     overrides};
  }
  return all;
}

void take(RecipeDocument& document, const Neighbour& neighbour, const QString& what) {
  document.endEdit();
  if (neighbour.overrides)
    document.setOverrides(*neighbour.overrides, what);
  else
    document.setKeys(neighbour.pairs, what);
  document.endEdit();
}

}  // namespace heddle::gui
