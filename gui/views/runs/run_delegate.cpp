#include "gui/views/runs/run_delegate.h"

#include <QPainter>
#include <QStyle>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "gui/models/state_look.h"
#include "gui/theme/cell_font.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/views/runs/runs_table.h"
#include "gui/widgets/sparkline.h"

namespace heddle::gui {
namespace {

constexpr int kStroke = 18;  // length of the run's stroke before its name
// At its right the header keeps room for the sort arrow: values end where its words do.
constexpr int kLeft = 8, kRight = 12;
constexpr int kIcon = 20;
constexpr int kCurve = 60;
constexpr int kGap = 6;  // between a mean and its range

const CellFont& wordsFont() {
  static const CellFont font(font::text(), false);
  return font;
}
const CellFont& digitsFont() {
  static const CellFont font(font::mono(12));
  return font;
}
const CellFont& strongFont() {
  static const CellFont font(font::mono(12, QFont::DemiBold));
  return font;
}
/// A group head's fonts: strong for its name and means, small for its count and ranges.
struct HeadFonts {
  CellFont strong, small;
};
const HeadFonts& headFonts(bool isName) {
  static const HeadFonts name{CellFont(font::text(13, QFont::DemiBold), false),
                              CellFont(font::text(11), false)};
  static const HeadFonts number{CellFont(font::mono(12, QFont::DemiBold)),
                                CellFont(font::mono(10))};
  return isName ? name : number;
}

/// One line of text as far as there is room, at its place: a rectangle of text would be laid out.
void drawCell(QPainter& painter, const QRect& cell, const CellFont& in, bool atRight,
              const QString& text, Qt::TextElideMode elide) {
  int wide = in.widthOf(text);
  QString shown = text;
  if (wide > cell.width()) {
    shown = in.metrics.elidedText(text, elide, cell.width());
    wide = in.metrics.horizontalAdvance(shown);
  }
  const int left = atRight ? cell.right() + 1 - wide : cell.left();
  const int base = cell.top() + (cell.height() - in.metrics.height()) / 2 + in.metrics.ascent();
  painter.setFont(in.font);
  painter.drawText(QPoint(left, base), shown);
}

const RunLines& linesOf(const QModelIndex& index) {
  return *static_cast<const RunLines*>(index.model());
}

/// The room for a run's depth in a tree, and its triangle.
int treeRoom(const QModelIndex& index) {
  const RunLines& lines = linesOf(index);
  if (!lines.isTree()) return 0;
  return RunsTable::triangle(QRect(), lines.line(index.row()).depth).right() - kLeft + 2;
}

/// Drawn, as few fonts have one. Filled: the run has a star.
void paintStar(QPainter* painter, const QPoint& center, bool filled) {
  static const QPolygonF star = [] {
    QPolygonF points;
    for (int i = 0; i < 10; ++i) {
      const double angle = M_PI * (i / 5.0 - 0.5), radius = i % 2 ? 2.6 : 6;
      points << QPointF(radius * std::cos(angle), radius * std::sin(angle));
    }
    return points;
  }();
  const Colors& c = colors();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(filled ? c.warn : blend(c.surface, c.muted, 0.5));
  painter->setBrush(filled ? QBrush(c.warn) : Qt::NoBrush);
  painter->drawPolygon(star.translated(QPointF(center) + QPointF(0.5, 0.5)));
}

/// Room for texts that appear later: a state changes, a filter lets other runs through, a run gets
/// older.
int leastWidth(int column) {
  const auto widest = [](const auto& texts) {
    int wide = 0;
    for (const auto& text : texts)
      wide = std::max(wide, wordsFont().widthOf(QString::fromStdString(text)));
    return wide;
  };
  static const int state = widest(workbench::state_names());
  static const int created =
      widest(std::vector<std::string>{"59 min ago", "today 00:00", "yesterday", "30 Nov 2000"});
  return column == RunsModel::State ? state : column == RunsModel::Created ? created : 0;
}

bool isText(int column) {
  return column == RunsModel::State || column == RunsModel::Target || column == RunsModel::Recipe ||
         column == RunsModel::Tags || column == RunsModel::Created;
}

}  // namespace

void RunDelegate::paintBackground(QPainter* painter, const QStyleOptionViewItem& option) const {
  const Colors& c = colors();
  const auto* table = static_cast<const QTableView*>(option.widget);
  const bool current = table->currentIndex().row() == option.index.row();
  const bool selected = option.state & QStyle::State_Selected;
  const bool head = linesOf(option.index).isHead(option.index);
  const double shade = head && linesOf(option.index).line(option.index.row()).depth > 0 ? 0.3 : 0.6;
  if (current || selected || head)
    painter->fillRect(option.rect, current    ? c.current
                                   : selected ? c.selected
                                              : blend(c.surface, c.raised, shade));
  painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1),
                    blend(c.surface, c.line, 0.5));
  if (current && option.index.column() == 0)
    painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()),
                      c.accent);
}

