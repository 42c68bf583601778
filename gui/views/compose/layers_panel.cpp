#include "gui/views/compose/layers_panel.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QTimer>
#include <algorithm>

#include "gui/views/compose/bucket_edits.h"
#include "gui/views/compose/bucket_list.h"
#include "gui/views/compose/key_field.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/folding_row.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/more_below.h"

namespace heddle::gui {
namespace {

using recipe::RecomputeMode;

constexpr int kBucketActions = 2;
constexpr int kApart = 16;  // of two actions that are not one phrase
constexpr RecomputeMode kModes[] = {RecomputeMode::full, RecomputeMode::selective,
                                    RecomputeMode::none};

}  // namespace

LayersPanel::LayersPanel(RecipeDocument& document, QWidget* picture, QWidget* parent)
    : QWidget(parent),
      document_(document),
      content_(new QWidget),
      strip_(new LayerStrip),
      actions_(makeActions()) {
  QVBoxLayout* whole = columnOf(this, {}, 4);
  area_ = scrolled(makeContent(picture));
  area_->setAccessibleName(tr("Settings of layers"));
  auto* more = new MoreBelow(area_);
  more->setText(tr("more"));
  more->setToolTip(tr("Goes on below"));
  bar_ = new LayerBar(actions_.first(kBucketActions), actions_.sliced(kBucketActions), more);
  whole->addWidget(area_, 1);
  whole->addWidget(bar_);
  connect(strip_, &LayerStrip::rangeChosen, this,
          [this](const ModuleRange& range) { choose(range, false); });
  connect(strip_, &LayerStrip::menuRequested, this, &LayersPanel::openMenu);
  connect(&document_, &RecipeDocument::changed, this, &LayersPanel::refresh);
  refresh();
}

QWidget* LayersPanel::makeContent(QWidget* picture) {
  QVBoxLayout* column = columnOf(content_, {0, 8, 0, 0}, 4);
  column->addWidget(strip_);
  exceptions_ = new QVBoxLayout;
  exceptions_->setContentsMargins(0, 0, 0, 0);
  exceptions_->setSpacing(8);
  column->addLayout(exceptions_);
  auto* whole = new QWidget;
  QVBoxLayout* all = columnOf(whole);
  if (picture) all->addWidget(picture, 1);
  all->addWidget(content_);
  all->addStretch(0);
  return whole;
}

QList<QAction*> LayersPanel::makeActions() {
  QList<QAction*> all;
  // The bar's caption says what its buttons are for, a menu has only its own words.
  const auto add = [&](const QString& text, const QString& whole, const QString& name,
                       const QString& tip) {
    auto* action = new QAction(whole, this);
    action->setIconText(text);
    action->setObjectName(name);
    action->setToolTip(tip);
    all << action;
    return action;
  };
  connect(add(tr("Wrap"), tr("Wrap together in a bucket"), QStringLiteral("wrapTogether"),
              tr("Wrap together: one bucket")),
          &QAction::triggered, this, [this] { wrap(true); });
  connect(add(tr("Split"), tr("Split into a bucket each"), QStringLiteral("splitUp"),
              tr("A bucket each")),
          &QAction::triggered, this, [this] { wrap(false); });
  const QStringList names = {tr("Full"), tr("Selective"), tr("None")};
  for (qsizetype i = 0; i < names.size(); ++i) {
    const RecomputeMode mode = kModes[i];
    connect(add(names[i], tr("Recompute %1").arg(wordOf(mode)),
                QStringLiteral("recompute:") + wordOf(mode),
                tr("Recompute %1 in these layers").arg(wordOf(mode))),
            &QAction::triggered, this, [this, mode] { recompute(mode); });
  }
  return all;
}

void LayersPanel::openMenu(const QPoint& at) {
  QMenu menu(this);
  menu.addActions(actions_);
  menu.insertSeparator(actions_[kBucketActions]);
  menu.exec(at);
}

void LayersPanel::choose(const ModuleRange& range, bool extend) {
  const ModuleRange next =
      extend && !range_.isEmpty()
          ? ModuleRange{range_.anchor, range.last() > range_.anchor ? range.last() : range.first()}
          : range;
  if (next == range_) return;
  range_ = next;
  strip_->setRange(range_);
  refreshBar();
  Q_EMIT rangeChanged(range_);
}

void LayersPanel::wrap(bool together) {
  const recipe::Recipe& recipe = document_.resolved().recipe;
  document_.endEdit();
  document_.setKeys(
      bucketsByHand(recipe.model, regrouped(recipe, range_.first(), range_.last(), together)),
      together ? tr("wrap together") : tr("split"));
  document_.endEdit();
}

void LayersPanel::recompute(RecomputeMode mode) {
  document_.endEdit();
  setLayers(document_.resolved().recipe, range_.first() - 1, range_.last() - 1, mode);
  document_.endEdit();
  showException(range_.first() - 1, range_.last() - 1);
}

void LayersPanel::showException(int first, int last) {
  const QList<LayerException> all = layerExceptions(document_.resolved().recipe);
  const auto of = std::ranges::find_if(
      all, [&](const LayerException& each) { return each.first <= last && each.last >= first; });
  if (of == all.end()) return;
  // Its row has a place once pending layout is done.
  QWidget* row = rows_[of - all.begin()].whole;
  QTimer::singleShot(0, row, [this, row] { area_->ensureWidgetVisible(row, 0, kApart); });
}

void LayersPanel::setLayers(const recipe::Recipe& of, int first, int last,
                            std::optional<RecomputeMode> mode) {
  document_.setOverrides(withLayers(of, first, last, mode), tr("exceptions"));
}

void LayersPanel::refresh() {
  const recipe::Recipe& recipe = document_.resolved().recipe;
  strip_->setRecipe(recipe);
  if (!range_.isEmpty() && range_.last() >= outerModules(recipe.model)) choose({}, false);
  refreshBar();
  refreshRows();
}

void LayersPanel::refreshBar() {
  const recipe::Model& model = document_.resolved().recipe.model;
  const bool any = !range_.isEmpty() && document_.isReadable();
  content_->setVisible(model.n_layers > 0);
  bar_->setVisible(model.n_layers > 0);
  bar_->setCaption(range_.isEmpty() ? tr("Click or drag over layers to choose some")
                                    : tr("%1: wrap in buckets, or recompute")
                                          .arg(runTitle(model, range_.first(), range_.last())));
  for (QAction* action : actions_) action->setEnabled(any);
  const bool layers = any && range_.last() >= 1 && range_.first() <= model.n_layers;
  for (qsizetype i = kBucketActions; i < actions_.size(); ++i) actions_[i]->setEnabled(layers);
  actions_[1]->setEnabled(any && range_.first() < range_.last());
  actions_[0]->setEnabled(any && range_.first() < range_.last());
}

LayersPanel::Row LayersPanel::addRow() {
  Row row;
  row.whole = new QWidget;
  auto* column = new QVBoxLayout(row.whole);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  row.name = label({});
  row.mode = new QComboBox;
  row.mode->setObjectName(QStringLiteral("exceptionMode"));
  for (const RecomputeMode mode : kModes)
    row.mode->addItem(tr("recompute %1").arg(wordOf(mode)), static_cast<int>(mode));
  row.mode->addItem(tr("recompute by budget"), static_cast<int>(RecomputeMode::budget));
  FieldFilter::install(row.mode);
  auto* whatIf = linkButton(tr("what if …"));
  whatIf->setObjectName(QStringLiteral("whatIf"));
  whatIf->setToolTip(tr("Predictions for other modes of these layers, and without this exception"));
  auto* remove = linkButton(tr("remove"));
  remove->setObjectName(QStringLiteral("removeException"));
  auto* what = new QWidget;
  QHBoxLayout* whatRow = rowOf(what, {}, 6);
  whatRow->addWidget(row.name, 1);
  whatRow->addWidget(row.mode);
  auto* links = new QWidget;
  QHBoxLayout* linkRow = rowOf(links, {}, kApart);
  linkRow->addWidget(whatIf);
  linkRow->addWidget(remove);
  column->addWidget(new FoldingRow({what, links}, kApart, true));
  row.slider = new LayerSlider;
  column->addWidget(row.slider);
  exceptions_->addWidget(row.whole);

  const int index = static_cast<int>(rows_.size());
  const auto exception = [this, index] {
    return layerExceptions(document_.resolved().recipe).value(index);
  };
  connect(remove, &QPushButton::clicked, this, [this, exception] {
    document_.endEdit();
    setLayers(document_.resolved().recipe, exception().first, exception().last, std::nullopt);
    document_.endEdit();
  });
  connect(whatIf, &QPushButton::clicked, this, [this, exception, whatIf, name = row.name] {
    Q_EMIT neighboursRequested(exception(), name->text(), whatIf);
  });
  connect(row.mode, &QComboBox::activated, this, [this, exception, mode = row.mode] {
    document_.endEdit();
    setLayers(document_.resolved().recipe, exception().first, exception().last,
              static_cast<RecomputeMode>(mode->currentData().toInt()));
    document_.endEdit();
  });
  connect(row.slider, &LayerSlider::pressed, this, [this, index] {
    document_.endEdit();
    before_ = document_.resolved().recipe;
    dragged_ = index;
    Q_EMIT dragBegun();
  });
  connect(row.slider, &LayerSlider::moved, this, [this, index](int first, int last) {
    const LayerException was = layerExceptions(*before_).value(index);
    recipe::Recipe without = *before_;
    without.overrides = withLayers(*before_, was.first, was.last, std::nullopt);
    rows_[index].name->setText(runTitle(without.model, first + 1, last + 1));
    setLayers(without, first, last, was.mode);
    Q_EMIT dragged(tr("%1: recompute %2").arg(rows_[index].name->text(), wordOf(was.mode)));
  });
  connect(row.slider, &LayerSlider::released, this, [this] {
    document_.endEdit();
    Q_EMIT dragEnded();
    before_.reset();
    dragged_ = -1;
    refreshRows();
  });
  return row;
}

void LayersPanel::refreshRows() {
  // A dragged row keeps its place until it is released, even where it covers another.
  if (dragged_ >= 0) return;
  const recipe::Recipe& recipe = document_.resolved().recipe;
  const QList<LayerException> all = layerExceptions(recipe);
  while (rows_.size() < all.size()) rows_ << addRow();
  for (qsizetype i = 0; i < rows_.size(); ++i) {
    rows_[i].whole->setVisible(i < all.size());
    if (i >= all.size()) continue;
    rows_[i].name->setText(runTitle(recipe.model, all[i].first + 1, all[i].last + 1));
    rows_[i].mode->setAccessibleName(tr("Recomputation of %1").arg(rows_[i].name->text()));
    rows_[i].mode->setCurrentIndex(rows_[i].mode->findData(static_cast<int>(all[i].mode)));
    rows_[i].slider->setException(all[i], static_cast<int>(recipe.model.n_layers));
    rows_[i].whole->setEnabled(document_.isReadable());
  }
}

}  // namespace heddle::gui
