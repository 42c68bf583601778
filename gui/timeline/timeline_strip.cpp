#include "gui/timeline/timeline_strip.h"

#include <QPainter>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/lane_painter.h"

namespace heddle::gui {
namespace {

constexpr int kLane = 16, kStripGap = 3;

}  // namespace

TimelineStrip::TimelineStrip(QWidget* parent) : QWidget(parent) {
  setFixedHeight(2 * kLane + kStripGap);
  setMinimumWidth(64);
  setAccessibleName(tr("Step in small"));
  setTimeline({});
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TimelineStrip::setTimeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  setAccessibleDescription(
      timeline_ && !timeline_->empty()
          ? tr("Compute and communication over %1")
                .arg(format::seconds(static_cast<double>(timeline_->lengthUs()) * 1e-6))
          : tr("No step is known"));
  update();
}

void TimelineStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRect lanes[] = {{0, 0, width(), kLane}, {0, kLane + kStripGap, width(), kLane}};
  for (const QRect& lane : lanes) painter.fillRect(lane, colors().raised);
  if (!timeline_ || timeline_->empty()) return;
  TimeAxis axis;
  axis.lengthUs = static_cast<double>(timeline_->lengthUs());
  axis.width = width();
  axis.fit();
  LanePainter painted(painter, axis);
  for (const Stream stream : {Stream::compute, Stream::communication})
    painted.paint(timeline_->lane(stream), lanes[static_cast<size_t>(stream)], 0, {});
}

}  // namespace heddle::gui
