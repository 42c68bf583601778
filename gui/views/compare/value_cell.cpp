#include "gui/views/compare/value_cell.h"

#include <QCoreApplication>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/cell_font.h"
#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kCellRight = 8, kMark = 14, kMarkGap = 4;
constexpr double kTint = 0.32;  // of the colour at full heat
constexpr int kShortText = 12;  // longer ones may be elided: the tooltip has them

QString tooltipOf(const ComparedKey& key, size_t run, size_t baseline) {
  const QString text = key.texts[static_cast<qsizetype>(run)];
  const auto found = key.difference(run, baseline);
  if (!found) return text.size() > kShortText ? text : QString();
  const storage::Difference& of = *found;
  const QString difference = key.differenceText(run, baseline);
  const QString words =
      QCoreApplication::translate("Compare", "%1\n%2 from the baseline's %3")
          .arg(text, difference,
               of.relative ? QStringLiteral("(%1)").arg(format::signedValue(
                                 format::percent(std::abs(*of.relative)), *of.relative < 0))
                           : QString());
  return of.better > 0   ? QCoreApplication::translate("Compare", "%1: better").arg(words.trimmed())
         : of.better < 0 ? QCoreApplication::translate("Compare", "%1: worse").arg(words.trimmed())
                         : words.trimmed();
}

}  // namespace

QVariant valueCell(const ComparedKey& key, size_t run, size_t baseline, bool difference, int role) {
  const auto at = static_cast<qsizetype>(run);
  switch (role) {
    case Qt::DisplayRole: {
      if (!difference || !key.isResult()) return key.texts[at];
      const QString change = key.differenceText(run, baseline);
      const bool hasColumn = key.compared.values.size() == 2;  // for differences
      return change.isEmpty() && !hasColumn ? key.texts[at] : change;
    }
    case Qt::ToolTipRole:
    case Qt::AccessibleDescriptionRole: {
      const QString tip = tooltipOf(key, run, baseline);
      return tip.isEmpty() ? QVariant() : tip;
    }
    case BestRole:
      return !difference && key.best[at];
    case HeatRole: {
      const auto change = key.difference(run, baseline);
      return change ? change->heat() * change->better : 0.0;
    }
    default:
      return {};
  }
}

void paintValueCell(QPainter& painter, const QStyleOptionViewItem& option,
                    const QModelIndex& index) {
  const Colors& c = colors();
  const bool muted = index.data(MutedRole).toBool();
  const double heat = muted ? 0 : index.data(HeatRole).toDouble();
  const bool best = !muted && index.data(BestRole).toBool();
  if (heat != 0)
    painter.fillRect(option.rect.adjusted(1, 0, -1, -1),
                     blend(c.surface, heat > 0 ? c.good : c.bad, kTint * std::abs(heat)));
  const QRect cell = option.rect.adjusted(kMark + kMarkGap, 0, -kCellRight, 0);
  painter.setFont(font::mono(12, best ? QFont::DemiBold : QFont::Normal));
  painter.setPen(muted ? c.muted : best ? c.goodText : c.text);
  const QString text =
      painter.fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, cell.width());
  painter.drawText(cell, Qt::AlignVCenter | Qt::AlignRight, text);
  const int left = cell.right() - painter.fontMetrics().horizontalAdvance(text) - kMark - kMarkGap;
  const QRect mark(std::max(left, option.rect.left() + 1), cell.center().y() - kMark / 2 + 1, kMark,
                   kMark);
  if (best) {
    icon(QStringLiteral("check"), Tone::good).paint(&painter, mark);
  } else if (heat != 0) {
    painter.setFont(font::text(9));
    painter.setPen(heat > 0 ? c.goodText : c.badText);
    painter.drawText(mark, Qt::AlignCenter, heat > 0 ? QStringLiteral("▲") : QStringLiteral("▼"));
  }
}

void paintRowLine(QPainter& painter, const QRect& row) {
  painter.fillRect(QRect(row.left(), row.bottom(), row.width(), 1),
                   blend(colors().surface, colors().line, 0.5));
}

int valueCellWidth(const QString& text) {
  static const CellFont best(font::mono(12, QFont::DemiBold));  // the widest
  return kMark + kMarkGap + best.widthOf(text) + kCellRight;
}

QSize ValueDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return {valueCellWidth(index.data().toString()) + 1,
          QStyledItemDelegate::sizeHint(option, index).height()};
}

void ValueDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  const Colors& c = colors();
  painter->save();
  painter->fillRect(option.rect, option.state & QStyle::State_Selected ? c.selected : c.surface);
  paintRowLine(*painter, option.rect);
  paintValueCell(*painter, option, index);
  if (option.state & QStyle::State_HasFocus) {
    painter->setPen(c.accent);
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(option.rect.adjusted(0, 0, -1, -2));
  }
  painter->restore();
}

}  // namespace heddle::gui
