#include "gui/views/compose/bucket_bands.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/bucket_painter.h"

namespace heddle::gui {
namespace {

constexpr double kTallestBand = 52, kFlattest = 20, kBetween = 2, kReach = 4;

}  // namespace

BucketBands::BucketBands(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("buckets"));
  setAccessibleName(tr("Buckets"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void BucketBands::setBuckets(const BucketList& list) {
  list_ = list;
  current_ = std::clamp(current_, 0, std::max(0, static_cast<int>(list.buckets.size()) - 1));
  const int count = static_cast<int>(list.buckets.size());
  setMinimumHeight(static_cast<int>(kFlattest) * count);
  setMaximumHeight(static_cast<int>(kTallestBand) * std::max(1, count));
  QStringList all;
  for (int bucket = 0; bucket < list.buckets.size(); ++bucket) all << words(bucket);
  setAccessibleDescription(all.join(QStringLiteral("; ")));
  update();
  if (dragged_ >= 0) reportDrag();
}

void BucketBands::reportDrag() {
  const auto& all = list_.buckets;
  const auto above = std::ranges::find(all, draggedTo_ - 1, &Bucket::last);
  const auto below = std::ranges::find(all, draggedTo_, &Bucket::first);
  QStringList words;
  for (const auto& each : {above, below})
    if (each != all.end()) words << each->name;
  QString text = words.join(QStringLiteral("  |  "));
  if (above != all.end() && above->gatherSeconds > 0 && pressedGather_ > 0)
    text += tr("   gather %1 → %2")
                .arg(format::seconds(pressedGather_), format::seconds(above->gatherSeconds));
  Q_EMIT dragged(text, pointer_);
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
  if (b.gatherSeconds > 0) text += tr(" in %1").arg(format::seconds(b.gatherSeconds));
  if (b.exposedSeconds > 0)
    text += tr(", %1 of its transfers exposed").arg(format::seconds(b.exposedSeconds));
  return text;
}

double BucketBands::bandHeight() const {
  return list_.buckets.isEmpty()
             ? kTallestBand
             : std::clamp(static_cast<double>(height()) / static_cast<double>(list_.buckets.size()),
                          kFlattest, kTallestBand);
}

int BucketBands::bucketAt(double y) const {
  const int bucket = static_cast<int>(y / bandHeight());
  return y >= 0 && bucket < list_.buckets.size() ? bucket : -1;
}

QRectF BucketBands::bandRect(int bucket) const {
  return {0, bucket * bandHeight(), static_cast<double>(width()), bandHeight() - kBetween};
}

int BucketBands::edgeAt(double y) const {
  if (!list_.movable) return -1;
  const int below = static_cast<int>(std::lround(y / bandHeight()));
  const bool edge = below >= 1 && below < list_.buckets.size() &&
                    std::abs(y - below * bandHeight() + kBetween / 2) <= kReach;
  return edge ? below - 1 : -1;
}

QList<int> BucketBands::firsts() const {
  QList<int> all;
  for (const Bucket& bucket : list_.buckets) all << bucket.first;
  return all;
}

/// Moves the edge after bucket `edge` of those that begin at `from` to the module `first`. A bucket
/// that is left with nothing goes.
void BucketBands::moveEdge(const QList<int>& from, int edge, int first) {
  const int end = list_.buckets.last().last + 1;
  const int most = edge + 2 < from.size() ? from[edge + 2] : end;
  QList<int> all = from;
  all[edge + 1] = draggedTo_ = std::clamp(first, from[edge], most);
  if (all[edge + 1] == end) all.removeLast();
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all != firsts()) Q_EMIT firstsChanged(all);
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

void BucketBands::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = colors();
  for (int bucket = 0; bucket < list_.buckets.size(); ++bucket) {
    if (event->region().intersects(bandRect(bucket).toAlignedRect()))
      paintBucket(painter, bandRect(bucket), list_, bucket, bucket == current_ && hasFocus());
  }
  if (!list_.movable) return;
  for (int edge = 0; edge + 1 < list_.buckets.size(); ++edge) {
    const bool active =
        dragged_ >= 0 ? list_.buckets[edge + 1].first == draggedTo_ : edge == hovered_;
    const double y = (edge + 1) * bandHeight() - kBetween / 2;
    painter.setPen(Qt::NoPen);
    painter.setBrush(active ? c.accent : blend(c.window, c.muted, 0.6));
    if (active) painter.drawRect(QRectF(0, y - 1, width(), 2));
    painter.drawRoundedRect(QRectF(width() / 2.0 - 10, y - 1.5, 20, 3), 1.5, 1.5);
  }
}

void BucketBands::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const double y = event->position().y();
  dragged_ = edgeAt(y);
  pressedY_ = y;
  pressedFirsts_ = firsts();
  if (dragged_ >= 0) {
    draggedTo_ = pressedFirsts_[dragged_ + 1];
    pressedGather_ = list_.buckets[dragged_].gatherSeconds;
    Q_EMIT pressed();
  } else if (const int bucket = bucketAt(y); bucket >= 0) {
    current_ = bucket;
    Q_EMIT chosen(list_.buckets[current_]);
  }
  update();
}

void BucketBands::mouseMoveEvent(QMouseEvent* event) {
  const double y = event->position().y();
  if (dragged_ >= 0 && list_.movable) {
    // A third of a band is a module: an edge is moved over many of them without a long way.
    const int modules = static_cast<int>(std::lround((y - pressedY_) / (bandHeight() / 3)));
    pointer_ = event->globalPosition().toPoint();
    moveEdge(pressedFirsts_, dragged_, pressedFirsts_[dragged_ + 1] + modules);
    return reportDrag();
  }
  const int edge = edgeAt(y);
  const int bucket = bucketAt(y);
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
    split(bucketAt(y));
  }
}

void BucketBands::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(list_.buckets.size()) - 1;
  const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if (last < 0) return QWidget::keyPressEvent(event);
  if (step != 0 && event->modifiers() == Qt::AltModifier && list_.movable && current_ >= 1) {
    moveEdge(firsts(), current_ - 1, list_.buckets[current_].first + step);
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

void BucketBands::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  const int bucket = !list_.movable ? -1 : byKey ? current_ : bucketAt(event->pos().y());
  QMenu menu(this);
  QAction* parted = menu.addAction(tr("Split"), this, [this, bucket] { split(bucket); });
  parted->setEnabled(bucket >= 0 && list_.buckets[bucket].first < list_.buckets[bucket].last);
  QAction* joined =
      menu.addAction(tr("Join with the next"), this, [this, bucket] { join(bucket); });
  joined->setEnabled(bucket >= 0 && bucket + 1 < list_.buckets.size());
  menu.addSeparator();
  addEveryActions(menu, *this);
  menu.exec(event->globalPos());
}

void addEveryActions(QMenu& menu, BucketBands& bands) {
  for (const int layers : {1, 2, 3, 4, 6, 8, 9, 16}) {
    const QString name = layers == 1 ? BucketBands::tr("A bucket a layer")
                                     : BucketBands::tr("Every %1 layers").arg(layers);
    QAction* action =
        menu.addAction(name, &bands, [&bands, layers] { Q_EMIT bands.everyRequested(layers); });
    action->setObjectName(QStringLiteral("every%1").arg(layers));
  }
}

void BucketBands::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

}  // namespace heddle::gui
