#include "gui/views/compose/module_boxes.h"

#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr double kWideGap = 12, kNarrowGap = 10;  // room for an arrow between two modules
constexpr double kFlat = 36;                      // lower boxes have name and note in one line
constexpr double kBoxMargin = 4;                  // between a name and its box
constexpr double kLine = 14;
constexpr int kNameSize = 11, kNoteSize = 10;

/// "attention_" over "norm".
QStringList inTwo(const QString& name) {
  const qsizetype cut = name.indexOf(QChar('_')) + 1;
  return cut > 0 ? QStringList{name.left(cut), name.mid(cut)} : QStringList{name};
}

double widthOf(const QStringList& lines) {
  const QFontMetricsF metrics(font::text(kNameSize, QFont::Medium));
  double widest = 0;
  for (const QString& line : lines) widest = std::max(widest, metrics.horizontalAdvance(line));
  return widest + 2 * kBoxMargin + 2;
}

/// As much of the note and the time, in that order, as there is room for.
QStringList linesThatFit(const ModulePart& part, double room, qsizetype lines) {
  const QFontMetricsF metrics(font::mono(kNoteSize));
  QStringList told;
  for (const QString& each :
       {part.note, part.seconds > 0 ? format::seconds(part.seconds) : QString()})
    if (!each.isEmpty() && told.size() < lines && metrics.horizontalAdvance(each) <= room)
      told << each;
  return told;
}

void paintFlat(QPainter& painter, const QRectF& inner, const ModulePart& part) {
  painter.setFont(font::text(kNameSize, QFont::Medium));
  const double name = QFontMetricsF(painter.font()).horizontalAdvance(part.name);
  const QFontMetricsF metrics(font::mono(kNoteSize));
  QStringList told = linesThatFit(part, inner.width() - name - 6, 2);
  const QString both = told.join(QStringLiteral("  "));
  const QString note =
      metrics.horizontalAdvance(both) <= inner.width() - name - 6 ? both : told.value(0);
  painter.drawText(inner, Qt::AlignVCenter | (note.isEmpty() ? Qt::AlignHCenter : Qt::AlignLeft),
                   part.name);
  painter.setFont(font::mono(kNoteSize));
  painter.setPen(colors().muted);
  painter.drawText(inner, Qt::AlignVCenter | Qt::AlignRight, note);
}

void paintModule(QPainter& painter, const QRectF& rect, const ModulePart& part, double longest) {
  paintBox(painter, rect, colors().line);
  paintTime(painter, rect, part.seconds, longest);
  painter.setPen(colors().text);
  if (rect.height() < kFlat) return paintFlat(painter, rect.adjusted(7, 0, -7, 0), part);
  const QRectF inner = rect.adjusted(kBoxMargin, 0, -kBoxMargin, 0);
  const bool whole = widthOf({part.name}) <= rect.width();
  const QStringList names = whole ? QStringList{part.name} : inTwo(part.name);
  const auto lines = static_cast<qsizetype>((rect.height() - 6) / kLine);
  QStringList told = linesThatFit(part, inner.width(), 2);
  if (told.size() > lines - names.size()) {
    const QString both = told.join(QStringLiteral("  "));
    const bool fits = QFontMetricsF(font::mono(kNoteSize)).horizontalAdvance(both) <= inner.width();
    told = fits && lines > names.size() ? QStringList{both} : told.mid(0, lines - names.size());
  }
  QRectF line(inner.left(),
              rect.center().y() - static_cast<double>(names.size() + told.size()) * kLine / 2,
              inner.width(), kLine);
  painter.setFont(font::text(whole && rect.height() >= 44 ? 12 : kNameSize, QFont::Medium));
  for (const QString& name : names) {
    painter.drawText(line, Qt::AlignCenter, name);
    line.translate(0, kLine);
  }
  painter.setFont(font::mono(kNoteSize));
  painter.setPen(colors().muted);
  for (const QString& each : told) {
    painter.drawText(line, Qt::AlignCenter, each);
    line.translate(0, kLine);
  }
}

void paintPlus(QPainter& painter, const QPointF& centre) {
  painter.setPen(QPen(colors().muted, 1));
  painter.setBrush(colors().surface);
  painter.drawEllipse(centre, 7, 7);
  painter.drawLine(centre - QPointF(4, 0), centre + QPointF(4, 0));
  painter.drawLine(centre - QPointF(0, 4), centre + QPointF(0, 4));
}

