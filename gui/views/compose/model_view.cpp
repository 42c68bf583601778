#include "gui/views/compose/model_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "engine/recipe/modules.h"
#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr double kGap = 12;  // room for an arrow between two modules

void arrow(QPainter& painter, const QPointF& from, const QPointF& to, bool head) {
  painter.setPen(QPen(colors().muted, 1));
  painter.drawLine(from, to);
  if (!head) return;
  const QPointF along = to - from;
  const double length = std::max(1.0, std::hypot(along.x(), along.y()));
  const QPointF unit = along / length;
  const QPointF side(-unit.y(), unit.x());
  QPainterPath tip(to);
  tip.lineTo(to - unit * 5 + side * 3);
  tip.lineTo(to - unit * 5 - side * 3);
  painter.fillPath(tip, colors().muted);
}

void box(QPainter& painter, const QRectF& rect, const QColor& border) {
  painter.setPen(QPen(border, 1));
  painter.setBrush(colors().raised);
  painter.drawRoundedRect(rect, metric::radius, metric::radius);
}

/// A module: its name over its count, or beside it when it is flat.
void module(QPainter& painter, const QRectF& rect, const QString& name, const QString& note) {
  box(painter, rect, colors().line);
  const bool flat = rect.height() < 36;
  const double side = flat ? 7 : 3;
  const QRectF inner = rect.adjusted(side, 0, -side, 0);
  painter.setFont(font::text(rect.height() < 44 ? 11 : 12, QFont::Medium));
  painter.setPen(colors().text);
  const QFontMetricsF names(painter.font());
  if (flat) {
    painter.drawText(inner, Qt::AlignVCenter | Qt::AlignLeft, name);
  } else {
    painter.drawText(QRectF(inner.left(), rect.center().y() - 16, inner.width(), 16),
                     Qt::AlignCenter, names.elidedText(name, Qt::ElideRight, inner.width()));
  }
  painter.setFont(font::mono(10));
  painter.setPen(colors().muted);
  const QFontMetricsF notes(painter.font());
  if (flat) {
    const double room = inner.width() - names.horizontalAdvance(name) - 6;
    if (notes.horizontalAdvance(note) <= room) {
      painter.drawText(inner, Qt::AlignVCenter | Qt::AlignRight, note);
    }
  } else {
    painter.drawText(QRectF(inner.left(), rect.center().y() + 1, inner.width(), 15),
                     Qt::AlignCenter, notes.elidedText(note, Qt::ElideRight, inner.width()));
  }
}

void plus(QPainter& painter, const QPointF& centre) {
  painter.setPen(QPen(colors().muted, 1));
  painter.setBrush(colors().surface);
  painter.drawEllipse(centre, 7, 7);
  painter.drawLine(centre - QPointF(4, 0), centre + QPointF(4, 0));
  painter.drawLine(centre - QPointF(0, 4), centre + QPointF(0, 4));
}

struct Part {
  QString name;
  QString note;
};

/// norm → (parallel matrices) → what joins them → last matrix → ⊕, in one row.
void row(QPainter& painter, const QRectF& area, const Part& norm, const QList<Part>& matrices,
         const Part& join, const Part& last) {
  const double plusRoom = 16;
  const double width = area.width() - 3 * kGap - plusRoom - 8;
  const double normWidth = std::min(118.0, width * 0.31);
  const double matrixWidth = std::min(112.0, width * 0.25);
  const double lastWidth = std::min(96.0, width * 0.19);
  const double joinWidth = std::min(112.0, width * 0.25);
  const double slack = std::max(0.0, width - normWidth - matrixWidth - lastWidth - joinWidth) / 3;
  const double tall = std::clamp(area.height() * 0.3, 38.0, 64.0);
  const double y = area.center().y();
  double x = area.left();
  const QRectF normBox(x, y - tall / 2, normWidth, tall);
  x = normBox.right() + kGap + slack;
  const QRectF matrixColumn(x, area.top(), matrixWidth, area.height());
  x = matrixColumn.right() + kGap + slack;
  const QRectF joinBox(x, y - tall / 2, joinWidth, tall);
  x = joinBox.right() + kGap + slack;
  const QRectF lastBox(x, y - tall / 2, lastWidth, tall);
  const QPointF sum(area.right() - 8, y);

  const double pitch = area.height() / static_cast<double>(matrices.size());
  const double flat = std::clamp(pitch - 8, 22.0, 38.0);
  const double split = normBox.right() + (matrixColumn.left() - normBox.right()) / 2;
  const double merge = matrixColumn.right() + (joinBox.left() - matrixColumn.right()) / 2;
  double first = 0, end = 0;
  for (int i = 0; i < matrices.size(); ++i) {
    const double centre =
        y + (i - (static_cast<double>(matrices.size()) - 1) / 2) * std::min(pitch, flat * 1.5);
    if (i == 0) first = centre;
    end = centre;
    arrow(painter, {split, centre}, {matrixColumn.left(), centre}, false);
    arrow(painter, {matrixColumn.right(), centre}, {merge, centre}, false);
    module(painter, {matrixColumn.left(), centre - flat / 2, matrixWidth, flat}, matrices[i].name,
           matrices[i].note);
  }
  arrow(painter, {normBox.right(), y}, {split, y}, false);
  arrow(painter, {split, first}, {split, end}, false);
  arrow(painter, {merge, first}, {merge, end}, false);
  arrow(painter, {merge, y}, {joinBox.left(), y}, true);
  arrow(painter, {joinBox.right(), y}, {lastBox.left(), y}, true);
  arrow(painter, {lastBox.right(), y}, sum - QPointF(7, 0), true);
  module(painter, normBox, norm.name, norm.note);
  module(painter, joinBox, join.name, join.note);
  module(painter, lastBox, last.name, last.note);
  plus(painter, sum);
}

}  // namespace

