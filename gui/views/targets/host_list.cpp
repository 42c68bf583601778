#include "gui/views/targets/host_list.h"

#include <QPainter>
#include <QStyledItemDelegate>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kRow = 52;

class HostDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {200, kRow};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool selected = option.state & QStyle::State_Selected;
    const bool hovered = option.state & QStyle::State_MouseOver;
    painter->fillRect(option.rect, selected  ? c.raised
                                   : hovered ? blend(c.surface, c.raised, 0.5)
                                             : c.surface);
    if (selected)
      painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, kRow), c.accent);
    const Tone tone = static_cast<Tone>(index.data(TargetListModel::ToneRole).toInt());
    QRectF dot(0, 0, 8, 8);
    dot.moveCenter(QPointF(option.rect.left() + 22, option.rect.top() + 17));
    if (index.data(TargetListModel::KnownRole).toBool()) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(colorOf(tone));
      painter->drawEllipse(dot);
    } else {
      painter->setPen(QPen(c.muted, 1.5));
      painter->drawEllipse(dot.adjusted(0.75, 0.75, -0.75, -0.75));
    }
    const QRect upper(option.rect.left() + 36, option.rect.top() + 7, option.rect.width() - 52, 20);
    const QRect lower = upper.translated(0, 19);
    pair(painter, upper, font::text(13, QFont::DemiBold), c.text, index.data().toString(),
         font::text(12), colorOf(tone), index.data(TargetListModel::StateRole).toString());
    pair(painter, lower, font::text(12), c.muted,
         index.data(TargetListModel::AddressRole).toString(), font::mono(11), c.muted,
         index.data(TargetListModel::EquipmentRole).toString());
    painter->restore();
  }

 private:
  /// A text at the left, elided, and one at the right, whole.
  static void pair(QPainter* painter, const QRect& room, const QFont& leftFont,
                   const QColor& leftColor, const QString& left, const QFont& rightFont,
                   const QColor& rightColor, const QString& right) {
    painter->setFont(rightFont);
    painter->setPen(rightColor);
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignRight, right);
    const int taken = right.isEmpty() ? 0 : painter->fontMetrics().horizontalAdvance(right) + 12;
    const QRect rest = room.adjusted(0, 0, -taken, 0);
    painter->setFont(leftFont);
    painter->setPen(leftColor);
    painter->drawText(rest, Qt::AlignVCenter | Qt::AlignLeft,
                      painter->fontMetrics().elidedText(left, Qt::ElideRight, rest.width()));
  }
};

}  // namespace

HostList::HostList(TargetListModel& model, QWidget* parent) : QListView(parent) {
  setObjectName(QStringLiteral("targets"));
  setAccessibleName(tr("Targets"));
  setModel(&model);
  setItemDelegate(new HostDelegate(this));
  setMouseTracking(true);
  setUniformItemSizes(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

}  // namespace heddle::gui
