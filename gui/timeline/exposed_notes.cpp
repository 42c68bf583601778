#include "gui/timeline/exposed_notes.h"

#include <QPainter>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"

namespace heddle::gui {
namespace {

constexpr size_t kMax = 40;     // candidates: shorter ones are never named
constexpr double kShare = 0.5;  // of the longest one: shorter ones are not worth a note

}  // namespace

ExposedNotes::ExposedNotes(QWidget* parent) : QWidget(parent) {
  setFixedHeight(18);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ExposedNotes::setTimeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  longest_.clear();
  if (timeline_) {
    const auto& pieces = timeline_->lane(Stream::communication).pieces();
    std::ranges::copy_if(pieces, std::back_inserter(longest_),
                         [](const Piece& piece) { return piece.kind == Kind::exposed; });
    std::ranges::sort(longest_, std::ranges::greater{},
                      [](const Piece& piece) { return piece.time.length(); });
    longest_.resize(std::min(longest_.size(), kMax));
  }
  update();
}

void ExposedNotes::setAxis(const TimeAxis& axis) {
  axis_ = axis;
  update();
}

void ExposedNotes::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = colors();
  painter.fillRect(rect(), c.surface);
  painter.setFont(font::mono(11));
  const QFontMetricsF metrics(painter.font());
  std::vector<QRectF> taken;
  double longest = 0;  // of the spans in view
  for (const Piece& piece : longest_) {
    const double middle = static_cast<double>(piece.time.begin + piece.time.end) / 2;
    if (middle < axis_.beginUs || middle > axis_.endUs) continue;
    const auto length = static_cast<double>(piece.time.length());
    longest = std::max(longest, length);
    if (length < longest * kShare) break;
    const telemetry::Span& span = timeline_->lane(Stream::communication).spans()[piece.span];
    const QString words = QStringLiteral("%1: %2 %3")
                              .arg(duration(piece.time.length()), QString::fromStdString(span.name),
                                   QString::fromStdString(span.module));
    const double x = axis_.toPixel(middle);
    const double width = metrics.horizontalAdvance(words);
    const bool leftwards = x + 10 + width > axis_.left + axis_.width;
    const QRectF at(leftwards ? x - 8 - width : x + 8, 0, width, height());
    const QRectF whole = at.adjusted(-10, 0, 10, 0);
    if (at.left() < axis_.left ||
        std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(whole); }))
      continue;
    taken.push_back(whole);
    painter.setPen(QPen(c.exposed, 1));
    painter.drawLine(QPointF(x, 0), QPointF(x, height() / 2.0));
    painter.drawLine(QPointF(x, height() / 2.0),
                     QPointF(leftwards ? x - 5 : x + 5, height() / 2.0));
    painter.setPen(c.badText);
    painter.drawText(at, Qt::AlignVCenter | Qt::AlignLeft, words);
  }
}

}  // namespace heddle::gui
