#include "gui/views/compose/fact_tiles.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "engine/recipe/mesh.h"
#include "engine/recipe/rank_share.h"
#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

QStringList names() {
  return {QObject::tr("parameters a rank"), QObject::tr("sequences a step"),
          QObject::tr("tokens a step"), QObject::tr("operations a token")};
}

/// Of floating-point operations as the field counts them: 266 GFLOP, 1.2 ZFLOP.
QString operations(double count) {
  static const std::array<const char*, 8> units = {" FLOP",  " kFLOP", " MFLOP", " GFLOP",
                                                   " TFLOP", " PFLOP", " EFLOP", " ZFLOP"};
  size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < units.size(); ++unit) count /= 1000;
  return format::significant(count) + QLatin1String(units[unit]);
}

/// How a rank's parameters are a part of all.
QString shareNote(const recipe::Recipe& recipe, bool alike) {
  const qint64 shards = recipe::Mesh(recipe.parallelism).size(recipe::kModel);
  if (shards == 1) return QObject::tr("nothing is sharded");
  return (alike ? QObject::tr("1 of %1 shards") : QObject::tr("largest of %1 shards"))
      .arg(format::count(shards));
}

}  // namespace

QList<Fact> factsOf(const recipe::Recipe& recipe) {
  const auto& t = recipe.training;
  const std::vector<int64_t> held = recipe::stored_elements(recipe);
  const auto [least, most] = std::ranges::minmax(held);
  const double tokens =
      static_cast<double>(t.global_batch) * static_cast<double>(recipe.data.seq_len);
  const double all = tokens * static_cast<double>(t.steps);
  const auto flops =
      static_cast<double>(recipe::flops_per_token(recipe.model, recipe.data.seq_len));
  return {
      {names()[0], format::shortCount(static_cast<double>(most)), shareNote(recipe, least == most)},
      {names()[1], format::count(t.global_batch),
       QObject::tr("%1 × %2 × %3")
           .arg(t.local_batch)
           .arg(format::plural(recipe.data_parallel_ranks(), QObject::tr("rank")),
                recipe.accumulation() == 1 ? QObject::tr("1 pass")
                                           : QObject::tr("%1 passes").arg(recipe.accumulation()))},
      {names()[2],
       tokens < 1e12 ? format::count(static_cast<qint64>(tokens)) : format::shortCount(tokens),
       QObject::tr("%1 in all").arg(format::shortCount(all))},
      {names()[3], operations(flops), QObject::tr("%1 in all").arg(operations(flops * all))},
  };
}

FactTiles::FactTiles(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("facts"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(metric::related);
  for (const QString& name : names()) {
    auto* tile = new QFrame;
    tile->setProperty("role", "card");
    auto* column = new QVBoxLayout(tile);
    column->setContentsMargins(12, 8, 8, 8);
    column->setSpacing(2);
    rows_.append({mono(format::kNone), new ElidedLabel({}, "caption")});
    rows_.last().value->setStyleSheet(QStringLiteral("font-size: 16px; font-weight: 600;"));
    column->addWidget(caption(name));
    column->addWidget(rows_.last().value);
    column->addWidget(rows_.last().note);
    row->addWidget(tile, 1);
  }
}

void FactTiles::setFacts(const QList<Fact>& facts) {
  for (int i = 0; i < rows_.size(); ++i) {
    const Fact fact = facts.value(i, Fact{names()[i], format::kNone, {}});
    rows_[i].value->setText(fact.value);
    rows_[i].note->setFullText(fact.note);
  }
}

}  // namespace heddle::gui
