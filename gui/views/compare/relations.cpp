#include "gui/views/compare/relations.h"

#include <QMenu>
#include <QStackedWidget>
#include <algorithm>

#include "gui/format.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kUsualRecipeAxes = 5, kUsualResultAxes = 4;

QString rhoText(const Correlation& correlation) {
  if (!correlation.rho) return Relations::tr("n = %1").arg(correlation.pairs);
  return Relations::tr("ρ %1, n = %2")
      .arg(format::signedValue(QString::number(std::abs(*correlation.rho), 'f', 2),
                               *correlation.rho < 0))
      .arg(correlation.pairs);
}

}  // namespace

Relations::Relations(CompareChoices& choices, QWidget* parent)
    : Card(tr("Relations"), parent), choices_(choices) {
  kind_ = new Segment({tr("parallel"), tr("scatter")});
  kind_->setObjectName(QStringLiteral("relationKind"));
  connect(kind_, &Segment::currentChanged, this, &Relations::show);
  x_ = new KeyBox(tr("Across"), {});
  y_ = new KeyBox(tr("Up"), {});
  x_->setToolTip(tr("The key that places runs from left to right"));
  y_->setToolTip(tr("The key that places runs from bottom to top"));
  scatterKeys_ = new QWidget;
  QHBoxLayout* keys = rowOf(scatterKeys_, {}, 8);
  for (KeyBox* box : {x_, y_})
    connect(box, &QComboBox::currentIndexChanged, this, &Relations::show);
  keys->addWidget(fieldLabel(tr("across"), x_));
  keys->addWidget(x_);
  keys->addWidget(fieldLabel(tr("up"), y_));
  keys->addWidget(y_);
  axesButton_ = quietButton(tr("Axes"));
  axesButton_->setObjectName(QStringLiteral("relationAxes"));
  axesButton_->setToolTip(tr("The keys that have an axis"));
  kind_->button(0)->setToolTip(
      tr("One axis per key, one line per run; drag along an axis to choose"));
  kind_->button(1)->setToolTip(tr("One key against another, one mark per run"));
  connect(axesButton_, &QPushButton::clicked, this, &Relations::offerAxes);
  for (QWidget* control : std::initializer_list<QWidget*>{scatterKeys_, axesButton_, kind_})
    addControl(control);
  parallel_ = new ParallelPlot;
  scatter_ = new ScatterPlot;
  plots_ = new QStackedWidget;
  plots_->addWidget(parallel_);
  plots_->addWidget(scatter_);
  body()->addWidget(plots_);
  addControl(pictureButton(plots_, tr("Menu of relations"), [this] { return table(); }));
  setMinimumHeight(320);
  const auto highlight = [this](const QSet<qint64>& runs) { choices_.setHighlighted(runs); };
  connect(parallel_, &ParallelPlot::brushed, this, highlight);
  connect(scatter_, &ScatterPlot::brushed, this, highlight);
  for (const auto change : {&CompareChoices::highlightChanged, &CompareChoices::hiddenChanged})
    connect(&choices_, change, this, &Relations::show);
  hide();
}

void Relations::display(const storage::Comparison& comparison, ComparedKeys keys,
                        const QList<RunStroke>& strokes) {
  runs_ = comparison.runs;
  keys_ = std::move(keys);
  strokes_ = strokes;
  const bool enough = runs_.size() >= kMinRuns && keys_->size() >= 2;
  setVisible(enough);
  if (!enough) return;
  const bool first = x_->count() == 0;
  for (KeyBox* box : {x_, y_}) box->setKeys(*keys_);
  if (first) {
    // A recipe's number against the first result.
    const auto result = std::ranges::find_if(*keys_, &ComparedKey::isResult);
    const auto given = std::ranges::find_if(*keys_, [](const ComparedKey& key) {
      return key.kind == ComparedKey::Kind::recipe && key.number(0).has_value();
    });
    if (given != keys_->end()) x_->choose(given->name);
    if (result != keys_->end()) y_->choose(result->name);
  }
  axes_.removeIf([this](const QString& name) {
    return std::ranges::find(*keys_, name, &ComparedKey::name) == keys_->end();
  });
  if (!choseAxes_ || axes_.size() < 2) chooseUsualAxes();
  show();
}

void Relations::chooseUsualAxes() {
  axes_.clear();
  int recipe = 0, results = 0;
  for (const ComparedKey& key : *keys_) {
    if (key.kind == ComparedKey::Kind::environment) continue;
    int& count = key.isResult() ? results : recipe;
    if (count >= (key.isResult() ? kUsualResultAxes : kUsualRecipeAxes)) continue;
    ++count;
    axes_ << key.name;
  }
}

