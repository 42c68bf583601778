#include "gui/views/targets/node_grid.h"

#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

using remote::ClusterNode;

constexpr int kCellWidth = 64, kCellHeight = 48, kGap = 4, kMaxRows = 6;
enum Role { UseRole = Qt::UserRole + 1, ShareRole, CountRole };

/// GPUs where it has some, else cores: "4/8".
QString countOf(const ClusterNode& node) {
  return node.gpus > 0 ? QStringLiteral("%1/%2").arg(node.gpus_used).arg(node.gpus)
                       : QStringLiteral("%1/%2").arg(node.cores_used).arg(node.cores);
}

double shareOf(const ClusterNode& node) {
  const auto share = [](auto used, auto all) {
    return all > 0 ? std::clamp(static_cast<double>(used) / static_cast<double>(all), 0.0, 1.0) : 0;
  };
  return node.gpus > 0 ? share(node.gpus_used, node.gpus) : share(node.cores_used, node.cores);
}

QString toolTipOf(const ClusterNode& node) {
  QStringList lines{QObject::tr("%1: %2 (%3)")
                        .arg(QString::fromStdString(node.name), NodeGrid::wordOf(node.use()),
                             QString::fromStdString(node.state).toLower())};
  lines << QObject::tr("%1 of %2 cores in use, %3 of memory")
               .arg(node.cores_used)
               .arg(node.cores)
               .arg(format::bytes(static_cast<double>(node.memory_bytes)));
  if (node.gpus > 0)
    lines << QObject::tr("%1 of %2 GPUs in use%3")
                 .arg(node.gpus_used)
                 .arg(node.gpus)
                 .arg(node.gpu_kind.empty()
                          ? QString()
                          : QStringLiteral(", ") + QString::fromStdString(node.gpu_kind));
  if (!node.reason.empty()) lines << QString::fromStdString(node.reason);
  return lines.join(QLatin1Char('\n'));
}

class NodeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {kCellWidth, kCellHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const auto use = static_cast<ClusterNode::Use>(index.data(UseRole).toInt());
    const QColor color = NodeGrid::colorOf(use);
    const QRectF box = QRectF(option.rect).adjusted(1, 1, -kGap, -kGap);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(blend(colors().surface, color, 0.12));
    painter->drawRoundedRect(box, 4, 4);
    QRectF filled = box;
    filled.setTop(box.bottom() - box.height() * index.data(ShareRole).toDouble());
    painter->save();
    painter->setClipRect(filled);
    painter->setBrush(blend(colors().surface, color, 0.4));
    painter->drawRoundedRect(box, 4, 4);
    painter->restore();
    const bool current = option.state & QStyle::State_HasFocus;
    painter->setPen(QPen(current ? colors().accent : color, current ? 2 : 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(box, 4, 4);
    const QRectF upper(box.left() + 4, box.top() + 4, box.width() - 8, 18);
    painter->setPen(colors().text);
    painter->setFont(font::text(12, QFont::DemiBold));
    painter->drawText(upper, Qt::AlignCenter,
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle,
                                                        static_cast<int>(upper.width())));
    painter->setFont(font::mono(11));
    painter->drawText(upper.translated(0, 18), Qt::AlignCenter, index.data(CountRole).toString());
    painter->restore();
  }
};

}  // namespace

NodeGrid::NodeGrid(QWidget* parent) : QListView(parent) {
  setObjectName(QStringLiteral("nodes"));
  setAccessibleName(tr("Nodes"));
  setModel(&model_);
  setItemDelegate(new NodeDelegate(this));
  setViewMode(QListView::IconMode);
  setMovement(QListView::Static);
  setResizeMode(QListView::Adjust);
  setUniformItemSizes(true);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
}

void NodeGrid::setNodes(const std::vector<ClusterNode>& nodes) {
  model_.clear();
  for (const ClusterNode& node : nodes) {
    auto* item = new QStandardItem(QString::fromStdString(node.name));
    item->setData(static_cast<int>(node.use()), UseRole);
    item->setData(shareOf(node), ShareRole);
    item->setData(countOf(node), CountRole);
    item->setToolTip(toolTipOf(node));
    item->setData(toolTipOf(node), Qt::AccessibleTextRole);
    model_.appendRow(item);
  }
  fitHeight();
}

QString NodeGrid::wordOf(ClusterNode::Use use) {
  switch (use) {
    case ClusterNode::Use::idle:
      return tr("idle");
    case ClusterNode::Use::mixed:
      return tr("partly allocated");
    case ClusterNode::Use::allocated:
      return tr("allocated");
    case ClusterNode::Use::draining:
      return tr("drained or reserved");
    case ClusterNode::Use::down:
      return tr("down");
  }
  return {};
}

QColor NodeGrid::colorOf(ClusterNode::Use use) {
  switch (use) {
    case ClusterNode::Use::idle:
      return colors().good;
    case ClusterNode::Use::mixed:
    case ClusterNode::Use::allocated:
      return colors().compute;
    case ClusterNode::Use::draining:
      return colors().warn;
    case ClusterNode::Use::down:
      return colors().bad;
  }
  return colors().muted;
}

void NodeGrid::resizeEvent(QResizeEvent* event) {
  QListView::resizeEvent(event);
  fitHeight();
}

/// As many rows as it needs; the rest scrolls.
void NodeGrid::fitHeight() {
  const int columns = std::max(1, viewport()->width() / kCellWidth);
  const int rows = (model_.rowCount() + columns - 1) / columns;
  setFixedHeight(std::clamp(rows, 1, kMaxRows) * kCellHeight + 2);
}

}  // namespace heddle::gui
