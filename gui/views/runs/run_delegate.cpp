#include "gui/views/runs/run_delegate.h"

#include <QPainter>
#include <QStyle>
#include <QTableView>
#include <algorithm>

#include "gui/models/state_look.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/views/runs/run_selection.h"
#include "gui/widgets/sparkline.h"

namespace heddle::gui {
namespace {

constexpr int kStroke = 18;  // length of the run's stroke before its name
// At its right the header keeps room for the sort arrow: values end where its words do.
constexpr int kLeft = 8, kRight = 12;
constexpr int kIcon = 20;
constexpr int kCurve = 60;

const RunRow& rowOf(const QModelIndex& index) {
  return static_cast<const RunsProxy*>(index.model())->row(index);
}

bool isText(int column) {
  return column == RunsModel::State || column == RunsModel::Target || column == RunsModel::Recipe ||
         column == RunsModel::Created;
}

}  // namespace

void RunDelegate::paintBackground(QPainter* painter, const QStyleOptionViewItem& option) const {
  const Colors& c = colors();
  const auto* table = static_cast<const QTableView*>(option.widget);
  const bool current = table->currentIndex().row() == option.index.row();
  const bool selected = option.state & QStyle::State_Selected;
  painter->fillRect(option.rect, current ? c.current : selected ? c.selected : c.surface);
  painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1),
                    blend(c.surface, c.line, 0.5));
  if (current && option.index.column() == 0)
    painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()),
                      c.accent);
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& given,
                        const QModelIndex& index) const {
  QStyleOptionViewItem option = given;
  option.index = index;
  const Colors& c = colors();
  const bool selected = option.state & QStyle::State_Selected;
  painter->save();
  paintBackground(painter, option);
  QRect cell = option.rect.adjusted(kLeft, 0, -kRight, -1);
  const RunRow& row = rowOf(index);
  const QVariant tone = index.data(RunsModel::ToneRole);
  const auto slot = slots_.constFind(row.summary.id);
  const bool chosen = slot != slots_.constEnd();
  QColor color = tone.isNull() ? c.text : colorOf(static_cast<Tone>(tone.toInt()));

  switch (index.column()) {
    case RunsModel::Check: {
      QStyleOptionViewItem box = option;
      box.rect = QRect(cell.left(), cell.center().y() - 7, 16, 16);
      const auto* table = static_cast<const QTableView*>(option.widget);
      box.state.setFlag(
          QStyle::State_On,
          selected && static_cast<const RunSelection*>(table->selectionModel())->ticks());
      box.state.setFlag(QStyle::State_HasFocus, false);
      option.widget->style()->drawPrimitive(QStyle::PE_IndicatorItemViewItemCheck, &box, painter,
                                            option.widget);
      painter->restore();
      return;
    }
    case RunsModel::Curve: {
      const QColor line = chosen ? runStroke(*slot, Theme::instance().scheme()).color : c.other;
      const QRectF room(cell.left(), cell.center().y() - 8, cell.width(), 18);
      paintSparkline(painter, room, row.curve, line, false);
      painter->restore();
      return;
    }
    case RunsModel::State: {
      const StateLook look = lookOf(row.summary.state, row.contactLook());
      icon(look.icon, look.tone).paint(painter, QRect(cell.left(), cell.center().y() - 6, 14, 14));
      cell.setLeft(cell.left() + kIcon);
      break;
    }
    case RunsModel::Name:
      if (chosen) {
        paintRunStroke(*painter, QRectF(cell.left(), cell.top(), kStroke, cell.height() + 2),
                       runStroke(*slot, Theme::instance().scheme()));
        cell.setLeft(cell.left() + kStroke + 6);
      }
      break;
    default:
      if (isText(index.column())) color = tone.isNull() ? c.muted : color;
  }
  painter->setFont(isText(index.column())
                       ? font::text()
                       : font::mono(12, index.column() == RunsModel::Name && chosen
                                            ? QFont::DemiBold
                                            : QFont::Normal));
  painter->setPen(color);
  const auto alignment = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
  painter->drawText(
      cell, static_cast<int>(alignment),
      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, cell.width()));
  painter->restore();
}

QSize RunDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  const int column = index.column();
  if (column == RunsModel::Check) return {kLeft + kRight + 8, 0};
  if (column == RunsModel::Curve) return {kLeft + kRight + kCurve, 0};
  const QFont font = isText(column)              ? font::text()
                     : column == RunsModel::Name ? font::mono(12, QFont::DemiBold)
                                                 : font::mono(12);
  const int before = column == RunsModel::State  ? kIcon
                     : column == RunsModel::Name ? kStroke + 6
                                                 : 0;
  const QFontMetrics metrics(font);
  int text = metrics.horizontalAdvance(index.data().toString());
  // A state changes while one looks, and a filter lets others through.
  if (column == RunsModel::State)
    for (const std::string& state : workbench::state_names())
      text = std::max(text, metrics.horizontalAdvance(QString::fromStdString(state)));
  // So does how long ago a run was made.
  if (column == RunsModel::Created)
    for (const char* when : {"59 min ago", "today 00:00", "yesterday", "30 Nov 2000"})
      text = std::max(text, metrics.horizontalAdvance(QLatin1String(when)));
  return {kLeft + before + text + 1 + kRight, 0};
}

}  // namespace heddle::gui