std::optional<int> RunDelegate::slotOf(qint64 run) const {
  for (const auto* known : {&slots_, &own_})
    if (const auto slot = known->constFind(run); slot != known->constEnd()) return *slot;
  return std::nullopt;
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& given,
                        const QModelIndex& index) const {
  QStyleOptionViewItem option = given;
  option.index = index;
  const Colors& c = colors();
  const bool selected = option.state & QStyle::State_Selected;
  painter->save();
  paintBackground(painter, option);
  if (linesOf(index).isHead(index)) {
    paintHead(painter, option, index);
    return painter->restore();
  }
  QRect cell = option.rect.adjusted(kLeft, 0, -kRight, -1);
  const RunRow& row = linesOf(index).row(index);
  const QVariant tone = index.data(RunsModel::ToneRole);
  const std::optional<int> slot = slotOf(row.summary.id);
  const bool chosen = slots_.contains(row.summary.id);
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
    case RunsModel::Star: {
      paintStar(painter, option.rect.center(), row.summary.starred.has_value());
      painter->restore();
      return;
    }
    case RunsModel::Curve: {
      const QColor line = slot ? runStroke(*slot, Theme::instance().scheme()).color : c.other;
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
      if (const int room = treeRoom(index); room > 0) {
        paintTriangle(painter, option.rect, linesOf(index).line(index.row()));
        cell.setLeft(cell.left() + room);
      }
      if (slot) {
        paintRunStroke(*painter, QRectF(cell.left(), cell.top(), kStroke, cell.height() + 2),
                       runStroke(*slot, Theme::instance().scheme()));
        cell.setLeft(cell.left() + kStroke + 6);
      }
      break;
    default:
      if (isText(index.column())) color = tone.isNull() ? c.muted : color;
  }
  const bool strong = index.column() == RunsModel::Name && chosen;
  painter->setPen(color);
  drawCell(*painter, cell,
           isText(index.column()) ? wordsFont()
           : strong               ? strongFont()
                                  : digitsFont(),
           linesOf(index).runs().isNumber(index.column()), index.data().toString(),
           // Names of a sweep differ at their ends.
           index.column() == RunsModel::Name ? Qt::ElideMiddle : Qt::ElideRight);
  painter->restore();
}

void RunDelegate::paintTriangle(QPainter* painter, const QRect& cell, const RunLine& line) const {
  if (line.below == 0) return;
  const QRect room = RunsTable::triangle(cell, line.depth);
  icon(line.folded ? QStringLiteral("chevron-right") : QStringLiteral("chevron-down"), Tone::muted)
      .paint(painter, QRect(room.left(), room.center().y() - 6, 14, 14));
}

