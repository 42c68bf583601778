#include "gui/views/compose/layer_strip.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/views/compose/layer_exceptions.h"

namespace heddle::gui {
namespace {

constexpr int kNarrowest = 7, kTall = 16, kRow = 18;

}  // namespace

QColor colorOf(recipe::RecomputeMode mode) {
  const Colors& c = colors();
  switch (mode) {
    case recipe::RecomputeMode::none:
      return blend(c.surface, c.muted, 0.3);
    case recipe::RecomputeMode::selective:
      return blend(c.surface, c.warn, 0.5);
    case recipe::RecomputeMode::full:
      return c.warn;
    case recipe::RecomputeMode::budget:
      return blend(c.surface, c.accent, 0.6);
  }
  return c.line;
}

LayerStrip::LayerStrip(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("layerStrip"));
  setAccessibleName(tr("Layers"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LayerStrip::setRecipe(const recipe::Recipe& recipe) {
  modes_.assign(static_cast<size_t>(std::max<int64_t>(0, recipe.model.n_layers)),
                recipe.recompute.mode);
  for (const LayerException& run : layerExceptions(recipe))
    for (int layer = run.first; layer <= run.last; ++layer)
      modes_[static_cast<size_t>(layer)] = run.mode;
  setFixedHeight(heightForWidth(width()));
  update();
}

void LayerStrip::setRange(const ModuleRange& range) {
  range_ = range;
  update();
}

int LayerStrip::columns(int width) const {
  const int most = std::max(1, width / kNarrowest);
  const int rows = (layers() + most - 1) / most;
  return rows == 0 ? 1 : (layers() + rows - 1) / rows;
}

int LayerStrip::heightForWidth(int width) const {
  const int across = columns(width);
  return std::max(1, (layers() + across - 1) / across) * kRow;
}

QRectF LayerStrip::cellRect(int layer) const {
  const int across = columns(width());
  const double pitch = static_cast<double>(width()) / across;
  return {layer % across * pitch, static_cast<double>(layer / across * kRow), pitch - 1, kTall};
}

int LayerStrip::moduleAt(const QPointF& place) const {
  const int across = columns(width());
  const int column = static_cast<int>(place.x() * across / std::max(1, width()));
  const int row = std::clamp(static_cast<int>(place.y() / kRow), 0, height() / kRow - 1);
  return 1 + std::clamp(row * across + std::clamp(column, 0, across - 1), 0, layers() - 1);
}

void LayerStrip::choose(const ModuleRange& range) {
  if (range == range_) return;
  setRange(range);
  Q_EMIT rangeChosen(range);
}

void LayerStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = colors();
  for (int layer = 0; layer < layers(); ++layer) {
    const QRectF cell = cellRect(layer);
    painter.fillRect(cell, colorOf(modes_[static_cast<size_t>(layer)]));
    const bool chosen =
        !range_.isEmpty() && layer + 1 >= range_.first() && layer + 1 <= range_.last();
    if (!chosen) continue;
    painter.fillRect(QRectF(cell.left(), cell.bottom() - 3, cell.width() + 1, 3), c.accent);
    painter.fillRect(QRectF(cell.left(), cell.top(), cell.width() + 1, 2), c.accent);
  }
  if (hasFocus()) {
    painter.setPen(QPen(c.accent, 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void LayerStrip::mousePressEvent(QMouseEvent* event) {
  if (layers() == 0) return;
  const int module = moduleAt(event->position());
  const bool within = !range_.isEmpty() && module >= range_.first() && module <= range_.last();
  if (event->button() == Qt::RightButton && within) return;  // a menu for what is chosen
  const bool extends = event->modifiers() & Qt::ShiftModifier && !range_.isEmpty();
  choose({extends ? range_.anchor : module, module});
}

void LayerStrip::mouseMoveEvent(QMouseEvent* event) {
  if (layers() == 0) return;
  const int module = moduleAt(event->position());
  setToolTip(tr("layer %1: recompute %2")
                 .arg(module - 1)
                 .arg(wordOf(modes_[static_cast<size_t>(module - 1)])));
  if (event->buttons() & Qt::LeftButton) choose({range_.anchor, module});
}

void LayerStrip::keyPressEvent(QKeyEvent* event) {
  if (layers() == 0) return QWidget::keyPressEvent(event);
  const int across = columns(width());
  const int now = range_.isEmpty() ? 1 : range_.end;
  int next = now;
  switch (event->key()) {
    case Qt::Key_Left:
      next = now - 1;
      break;
    case Qt::Key_Right:
      next = now + 1;
      break;
    case Qt::Key_Up:
      next = now - across;
      break;
    case Qt::Key_Down:
      next = now + across;
      break;
    case Qt::Key_Home:
      next = 1;
      break;
    case Qt::Key_End:
      next = layers();
      break;
    case Qt::Key_Escape:
      return choose({});
    case Qt::Key_A:
      if (event->modifiers() & Qt::ControlModifier) return choose({1, layers()});
      return QWidget::keyPressEvent(event);
    default:
      return QWidget::keyPressEvent(event);
  }
  next = std::clamp(range_.isEmpty() ? now : next, 1, layers());
  const bool extends = event->modifiers() & Qt::ShiftModifier && !range_.isEmpty();
  choose({extends ? range_.anchor : next, next});
}

void LayerStrip::contextMenuEvent(QContextMenuEvent* event) {
  if (!range_.isEmpty()) Q_EMIT menuRequested(event->globalPos());
}

void LayerStrip::resizeEvent(QResizeEvent*) { setFixedHeight(heightForWidth(width())); }

}  // namespace heddle::gui
