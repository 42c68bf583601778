#include "gui/widgets/more_below.h"

#include <QEvent>
#include <QScrollBar>
#include <QStyle>

#include "gui/theme/icons.h"
#include "gui/theme/tokens.h"

namespace heddle::gui {
namespace {

constexpr int kHidden = 4;  // pixels: less below the edge is no more than a margin

}  // namespace

MoreBelow::MoreBelow(QAbstractScrollArea* area, Qt::Alignment side)
    : QToolButton(area), area_(area), side_(side) {
  setObjectName(QStringLiteral("moreBelow"));
  setProperty("role", "more");
  setText(tr("more below"));
  QSizePolicy policy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  policy.setRetainSizeWhenHidden(true);
  setSizePolicy(policy);
  setIcon(gui::icon(QStringLiteral("chevron-down"), Tone::muted));
  setIconSize({12, 12});
  setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  setFocusPolicy(Qt::NoFocus);
  setProperty("alsoByKey", true);  // the area's keys scroll
  setCursor(Qt::PointingHandCursor);
  QScrollBar* bar = area->verticalScrollBar();
  connect(bar, &QScrollBar::valueChanged, this, &MoreBelow::refresh);
  connect(bar, &QScrollBar::rangeChanged, this, &MoreBelow::refresh);
  connect(this, &QToolButton::clicked, bar,
          [bar] { bar->triggerAction(QScrollBar::SliderPageStepAdd); });
  area->viewport()->installEventFilter(this);
  refresh();
}

bool MoreBelow::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) refresh();
  return QToolButton::eventFilter(watched, event);
}

void MoreBelow::refresh() {
  const QScrollBar* bar = area_->verticalScrollBar();
  setVisible(bar->maximum() - bar->value() > kHidden);
  if (parentWidget() != area_) return;
  const QRect edge =
      area_->viewport()->geometry().adjusted(metric::within, 0, -metric::within, -metric::within);
  setGeometry(QStyle::alignedRect(layoutDirection(), side_ | Qt::AlignBottom, sizeHint(), edge));
  raise();
}

}  // namespace heddle::gui
