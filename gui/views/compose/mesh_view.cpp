#include "gui/views/compose/mesh_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <ranges>

#include "gui/format.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kLegend = 20, kNames = 52, kTallestCell = 200;
constexpr qint64 kNumbered = 64;    // cells with their numbers, a row a node
constexpr qint64 kMaxCells = 4096;  // more cannot be told apart
constexpr qint64 kFills = 3;        // of a colour: more groups than colours differ in their fill

/// The axes, innermost first: ranks that are next to each other are told apart first.
constexpr auto kInnermostFirst = std::views::reverse(recipe::kAxes);

QColor slotColor(qint64 slot) {
  return runStroke(static_cast<int>(slot % kRunColors), Theme::instance().scheme()).color;
}

}  // namespace

MeshView::MeshView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("mesh"));
  setAccessibleName(tr("Device mesh"));
  setMouseTracking(true);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MeshView::setMesh(const recipe::Mesh& mesh, qint64 ranks, qint64 ranksPerNode, bool valid) {
  mesh_ = mesh;
  ranks_ = std::max<qint64>(1, ranks);
  perNode_ = std::max<qint64>(1, ranksPerNode);
  valid_ = valid;
  hovered_ = -1;
  setAccessibleDescription(format::plural(ranks_, counted::kRank));
  setFixedHeight(heightForWidth(width()));
  update();
}

MeshView::Grid MeshView::gridFor(int width) const {
  Grid grid;
  const qint64 nodes = (ranks_ + perNode_ - 1) / perNode_;
  if (ranks_ <= kNumbered) {
    grid.columns = static_cast<int>(std::min({ranks_, perNode_, qint64{8}}));
    grid.rows = static_cast<int>((std::min(ranks_, perNode_) + grid.columns - 1) / grid.columns);
    grid.left = nodes > 1 ? kNames : 0;
    grid.wide = std::max(8, (width - grid.left) / std::max(4, grid.columns) - 2);
    grid.tall = ranks_ <= 32 ? 26 : 20;
    grid.acrossGap = grid.downGap = 4;
    grid.height = static_cast<int>(nodes) * (grid.rows * (grid.tall + 2) + 2);
    return grid;
  }
  // A node is a block, then a cell: as large as leaves all of them in sight.
  const bool blocks = ranks_ <= kMaxCells / 2;
  grid.perCell = blocks ? 1 : std::max(perNode_, (ranks_ + kMaxCells - 1) / kMaxCells);
  const qint64 inBlock = blocks ? perNode_ : 1;
  grid.columns = static_cast<int>(std::min<qint64>(4, inBlock));
  grid.rows = static_cast<int>((inBlock + grid.columns - 1) / grid.columns);
  const qint64 count = (cells(grid) + inBlock - 1) / inBlock;
  for (int size = 12; size >= 2; --size) {
    grid.wide = grid.tall = size;
    grid.acrossGap = grid.downGap = blocks ? std::max(2, size / 2 + 1) : 1;
    const int across = grid.columns * (size + 1) - 1 + grid.acrossGap;
    const int down = grid.rows * (size + 1) - 1 + grid.downGap;
    grid.blocks = std::max(1, (width + grid.acrossGap) / across);
    // A power of two in a row reads as one: 8 nodes, 16 nodes.
    while ((grid.blocks & (grid.blocks - 1)) != 0) grid.blocks &= grid.blocks - 1;
    grid.height = static_cast<int>((count + grid.blocks - 1) / grid.blocks) * down;
    if (grid.height <= kTallestCell) break;
  }
  return grid;
}

int MeshView::heightForWidth(int width) const { return gridFor(width).height + kLegend; }

QRect MeshView::cellRect(const Grid& grid, qint64 cell) const {
  const bool numbered = ranks_ <= kNumbered;
  const qint64 inBlock = numbered ? std::min(ranks_, perNode_) : grid.perCell > 1 ? 1 : perNode_;
  const int gap = numbered ? 2 : 1;
  const qint64 block = cell / inBlock;
  const int within = static_cast<int>(cell % inBlock);
  const int across = grid.columns * (grid.wide + gap) - gap + grid.acrossGap;
  const int down = grid.rows * (grid.tall + gap) - gap + grid.downGap;
  return {grid.left + static_cast<int>(block % grid.blocks) * across +
              within % grid.columns * (grid.wide + gap),
          static_cast<int>(block / grid.blocks) * down + within / grid.columns * (grid.tall + gap),
          grid.wide, grid.tall};
}

QRect MeshView::cellRect(qint64 rank) const {
  const Grid grid = gridFor(width());
  return cellRect(grid, rank / grid.perCell);
}