ModelView::ModelView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("model"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  setMaximumHeight(760);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ModelView::setModel(const recipe::Model& model) {
  model_ = model;
  QStringList parts;
  for (const recipe::Parameter& parameter : recipe::parameters(model)) {
    if (parameter.module.starts_with("layers.") && !parameter.module.starts_with("layers.0."))
      continue;
    parts << tr("%1 %2 parameters")
                 .arg(QString::fromStdString(parameter.module),
                      format::count(parameter.elements()));
  }
  setAccessibleName(tr("Model"));
  setAccessibleDescription(
      tr("%1 layers; %2").arg(model.n_layers).arg(parts.join(QStringLiteral(", "))));
  update();
}

void ModelView::setRange(const ModuleRange& range) {
  range_ = range;
  update();
}

bool ModelView::isChosen(int first, int last) const {
  return !range_.isEmpty() && range_.first() <= first && range_.last() >= last;
}

ModelView::Places ModelView::places() const {
  const QRectF whole = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  const double outer = whole.height() < 360 ? 30 : 36;
  const double between = whole.height() < 360 ? 12 : 18;
  const QRectF top(whole.left(), whole.top(), whole.width(), outer);
  const QRectF bottom(whole.left(), whole.bottom() - outer, whole.width(), outer);
  return {top,
          {whole.left(), top.bottom() + between, whole.width(),
           bottom.top() - top.bottom() - 2 * between},
          bottom};
}

void ModelView::mousePressEvent(QMouseEvent* event) {
  const int layers = static_cast<int>(model_.n_layers);
  if (event->button() != Qt::LeftButton || layers == 0) return;
  const bool extend = event->modifiers() & Qt::ShiftModifier;
  const Places at = places();
  if (at.top.contains(event->position())) Q_EMIT chosen({0, 0}, extend);
  if (at.card.contains(event->position())) Q_EMIT chosen({1, layers}, extend);
  if (at.bottom.contains(event->position())) Q_EMIT chosen({layers + 1, layers + 2}, extend);
}

void ModelView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (model_.n_layers == 0 || model_.dim == 0) {
    painter.setFont(font::text(13));
    painter.setPen(colors().muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("No model yet: choose a preset at the left, or give numbers"));
    return;
  }
  const auto [top, card, bottom] = places();
  const QRectF whole = top.united(bottom);
  const int layers = static_cast<int>(model_.n_layers);
  const QString vocabulary =
      model_.vocab_size > 0 ? format::count(model_.vocab_size) : format::kNone;
  const qint64 embedding = model_.vocab_size * model_.dim;
  paintOuter(painter, top, QStringLiteral("tok_embeddings"),
             QStringLiteral("%1 × %2").arg(vocabulary, format::count(model_.dim)), embedding,
             isChosen(0, 0));
  paintOuter(painter, bottom,
             model_.tied_embeddings ? tr("norm · output, tied to tok_embeddings")
                                    : QStringLiteral("norm · output"),
             QStringLiteral("%1 × %2").arg(format::count(model_.dim), vocabulary),
             model_.tied_embeddings ? 0 : embedding, isChosen(layers + 1, layers + 2));
  arrow(painter, {whole.center().x(), top.bottom()}, {whole.center().x(), card.top()}, true);
  arrow(painter, {whole.center().x(), card.bottom()}, {whole.center().x(), bottom.top()}, true);
  paintLayer(painter, card);
}

