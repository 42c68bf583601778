#include "gui/views/compose/mesh_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr qint64 kMostCells = 2048;  // more ranks than can be told apart: the first are drawn
constexpr int64_t kFills = 3;        // of a colour: more groups than colours differ in their fill

}  // namespace

MeshView::MeshView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("mesh"));
  setAccessibleName(tr("Device mesh"));
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MeshView::setMesh(const recipe::Mesh& mesh, qint64 ranks, bool valid) {
  mesh_ = mesh;
  ranks_ = std::clamp<qint64>(ranks, 1, kMostCells);
  valid_ = valid;
  setAccessibleDescription(tr("%n rank(s)", nullptr, static_cast<int>(ranks)));
  setFixedHeight(heightForWidth(width()));
  update();
}

int MeshView::columns() const {
  return static_cast<int>(ranks_ <= 8     ? std::max<qint64>(ranks_, 4)
                          : ranks_ <= 64  ? 8
                          : ranks_ <= 256 ? 16
                                          : 32);
}

double MeshView::pitch(double width) const { return width / columns(); }

double MeshView::cellHeight(double width) const {
  return std::clamp(pitch(width) * 0.8, 6.0, 34.0);
}

int MeshView::heightForWidth(int width) const {
  const qint64 rows = (ranks_ + columns() - 1) / columns();
  return static_cast<int>(static_cast<double>(rows) * (cellHeight(width) + 2));
}

void MeshView::resizeEvent(QResizeEvent*) { setFixedHeight(heightForWidth(width())); }

void MeshView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = colors();
  const double across = pitch(width());
  const double tall = cellHeight(width());
  painter.setFont(font::mono(11));
  for (qint64 rank = 0; rank < ranks_; ++rank) {
    const QRectF cell(static_cast<double>(rank % columns()) * across,
                      static_cast<double>(rank / columns()) * (tall + 2), across - 2, tall);
    const int64_t group = mesh_.index(rank, recipe::kWorld & ~recipe::kSharing);
    const int slot = static_cast<int>(group % kRunColors);
    const auto round = static_cast<double>(group / kRunColors % kFills);
    const QColor color = valid_ ? runStroke(slot, Theme::instance().scheme()).color : c.other;
    painter.setPen(QPen(blend(c.surface, color, tall < 14 ? 0.5 : 0.85), 1));
    painter.setBrush(blend(c.surface, color, 0.22 + 0.13 * round));
    painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), tall < 14 ? 1 : 4,
                            tall < 14 ? 1 : 4);
    if (across < 26 || tall < 14) continue;
    painter.setPen(c.text);
    painter.drawText(cell, Qt::AlignCenter, QString::number(rank));
  }
}

bool MeshView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const qint64 column = static_cast<qint64>(help->x() / pitch(width()));
    const qint64 rank =
        static_cast<qint64>(help->y() / (cellHeight(width()) + 2)) * columns() + column;
    if (rank < 0 || rank >= ranks_ || !valid_) {
      QToolTip::hideText();
      return true;
    }
    const auto at = [&](recipe::Dims dim) { return mesh_.index(rank, dim); };
    QToolTip::showText(help->globalPos(),
                       tr("rank %1: pp %2, dp_replicate %3, dp_shard %4, cp %5, tp %6")
                           .arg(rank)
                           .arg(at(recipe::kPp))
                           .arg(at(recipe::kReplicate))
                           .arg(at(recipe::kShard))
                           .arg(at(recipe::kCp))
                           .arg(at(recipe::kTp)),
                       this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace heddle::gui