/// Norm, matrices, join, last: as wide as they like, or the room divided among them.
std::array<double, 4> widths(const ModuleRow& row, double room) {
  constexpr std::array kLiked = {118.0, 112.0, 112.0, 96.0};
  std::array<double, 4> needed = {widthOf({row.norm.name}), 44, widthOf({row.join.name}), 40};
  const auto sum = [](const auto& all) { return all[0] + all[1] + all[2] + all[3]; };
  if (sum(needed) > room) needed[0] = widthOf(inTwo(row.norm.name));
  const double liked = sum(kLiked) - sum(needed);
  const double share = liked > 0 ? std::clamp((room - sum(needed)) / liked, 0.0, 1.0) : 0;
  for (size_t i = 0; i < needed.size(); ++i)
    needed[i] += share * std::max(0.0, kLiked[i] - needed[i]);
  return needed;
}

}  // namespace

void paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, bool head) {
  painter.setPen(QPen(colors().muted, 1));
  painter.drawLine(from, to);
  if (!head) return;
  const QPointF along = to - from;
  const double length = std::max(1.0, std::hypot(along.x(), along.y()));
  const QPointF unit = along / length;
  const QPointF side(-unit.y(), unit.x());
  QPainterPath tip(to);
  tip.lineTo(to - unit * 5 + side * 3);
  tip.lineTo(to - unit * 5 - side * 3);
  painter.fillPath(tip, colors().muted);
}

void paintBox(QPainter& painter, const QRectF& rect, const QColor& border) {
  painter.setPen(QPen(border, 1));
  painter.setBrush(colors().raised);
  painter.drawRoundedRect(rect, metric::radius, metric::radius);
}

void paintTime(QPainter& painter, const QRectF& rect, double seconds, double longest) {
  if (seconds <= 0 || longest <= 0) return;
  const double room = rect.width() - 2 * metric::radius;
  painter.fillRect(QRectF(rect.left() + metric::radius, rect.bottom() - 3,
                          std::max(1.0, room * std::min(1.0, seconds / longest)), 2),
                   colors().compute);
}

void paintModules(QPainter& painter, const QRectF& area, const ModuleRow& row) {
  const double plusRoom = 24;
  const double gap = area.width() < 320 ? kNarrowGap : kWideGap;
  const double room = area.width() - 3 * gap - plusRoom;
  const auto [normWidth, matrixWidth, joinWidth, lastWidth] = widths(row, room);
  const double slack = std::max(0.0, room - normWidth - matrixWidth - joinWidth - lastWidth) / 3;
  const double tall = std::clamp(area.height() * 0.36, 38.0, 64.0);
  const double y = area.center().y();
  double x = area.left();
  const QRectF norm(x, y - tall / 2, normWidth, tall);
  x = norm.right() + gap + slack;
  const QRectF column(x, area.top(), matrixWidth, area.height());
  x = column.right() + gap + slack;
  const QRectF join(x, y - tall / 2, joinWidth, tall);
  x = join.right() + gap + slack;
  const QRectF last(x, y - tall / 2, lastWidth, tall);
  const QPointF sum(area.right() - 8, y);

  const auto count = static_cast<double>(row.matrices.size());
  const double pitch = area.height() / count;
  const double flat = std::clamp(pitch - 8, 22.0, 38.0);
  const double split = norm.right() + (column.left() - norm.right()) / 2;
  const double merge = column.right() + (join.left() - column.right()) / 2;
  double first = 0, end = 0;
  for (int i = 0; i < row.matrices.size(); ++i) {
    const double centre = y + (i - (count - 1) / 2) * std::min(pitch, flat * 1.5);
    if (i == 0) first = centre;
    end = centre;
    paintArrow(painter, {split, centre}, {column.left(), centre}, false);
    paintArrow(painter, {column.right(), centre}, {merge, centre}, false);
    paintModule(painter, {column.left(), centre - flat / 2, matrixWidth, flat}, row.matrices[i],
                row.longest);
  }
  paintArrow(painter, {norm.right(), y}, {split, y}, false);
  paintArrow(painter, {split, first}, {split, end}, false);
  paintArrow(painter, {merge, first}, {merge, end}, false);
  paintArrow(painter, {merge, y}, {join.left(), y}, true);
  paintArrow(painter, {join.right(), y}, {last.left(), y}, true);
  paintArrow(painter, {last.right(), y}, sum - QPointF(7, 0), true);
  paintModule(painter, norm, row.norm, row.longest);
  paintModule(painter, join, row.join, row.longest);
  paintModule(painter, last, row.last, row.longest);
  paintPlus(painter, sum);
}

}  // namespace heddle::gui