/// A group's head: its value and count; of a number the mean, with the range after it.
void RunDelegate::paintHead(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const Colors& c = colors();
  const RunLine& line = linesOf(index).line(index.row());
  QRect cell = option.rect.adjusted(kLeft, 0, -kRight, -1);
  const QString text = index.data().toString(), rest = index.data(RunLines::RangeRole).toString();
  const bool name = index.column() == RunsModel::Name;
  if (index.column() == RunsModel::Check) return paintHeadBox(painter, option, index);
  if (name) {
    paintTriangle(painter, option.rect, line);
    cell.setLeft(RunsTable::triangle(option.rect, line.depth).right() + 2);
  }
  const auto& [strong, small] = headFonts(name);
  const int restWide = rest.isEmpty() ? 0 : small.widthOf(rest) + kGap;
  const int room = std::max(0, cell.width() - restWide);
  const QString shown = strong.metrics.elidedText(text, Qt::ElideRight, room);
  const int textWide = strong.widthOf(shown);
  const bool right = index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
  QRect first = cell;
  if (right) first.setLeft(std::max(cell.left(), cell.right() + 1 - restWide - textWide));
  painter->setFont(strong.font);
  painter->setPen(c.text);
  painter->drawText(first, Qt::AlignLeft | Qt::AlignVCenter, shown);
  if (rest.isEmpty()) return;
  first.setLeft(first.left() + textWide + kGap);
  painter->setFont(small.font);
  painter->setPen(c.muted);
  painter->drawText(first, Qt::AlignLeft | Qt::AlignVCenter, rest);
}

void RunDelegate::paintHeadBox(QPainter* painter, const QStyleOptionViewItem& option,
                               const QModelIndex& index) const {
  const auto* table = static_cast<const QTableView*>(option.widget);
  const auto* chosen = static_cast<const RunSelection*>(table->selectionModel());
  const RunLine& line = linesOf(index).line(index.row());
  int ticked = 0;
  if (chosen->ticks())
    for (const qint64 run : linesOf(index).runsOf(index)) ticked += chosen->isTicked(run);
  QStyleOptionViewItem box = option;
  box.rect = QRect(option.rect.left() + kLeft, option.rect.center().y() - 8, 16, 16);
  box.state = QStyle::State_Enabled;
  box.state.setFlag(QStyle::State_On, ticked > 0 && ticked == line.below);
  option.widget->style()->drawPrimitive(QStyle::PE_IndicatorItemViewItemCheck, &box, painter,
                                        option.widget);
  if (ticked > 0 && ticked < line.below)
    painter->fillRect(box.rect.adjusted(4, 7, -4, -7), colors().text);
}

QWidget* RunDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
  QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
  if (editor != nullptr)
    editor->setAccessibleName(index.model()->headerData(index.column(), Qt::Horizontal).toString());
  return editor;
}

QSize RunDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  const int column = index.column();
  if (column == RunsModel::Check || column == RunsModel::Star) return {kLeft + kRight + 8, 0};
  if (linesOf(index).isHead(index)) {
    const bool name = column == RunsModel::Name;
    const auto& [strong, small] = headFonts(name);
    const QString rest = index.data(RunLines::RangeRole).toString();
    const int depth = linesOf(index).line(index.row()).depth;
    const int before = name ? RunsTable::triangle(QRect(), depth).right() + 2 : kLeft;
    return {before + strong.widthOf(index.data().toString()) +
                (rest.isEmpty() ? 0 : kGap + small.widthOf(rest)) + 2 + kRight,
            0};
  }
  if (column == RunsModel::Curve) return {kLeft + kRight + kCurve, 0};
  const int before = column == RunsModel::State  ? kIcon
                     : column == RunsModel::Name ? kStroke + 6 + treeRoom(index)
                                                 : 0;
  const CellFont& font = isText(column)              ? wordsFont()
                         : column == RunsModel::Name ? strongFont()
                                                     : digitsFont();
  const int text = std::max(font.widthOf(index.data().toString()), leastWidth(column));
  return {kLeft + before + text + 1 + kRight, 0};
}

}  // namespace heddle::gui
