#include "gui/views/compose/bucket_bands.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

// A band as tall as kTwoLines tells its parameters too.
constexpr double kTwoLines = 38;
constexpr double kTallest = 52, kFlattest = 20, kBetween = 2, kReach = 4;

}  // namespace

BucketBands::BucketBands(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("buckets"));
  setAccessibleName(tr("Buckets"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  policy.setVerticalStretch(1000);  // before the stretch below it
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void BucketBands::setBuckets(const BucketList& list) {
  list_ = list;
  current_ = std::min(current_, static_cast<int>(list.buckets.size()) - 1);
  setMaximumHeight(static_cast<int>(kTallest) * static_cast<int>(list.buckets.size()));
  QStringList all;
  for (int bucket = 0; bucket < list.buckets.size(); ++bucket) all << words(bucket);
  setAccessibleDescription(all.join(QStringLiteral("; ")));
  update();
}

QString BucketBands::words(int bucket) const {
  const Bucket& b = list_.buckets[bucket];
  QString text = b.name;
  if (b.elements > 0) text += tr(": %1 parameters").arg(format::count(b.elements));
  for (int rank = 0; rank < b.gathered.size(); ++rank) {
    if (b.gathered[rank] == 0) continue;
    const QString size = format::bytes(static_cast<double>(b.gathered[rank]));
    text += b.gathered.size() == 1
                ? tr(", a rank gathers %1").arg(size)
                : tr(", a rank of pipeline rank %1 gathers %2").arg(rank).arg(size);
  }
  return text;
}

BucketBands::Rows BucketBands::rows() const {
  Rows rows;
  const int count = static_cast<int>(list_.buckets.size());
  const int room = std::max(3, static_cast<int>(height() / kFlattest));
  rows.count = std::min(count, room);
  if (rows.count < count) {
    rows.folded = rows.count - 2;
    rows.hidden = count - rows.count + 1;
  }
  rows.height =
      rows.count == 0 ? 0 : std::min(kTallest, static_cast<double>(height()) / rows.count);
  return rows;
}

int BucketBands::bucketOf(int row) const {
  const Rows r = rows();
  if (row < 0 || row >= r.count || row == r.folded) return -1;
  return r.folded >= 0 && row > r.folded ? row + r.hidden - 1 : row;
}

int BucketBands::rowAt(double y) const {
  const Rows r = rows();
  return r.height > 0 && y < r.height * r.count ? static_cast<int>(y / r.height) : -1;
}

QRectF BucketBands::bandRect(int bucket) const {
  const Rows r = rows();
  for (int row = 0; row < r.count; ++row) {
    if (bucketOf(row) == bucket) {
      return {0, row * r.height, static_cast<double>(width()), r.height - kBetween};
    }
  }
  return {};
}

int BucketBands::edgeAt(double y) const {
  if (!list_.movable) return -1;
  const Rows r = rows();
  const int below = static_cast<int>(std::lround(y / std::max(1.0, r.height)));
  if (below < 1 || below >= r.count || std::abs(y - below * r.height + kBetween / 2) > kReach)
    return -1;
  const int upper = bucketOf(below - 1);
  return upper >= 0 && bucketOf(below) == upper + 1 ? upper : -1;
}

QList<int> BucketBands::firsts() const {
  QList<int> all;
  for (const Bucket& bucket : list_.buckets) all << bucket.first;
  return all;
}

void BucketBands::moveEdge(int edge, int first) {
  const Bucket& upper = list_.buckets[edge];
  const Bucket& lower = list_.buckets[edge + 1];
  const int wanted = std::clamp(first, upper.first + 1, lower.last);
  if (wanted == lower.first) return;
  QList<int> all = firsts();
  all[edge + 1] = wanted;
  Q_EMIT firstsChanged(all);
}

void BucketBands::split(int bucket) {
  if (!list_.movable || bucket < 0) return;
  const Bucket& whole = list_.buckets[bucket];
  if (whole.first == whole.last) return;
  QList<int> all = firsts();
  all.insert(bucket + 1, (whole.first + whole.last + 1) / 2);
  Q_EMIT firstsChanged(all);
  Q_EMIT moved();
}

void BucketBands::join(int edge) {
  if (!list_.movable || edge < 0 || edge + 1 >= list_.buckets.size()) return;
  QList<int> all = firsts();
  all.removeAt(edge + 1);
  Q_EMIT firstsChanged(all);
  Q_EMIT moved();
}

void BucketBands::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = colors();
  const Rows r = rows();
  for (int row = 0; row < r.count; ++row) {
    const QRectF band(0, row * r.height, width(), r.height - kBetween);
    if (row == r.folded) {
      painter.setFont(font::text(12));
      painter.setPen(c.muted);
      painter.drawText(band.adjusted(40, 0, -8, 0), Qt::AlignVCenter | Qt::AlignLeft,
                       tr("⋯ %1 more").arg(format::count(r.hidden)));
    } else {
      paintBand(painter, band, bucketOf(row));
    }
  }
  if (!list_.movable) return;
  for (int row = 1; row < r.count; ++row) {
    const int upper = bucketOf(row - 1);
    if (upper < 0 || bucketOf(row) != upper + 1) continue;
    const bool active = upper == dragged_ || (dragged_ < 0 && upper == hovered_);
    const double y = row * r.height - kBetween / 2;
    painter.setPen(Qt::NoPen);
    painter.setBrush(active ? c.accent : blend(c.window, c.muted, 0.6));
    if (active) painter.drawRect(QRectF(0, y - 1, width(), 2));
    painter.drawRoundedRect(QRectF(width() / 2.0 - 10, y - 1.5, 20, 3), 1.5, 1.5);
  }
}

void BucketBands::paintBand(QPainter& painter, const QRectF& band, int bucket) {
  const Colors& c = colors();
  const Bucket& shown = list_.buckets[bucket];
  static constexpr int kSlots[] = {0, 4, 3};
  const QColor color =
      list_.known ? runStroke(kSlots[bucket % 3], Theme::instance().scheme()).color : c.other;
  painter.setPen(Qt::NoPen);
  painter.setBrush(blend(c.surface, color, 0.16));
  painter.drawRoundedRect(band, 3, 3);
  painter.setBrush(color);
  painter.drawRect(QRectF(band.left(), band.top(), 4, band.height()));
  if (bucket == current_ && hasFocus()) {
    painter.setPen(QPen(c.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(band.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  }
  painter.setFont(font::mono(11));
  painter.setPen(blend(c.surface, c.text, 0.75));
  if (list_.known) {
    painter.drawText(QRectF(band.left() + 6, band.top(), 26, band.height()),
                     Qt::AlignVCenter | Qt::AlignRight, QString::number(bucket + 1));
  }
  const QString size = shown.gathered.isEmpty()
                           ? QString()
                           : format::bytes(static_cast<double>(shown.mostGathered()));
  painter.drawText(band.adjusted(0, 0, -10, 0), Qt::AlignVCenter | Qt::AlignRight, size);
  const double left = band.left() + (list_.known ? 42 : 14);
  const double room = band.right() - 18 - painter.fontMetrics().horizontalAdvance(size) - left;
  painter.setFont(font::text(12));
  painter.setPen(c.text);
  const bool two = band.height() >= kTwoLines;
  const QRectF line(left, two ? band.center().y() - 17 : band.top(), room,
                    two ? 17 : band.height());
  painter.drawText(
      line, Qt::AlignVCenter | Qt::AlignLeft,
      painter.fontMetrics().elidedText(shown.name, Qt::ElideMiddle, static_cast<int>(room)));
  if (!two || shown.elements == 0) return;
  painter.setFont(font::text(11));
  painter.setPen(blend(c.surface, c.text, 0.75));
  painter.drawText(
      line.translated(0, 17), Qt::AlignVCenter | Qt::AlignLeft,
      tr("%1 parameters").arg(format::shortCount(static_cast<double>(shown.elements))));
}

void BucketBands::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const double y = event->position().y();
  dragged_ = edgeAt(y);
  pressed_ = y;
  if (dragged_ >= 0) {
    pressedFirst_ = list_.buckets[dragged_ + 1].first;
  } else {
    current_ = bucketOf(rowAt(y));
  }
  update();
}

void BucketBands::mouseMoveEvent(QMouseEvent* event) {
  const double y = event->position().y();
  if (dragged_ >= 0 && list_.movable && dragged_ + 1 < list_.buckets.size()) {
    // A third of a band is a module: an edge is moved over many of them without a long way.
    moveEdge(dragged_,
             pressedFirst_ + static_cast<int>(std::lround((y - pressed_) / (rows().height / 3))));
    return;
  }
  const int edge = edgeAt(y);
  const int bucket = bucketOf(rowAt(y));
  setCursor(edge >= 0 ? Qt::SplitVCursor : Qt::ArrowCursor);
  setToolTip(
      edge >= 0 ? tr("Drag to move modules from one bucket to the other; double-click to join them")
      : bucket >= 0 ? words(bucket) + (list_.movable ? tr(". Double-click to split") : QString())
                    : QString());
  if (edge != hovered_) update();
  hovered_ = edge;
}

void BucketBands::mouseReleaseEvent(QMouseEvent*) {
  if (dragged_ < 0) return;
  dragged_ = -1;
  update();
  Q_EMIT moved();
}

void BucketBands::mouseDoubleClickEvent(QMouseEvent* event) {
  const double y = event->position().y();
  const int edge = edgeAt(y);
  dragged_ = -1;
  if (edge >= 0) {
    join(edge);
  } else {
    split(bucketOf(rowAt(y)));
  }
}

void BucketBands::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(list_.buckets.size()) - 1;
  const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if (last < 0) return QWidget::keyPressEvent(event);
  if (step != 0 && event->modifiers() == Qt::AltModifier && list_.movable && current_ >= 1) {
    moveEdge(current_ - 1, list_.buckets[current_].first + step);
    Q_EMIT moved();
  } else if (step != 0) {
    current_ = std::clamp(current_ + step, 0, last);
  } else if (event->key() == Qt::Key_Space) {
    split(current_);
  } else if (event->key() == Qt::Key_Backspace) {
    join(current_ - 1);
  } else {
    return QWidget::keyPressEvent(event);
  }
  update();
}

void BucketBands::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

}  // namespace heddle::gui