void Relations::offerAxes() {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  for (const ComparedKey& key : *keys_) {
    QAction* action = menu->addAction(key.name);
    action->setCheckable(true);
    action->setChecked(axes_.contains(key.name));
    connect(action, &QAction::toggled, this, [this, name = key.name](bool on) {
      choseAxes_ = true;
      QStringList chosen;
      for (const ComparedKey& each : *keys_)
        if (each.name == name ? on : axes_.contains(each.name)) chosen << each.name;
      axes_ = chosen;
      show();
    });
  }
  menu->popup(axesButton_->mapToGlobal(QPoint(0, axesButton_->height() + 4)));
}

std::vector<PlottedRun> Relations::plottedRuns() const {
  std::vector<PlottedRun> plotted;
  for (size_t i = 0; i < runs_.size(); ++i)
    plotted.push_back({runs_[i].id, format::spelled(runs_[i].name),
                       strokes_[static_cast<qsizetype>(i)], choices_.isHidden(runs_[i].id),
                       choices_.highlighted().contains(runs_[i].id)});
  return plotted;
}

void Relations::show() {
  if (runs_.size() < kMinRuns || keys_->size() < 2) return;
  const bool scatter = kind_->current() == 1;
  scatterKeys_->setVisible(scatter);
  axesButton_->setVisible(!scatter);
  plots_->setCurrentIndex(scatter ? 1 : 0);
  const std::vector<PlottedRun> runs = plottedRuns();
  if (scatter)
    showScatter(runs);
  else
    showParallel(runs);
}

TextTable Relations::table() const {
  std::vector<const ComparedKey*> keys;
  if (kind_->current() == 1) {
    for (const KeyBox* box : {x_, y_})
      if (box->key()) keys.push_back(&(*keys_)[*box->key()]);
  } else {
    for (const QString& name : axes_)
      if (const auto key = std::ranges::find(*keys_, name, &ComparedKey::name); key != keys_->end())
        keys.push_back(&*key);
  }
  TextTable table{title(), {tr("run")}, {}};
  for (const ComparedKey* key : keys) table.heads << key->name;
  for (size_t run = 0; run < runs_.size(); ++run) {
    if (choices_.isHidden(runs_[run].id)) continue;
    QStringList row{format::spelled(runs_[run].name)};
    for (const ComparedKey* key : keys) row << key->texts[static_cast<qsizetype>(run)];
    table.rows.push_back(std::move(row));
  }
  return table;
}

void Relations::showParallel(const std::vector<PlottedRun>& runs) {
  std::vector<ValueAxis> axes;
  for (const QString& name : axes_) {
    const auto key = std::ranges::find(*keys_, name, &ComparedKey::name);
    if (key != keys_->end()) axes.push_back(valueAxis(*key));
  }
  if (axes.empty()) return parallel_->display(runs, {}, {});
  // Each axis against the first result, which has the run's worth.
  const auto result = std::ranges::find_if(*keys_, [this](const ComparedKey& key) {
    return key.isResult() && axes_.contains(key.name);
  });
  QStringList notes;
  for (const ValueAxis& axis : axes)
    notes << (result == keys_->end() || axis.categories || axis.name == result->name
                  ? QString()
                  : rhoText(correlationOf(axis, valueAxis(*result))));
  setNote(result == keys_->end() ? QString()
                                 : tr("ρ: rank correlation (Spearman) with %1").arg(result->name));
  parallel_->display(runs, std::move(axes), notes);
}

void Relations::showScatter(const std::vector<PlottedRun>& runs) {
  if (!x_->key() || !y_->key()) return;
  ValueAxis x = valueAxis((*keys_)[*x_->key()]), y = valueAxis((*keys_)[*y_->key()]);
  setNote(x.categories || y.categories
              ? QString()
              : tr("rank correlation (Spearman): %1").arg(rhoText(correlationOf(x, y))));
  scatter_->display(runs, std::move(x), std::move(y));
}

Correlation Relations::correlationOf(const ValueAxis& x, const ValueAxis& y) const {
  std::vector<std::pair<double, double>> pairs;
  for (size_t run = 0; run < runs_.size(); ++run)
    if (!choices_.isHidden(runs_[run].id) && x.numbers[run] && y.numbers[run])
      pairs.emplace_back(*x.numbers[run], *y.numbers[run]);
  return spearman(pairs);
}

}  // namespace heddle::gui