qint64 MeshView::rankAt(const QPoint& place) const {
  const Grid grid = gridFor(width());
  for (qint64 cell = 0; cell < cells(grid); ++cell)
    if (cellRect(grid, cell).adjusted(-1, -1, 1, 1).contains(place)) return cell * grid.perCell;
  return -1;
}

recipe::Dims MeshView::colored() const {
  if (mesh_.size(recipe::kPp) > 1) return recipe::kPp;
  return recipe::kWorld & ~recipe::kSharing;
}

recipe::Dims MeshView::groupOf(qint64 rank) const {
  for (const recipe::Axis& axis : kInnermostFirst) {
    const recipe::Dims others = recipe::kWorld & ~axis.dim;
    if (mesh_.size(axis.dim) > 1 && mesh_.index(rank, others) == mesh_.index(hovered_, others))
      return axis.dim;
  }
  return 0;
}

void MeshView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = colors();
  const Grid grid = gridFor(width());
  const bool numbered = ranks_ <= kNumbered;
  painter.setFont(font::mono(11));
  for (qint64 cell = 0; cell < cells(grid); ++cell) {
    const qint64 rank = cell * grid.perCell;
    const QRect box = cellRect(grid, cell);
    const qint64 group = mesh_.index(rank, colored());
    QColor color = valid_ ? slotColor(group) : c.other;
    const double round = static_cast<double>(group / kRunColors % kFills);
    double strength = numbered ? 0.22 + 0.13 * round : 0.75 - 0.2 * round;
    if (hovered_ >= 0 && valid_) {
      const recipe::Dims shared = groupOf(rank);
      strength = shared != 0 || rank == hovered_ ? 0.85 : 0.12;
      for (const recipe::Axis& axis : recipe::kAxes)
        if (axis.dim == shared) color = slotColor(axis.color);
      if (rank == hovered_) color = c.text;
    }
    painter.fillRect(box, blend(c.surface, color, strength));
    if (!numbered) continue;
    painter.setPen(blend(c.surface, color, std::max(strength, 0.85)));
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    if (rank % perNode_ == 0 && grid.left > 0) {
      painter.setPen(c.muted);
      painter.drawText(QRect(0, box.top(), grid.left, box.height()),
                       Qt::AlignVCenter | Qt::AlignLeft, tr("node %1").arg(rank / perNode_));
    }
    if (box.width() < 22) continue;
    painter.setPen(strength > 0.5 ? c.window : c.text);
    painter.drawText(box, Qt::AlignCenter, QString::number(rank));
  }
  paintLegend(painter);
}

void MeshView::paintLegend(QPainter& painter) const {
  const Colors& c = colors();
  const QRect line(0, height() - kLegend + 4, width(), kLegend - 4);
  painter.setFont(font::text(11));
  painter.setPen(c.muted);
  if (!valid_) return;
  if (hovered_ < 0) {
    const Grid grid = gridFor(width());
    QStringList words{colored() == recipe::kPp ? tr("a colour a pipeline stage")
                                               : tr("a colour a group of shards")};
    if (grid.perCell > 1) words << tr("a cell: %1 ranks").arg(format::count(grid.perCell));
    if (ranks_ > kNumbered && grid.perCell == 1) words << tr("a block: a node of %1").arg(perNode_);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, words.join(QStringLiteral(" · ")));
    return;
  }
  int x = 0;
  const auto word = [&](const QString& text, const QColor& color) {
    painter.fillRect(QRect(x, line.center().y() - 4, 8, 8), color);
    painter.setPen(c.text);
    painter.drawText(QRect(x + 12, line.top(), width(), line.height()),
                     Qt::AlignVCenter | Qt::AlignLeft, text);
    x += 12 + painter.fontMetrics().horizontalAdvance(text) + 10;
  };
  word(tr("rank %1").arg(hovered_), c.text);
  for (const recipe::Axis& axis : kInnermostFirst) {
    if (mesh_.size(axis.dim) == 1) continue;
    word(QStringLiteral("%1 %2").arg(QLatin1String(axis.name)).arg(mesh_.index(hovered_, axis.dim)),
         slotColor(axis.color));
  }
}

void MeshView::mouseMoveEvent(QMouseEvent* event) {
  const qint64 rank = valid_ ? rankAt(event->position().toPoint()) : -1;
  if (rank == hovered_) return;
  hovered_ = rank;
  update();
}

void MeshView::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

void MeshView::resizeEvent(QResizeEvent*) { setFixedHeight(heightForWidth(width())); }

}  // namespace heddle::gui