void ModelView::paintOuter(QPainter& painter, const QRectF& rect, const QString& name,
                           const QString& shape, qint64 elements, bool isChosen) {
  box(painter, rect, isChosen ? colors().accent : colors().line);
  const QRectF inner = rect.adjusted(12, 0, -12, 0);
  painter.setFont(font::text(13));
  painter.setPen(colors().text);
  painter.drawText(inner, Qt::AlignVCenter | Qt::AlignLeft, name);
  const double room = inner.width() - painter.fontMetrics().horizontalAdvance(name) - 16;
  const QString count =
      elements > 0 ? format::shortCount(static_cast<double>(elements)) : QString();
  const QString both = count.isEmpty() ? shape : shape + QStringLiteral("   ") + count;
  painter.setFont(font::mono(11));
  painter.setPen(colors().muted);
  const bool fits = painter.fontMetrics().horizontalAdvance(both) <= room;
  painter.drawText(inner, Qt::AlignVCenter | Qt::AlignRight, fits ? both : count);
}

void ModelView::paintLayer(QPainter& painter, const QRectF& card) {
  const Colors& c = colors();
  painter.setPen(QPen(c.accent, 1));
  painter.setBrush(c.surface);
  painter.drawRoundedRect(card, metric::radius, metric::radius);

  const QRectF head(card.left() + 12, card.top() + 6, card.width() - 24, 28);
  painter.setFont(font::text(13, QFont::DemiBold));
  painter.setPen(c.text);
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignLeft, QStringLiteral("layers"));
  const double name = painter.fontMetrics().horizontalAdvance(QStringLiteral("layers"));
  painter.setFont(font::text(12, QFont::DemiBold));
  const QString times = QStringLiteral("× %1").arg(format::count(model_.n_layers));
  const QRectF pill(head.left() + name + 10, head.center().y() - 10,
                    painter.fontMetrics().horizontalAdvance(times) + 16, 20);
  painter.setPen(Qt::NoPen);
  painter.setBrush(c.accent);
  painter.drawRoundedRect(pill, 5, 5);
  painter.setPen(c.onAccent);
  painter.drawText(pill, Qt::AlignCenter, times);
  painter.setFont(font::text(12));
  painter.setPen(c.muted);
  painter.drawText(QRectF(pill.right() + 10, head.top(), 100, head.height()),
                   Qt::AlignVCenter | Qt::AlignLeft, tr("drawn once"));
  painter.setFont(font::mono(11));
  const double each = static_cast<double>(recipe::layer_parameter_count(model_));
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignRight,
                   tr("%1 each").arg(format::shortCount(each)));

  const qint64 heads = model_.n_heads * model_.head_dim() * model_.dim;
  const qint64 kv = model_.n_kv_heads * model_.head_dim() * model_.dim;
  const qint64 ffn = model_.ffn_dim * model_.dim;
  const auto count = [](qint64 n) { return format::shortCount(static_cast<double>(n)); };
  const QString dim = format::count(model_.dim);
  const QRectF body(card.left() + 14, head.bottom() + 2, card.width() - 26,
                    card.bottom() - head.bottom() - 10);
  const double between = std::min(36.0, body.height() * 0.08);
  const double attention = (body.height() - between) * 0.56;
  const QString shared = model_.n_heads == model_.n_kv_heads
                             ? tr("%1 heads").arg(model_.n_heads)
                             : tr("%1/%2 heads").arg(model_.n_heads).arg(model_.n_kv_heads);
  const QRectF upper(body.left(), body.top(), body.width(), attention);
  const QRectF lower(body.left(), body.top() + attention + between, body.width(),
                     body.height() - attention - between);
  // From the sum behind attention back to the beginning of the feed-forward row.
  const double turn = upper.bottom() + between / 2;
  QPainterPath back(QPointF(upper.right() - 8, upper.center().y() + 7));
  back.lineTo(upper.right() - 8, turn);
  back.lineTo(lower.left() - 8, turn);
  back.lineTo(lower.left() - 8, lower.center().y());
  painter.setPen(QPen(c.muted, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(back);
  arrow(painter, {lower.left() - 8, lower.center().y()}, {lower.left(), lower.center().y()}, true);
  row(painter, upper, {QStringLiteral("attention_norm"), dim},
      {{QStringLiteral("wq"), count(heads)},
       {QStringLiteral("wk"), count(kv)},
       {QStringLiteral("wv"), count(kv)}},
      {QStringLiteral("attention"), shared}, {QStringLiteral("wo"), count(heads)});
  row(painter, lower, {QStringLiteral("ffn_norm"), dim},
      {{QStringLiteral("w1"), count(ffn)}, {QStringLiteral("w3"), count(ffn)}},
      {QStringLiteral("SwiGLU"), QStringLiteral("silu(w1)·w3")},
      {QStringLiteral("w2"), count(ffn)});
}

}  // namespace heddle::gui
