// How the model's picture draws modules: boxes with names, joined by arrows. No widgets.
#pragma once

#include <QList>
#include <QPainter>
#include <QString>

namespace heddle::gui {

/// A module: its name, a note where there is room, and its time in a step.
struct ModulePart {
  QString name;
  QString note;
  double seconds = 0;  // of all layers; 0: not known
};

/// Half of a layer in one row: norm → (matrices side by side) → their join → last → ⊕.
struct ModuleRow {
  ModulePart norm;
  QList<ModulePart> matrices;
  ModulePart join, last;
  double longest = 0;  // seconds that a bar as wide as its module means
};

void paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, bool head);
void paintBox(QPainter& painter, const QRectF& rect, const QColor& border);
/// A bar at the bottom of a box, as long as its time is of the longest.
void paintTime(QPainter& painter, const QRectF& rect, double seconds, double longest);
/// Every name is whole: in a narrow area a name goes on two lines and notes are left out.
void paintModules(QPainter& painter, const QRectF& area, const ModuleRow& row);

}  // namespace heddle::gui
