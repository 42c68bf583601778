#include "gui/views/compose/layer_strip.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/views/compose/bucket_list.h"
#include "gui/views/compose/layer_exceptions.h"

namespace heddle::gui {
namespace {

constexpr int kNote = 68, kLongNote = 166;  // after a lane: "56.4 GiB", "56.4 GiB, bubble 28.9 %"
constexpr int kRoomyStrip = 420;            // a strip at least that wide has the longer ones

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
  setAccessibleDescription(tr("None is chosen"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LayerStrip::setRecipe(const recipe::Recipe& recipe) {
  recipe_ = recipe;
  modes_.assign(static_cast<size_t>(std::max<int64_t>(0, recipe.model.n_layers)),
                recipe.recompute.mode);
  for (const LayerException& run : layerExceptions(recipe))
    for (int layer = run.first; layer <= run.last; ++layer)
      modes_[static_cast<size_t>(layer)] = run.mode;
  place();
}

void LayerStrip::setNotes(const QList<LaneNote>& notes) {
  notes_ = notes;
  update();
}

void LayerStrip::place() {
  places_ = LayerLanes(recipe_, width(), width() >= kRoomyStrip ? kLongNote : kNote);
  setFixedHeight(std::max(1, places_.height()));
  update();
}

void LayerStrip::setRange(const ModuleRange& range) {
  range_ = range;
  setAccessibleDescription(range.isEmpty() ? tr("%1 layers, none is chosen").arg(layers())
                                           : runTitle(recipe_.model, range.first(), range.last()));
  update();
}

QRectF LayerStrip::cellRect(int layer) const { return places_.cell(layer + 1); }

void LayerStrip::choose(const ModuleRange& range) {
  if (range == range_) return;
  setRange(range);
  Q_EMIT rangeChosen(range);
}

void LayerStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = colors();
  for (int lane = 0; lane < places_.lanes(); ++lane) paintLane(painter, lane);
  for (int module = 0; module < places_.modules(); ++module) {
    const QRectF cell = places_.cell(module);
    if (cell.isNull()) continue;
    const bool layer = module >= 1 && module <= layers();
    painter.fillRect(cell, layer ? colorOf(modes_[static_cast<size_t>(module - 1)])
                                 : blend(c.surface, c.accent, 0.35));
    const bool chosen = !range_.isEmpty() && module >= range_.first() && module <= range_.last();
    if (!chosen) continue;
    painter.fillRect(QRectF(cell.left(), cell.bottom() - 3, cell.width() + 1, 3), c.accent);
    painter.fillRect(QRectF(cell.left(), cell.top(), cell.width() + 1, 2), c.accent);
  }
  if (hasFocus()) {
    painter.setPen(QPen(c.accent, 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void LayerStrip::paintLane(QPainter& painter, int lane) const {
  const Colors& c = colors();
  const QRectF whole = places_.lane(lane);
  if (lane % 2 == 0) painter.fillRect(whole, blend(c.window, c.raised, 0.6));
  painter.setFont(font::text(11));
  painter.setPen(c.muted);
  painter.drawText(whole.adjusted(4, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   tr("stage %1").arg(lane));
  if (lane >= notes_.size()) return;
  const LaneNote& note = notes_[lane];
  painter.setFont(font::mono(11));
  painter.setPen(note.over ? c.badText : c.muted);
  painter.drawText(whole.adjusted(0, 0, -4, 0), Qt::AlignVCenter | Qt::AlignRight,
                   width() >= kRoomyStrip ? note.text : note.shortText);
}

void LayerStrip::mousePressEvent(QMouseEvent* event) {
  if (layers() == 0) return;
  const int module = places_.at(event->position());
  const bool within = !range_.isEmpty() && module >= range_.first() && module <= range_.last();
  if (event->button() == Qt::RightButton && within) return;  // a menu for the chosen layers
  const bool extends = event->modifiers() & Qt::ShiftModifier && !range_.isEmpty();
  choose({extends ? range_.anchor : module, module});
}

void LayerStrip::mouseMoveEvent(QMouseEvent* event) {
  if (layers() == 0) return;
  const int module = places_.at(event->position());
  setToolTip(module >= 1 && module <= layers()
                 ? tr("layer %1: recompute %2")
                       .arg(module - 1)
                       .arg(wordOf(modes_[static_cast<size_t>(module - 1)]))
                 : outerName(recipe_.model, module));
  if (event->buttons() & Qt::LeftButton) choose({range_.anchor, module});
}

void LayerStrip::keyPressEvent(QKeyEvent* event) {
  if (layers() == 0) return QWidget::keyPressEvent(event);
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
      next = places_.at(places_.cell(now).center() - QPointF(0, places_.cell(now).height()));
      break;
    case Qt::Key_Down:
      next = places_.at(places_.cell(now).center() + QPointF(0, places_.cell(now).height()));
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

KeyTable LayerStrip::keys() {
  return {tr("In the strip of layers"),
          {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down},
            tr("Another layer; with Shift more of them"),
            tr("drag")},
           {{Qt::Key_Home, Qt::Key_End}, tr("The first layer, the last one")},
           {{QKeySequence::SelectAll}, tr("All layers")},
           {{Qt::Key_Menu}, tr("What the chosen layers may do"), tr("right click")},
           {{Qt::Key_Escape}, tr("No layer")}}};
}

void LayerStrip::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  if (byKey && range_.isEmpty() && layers() > 0) choose({1, 1});
  if (!range_.isEmpty()) Q_EMIT menuRequested(event->globalPos());
}

void LayerStrip::resizeEvent(QResizeEvent*) { place(); }

}  // namespace heddle::gui
