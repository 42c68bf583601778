#include "gui/views/compare/relation_plot.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>

namespace heddle::gui {
namespace {

constexpr qsizetype kMaxNames = 12;

}  // namespace

RelationPlot::RelationPlot(const QString& id, const QString& name, QWidget* parent)
    : QWidget(parent) {
  setObjectName(id);
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
}

void RelationPlot::setRuns(std::vector<PlottedRun> runs) {
  runs_ = std::move(runs);
  anyHighlighted_ = std::ranges::any_of(runs_, &PlottedRun::highlighted);
}

QString RelationPlot::titleOf(const ValueAxis& axis) {
  return axis.log ? tr("%1 (log)").arg(axis.name) : axis.name;
}

void RelationPlot::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void RelationPlot::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

bool RelationPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QStringList names;
  for (size_t run = 0; run < runs_.size() && names.size() < kMaxNames; ++run)
    if (!runs_[run].hidden && isAt(run, help->pos())) names << runs_[run].name;
  QToolTip::showText(help->globalPos(), names.join(QChar('\n')), this);
  return true;
}

}  // namespace heddle::gui
