#include "gui/views/compose/fact_table.h"

#include <QGridLayout>

#include "engine/recipe/modules.h"
#include "gui/format.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

namespace {

QStringList names() {
  return {QObject::tr("parameters"), QObject::tr("on each rank"), QObject::tr("batch"),
          QObject::tr("tokens a step"), QObject::tr("operations a token")};
}

}  // namespace

QList<Fact> factsOf(const recipe::Recipe& recipe) {
  const auto& p = recipe.parallelism;
  const auto& t = recipe.training;
  const qint64 parameters = recipe::parameter_count(recipe.model);
  const qint64 split = p.dp_shard * p.tp * p.pp;
  const qint64 tokens = t.global_batch * recipe.data.seq_len;
  const double all = static_cast<double>(tokens) * static_cast<double>(t.steps);
  const double flops =
      static_cast<double>(recipe::flops_per_token(recipe.model, recipe.data.seq_len));
  const auto shorten = [](double value) { return format::shortCount(value); };
  return {
      {names()[0], format::count(parameters), {}},
      {names()[1], format::count((parameters + split - 1) / split),
       split == 1 ? QObject::tr("nothing is sharded")
                  : QObject::tr("1 / %1 of them: dp_shard × tp × pp").arg(split)},
      {names()[2], format::plural(t.global_batch, QObject::tr("sequence")),
       QObject::tr("%1 a rank × %2 data-parallel × %3 accumulated")
           .arg(t.local_batch)
           .arg(recipe.data_parallel_ranks())
           .arg(recipe.accumulation())},
      {names()[3], format::count(tokens),
       QObject::tr("× %1 steps = %2").arg(format::count(t.steps), shorten(all))},
      {names()[4], shorten(flops),
       QObject::tr("forward and backward; × tokens = %1")
           .arg(QString::number(flops * all, 'e', 2))},
  };
}

FactTable::FactTable(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("facts"));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(6);
  grid->setColumnStretch(2, 1);
  for (int i = 0; i < names().size(); ++i) {
    rows_.append({muted(names()[i]), mono(format::kNone), new ElidedLabel({}, "caption")});
    grid->addWidget(rows_[i].name, i, 0);
    grid->addWidget(rows_[i].value, i, 1, Qt::AlignRight);
    grid->addWidget(rows_[i].note, i, 2);
  }
}

void FactTable::setFacts(const QList<Fact>& facts) {
  for (int i = 0; i < rows_.size(); ++i) {
    const Fact fact = facts.value(i, Fact{names()[i], format::kNone, {}});
    rows_[i].value->setText(fact.value);
    static_cast<ElidedLabel*>(rows_[i].note)->setFullText(fact.note);
  }
}

}  // namespace heddle::gui
