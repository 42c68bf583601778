#include "gui/views/compose/model_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "engine/recipe/modules.h"
#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/module_boxes.h"

namespace heddle::gui {
namespace {

constexpr double kRoomForTimes = 480;  // for the words about them

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

void ModelView::setTimes(const std::map<std::string, double>& seconds, bool planned) {
  seconds_ = seconds;
  planned_ = planned;
  longest_ = 0;
  for (const auto& [module, time] : seconds_)
    if (module != "loss") longest_ = std::max(longest_, time);
  setToolTip(planned_ && longest_ == 0
                 ? tr("A plan this large times whole layers, not their modules")
                 : QString());
  update();
}

double ModelView::secondsOf(const char* module) const {
  const auto found = seconds_.find(module);
  return found == seconds_.end() ? 0 : found->second;
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
                     tr("No model yet: choose a preset on the left, or enter numbers"));
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
             secondsOf("tok_embeddings"), isChosen(0, 0));
  paintOuter(painter, bottom,
             model_.tied_embeddings ? tr("norm · output, tied to tok_embeddings")
                                    : QStringLiteral("norm · output"),
             QStringLiteral("%1 × %2").arg(format::count(model_.dim), vocabulary),
             model_.tied_embeddings ? 0 : embedding, secondsOf("norm") + secondsOf("output"),
             isChosen(layers + 1, layers + 2));
  paintArrow(painter, {whole.center().x(), top.bottom()}, {whole.center().x(), card.top()}, true);
  paintArrow(painter, {whole.center().x(), card.bottom()}, {whole.center().x(), bottom.top()},
             true);
  paintLayer(painter, card);
}

void ModelView::paintOuter(QPainter& painter, const QRectF& rect, const QString& name,
                           const QString& shape, qint64 elements, double seconds, bool isChosen) {
  paintBox(painter, rect, isChosen ? colors().accent : colors().line);
  paintTime(painter, rect, seconds, longest_);
  const QRectF inner = rect.adjusted(12, 0, -12, 0);
  painter.setFont(font::text(13));
  painter.setPen(colors().text);
  painter.drawText(inner, Qt::AlignVCenter | Qt::AlignLeft, name);
  const double room = inner.width() - painter.fontMetrics().horizontalAdvance(name) - 16;
  painter.setFont(font::mono(11));
  painter.setPen(colors().muted);
  // As much as there is room for, the most telling last.
  QString told;
  for (const QString& each :
       {elements > 0 ? format::shortCount(static_cast<double>(elements)) : QString(), shape,
        seconds > 0 ? format::seconds(seconds) : QString()}) {
    if (each.isEmpty()) continue;
    const QString more = told.isEmpty() ? each : each + QStringLiteral("   ") + told;
    if (painter.fontMetrics().horizontalAdvance(more) <= room) told = more;
  }
  painter.drawText(inner, Qt::AlignVCenter | Qt::AlignRight, told);
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
  QString once = tr("drawn once");
  if (card.width() >= kRoomForTimes && planned_)
    once = longest_ > 0 ? tr("drawn once; bars: compute of a step in all layers")
                        : tr("drawn once; a plan this large times whole layers");
  painter.drawText(QRectF(pill.right() + 10, head.top(), card.width(), head.height()),
                   Qt::AlignVCenter | Qt::AlignLeft, once);
  painter.setFont(font::mono(11));
  const double each = static_cast<double>(recipe::layer_parameter_count(model_));
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignRight,
                   tr("%1 each").arg(format::shortCount(each)));

  const qint64 heads = model_.n_heads * model_.head_size() * model_.dim;
  const qint64 kv = model_.n_kv_heads * model_.head_size() * model_.dim;
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
  paintArrow(painter, {lower.left() - 8, lower.center().y()}, {lower.left(), lower.center().y()},
             true);
  paintModules(painter, upper,
               {{QStringLiteral("attention_norm"), dim, secondsOf("attention_norm")},
                {{QStringLiteral("wq"), count(heads), secondsOf("attention.wq")},
                 {QStringLiteral("wk"), count(kv), secondsOf("attention.wk")},
                 {QStringLiteral("wv"), count(kv), secondsOf("attention.wv")}},
                {QStringLiteral("attention"), shared, secondsOf("attention")},
                {QStringLiteral("wo"), count(heads), secondsOf("attention.wo")},
                longest_});
  paintModules(
      painter, lower,
      {{QStringLiteral("ffn_norm"), dim, secondsOf("ffn_norm")},
       {{QStringLiteral("w1"), count(ffn), secondsOf("feed_forward.w1")},
        {QStringLiteral("w3"), count(ffn), secondsOf("feed_forward.w3")}},
       {QStringLiteral("SwiGLU"), QStringLiteral("silu(w1)·w3"), secondsOf("feed_forward")},
       {QStringLiteral("w2"), count(ffn), secondsOf("feed_forward.w2")},
       longest_});
}

}  // namespace heddle::gui
