#include "gui/views/welcome/choice_button.h"

#include <QPainter>

#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

ChoiceButton::ChoiceButton(const QString& iconName, const QString& title, const QString& sentence)
    : iconName_(iconName) {
  setText(title);
  setProperty("elides", true);  // the sentence wraps; the title is short
  setAccessibleName(title);
  setAccessibleDescription(sentence);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ChoiceButton::paintEvent(QPaintEvent*) {
  const Colors& c = colors();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool raised = isEnabled() && (underMouse() || isDown());
  painter.setPen(QPen(hasFocus() ? c.accent : c.line, 1));
  painter.setBrush(raised ? c.raised : c.surface);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metric::radius,
                          metric::radius);
  gui::icon(iconName_, isEnabled() ? Tone::accent : Tone::muted)
      .paint(&painter, QRect(16, 16, 24, 24));
  const QRect words = rect().adjusted(56, 14, -16, -12);
  painter.setFont(gui::font::text(14, QFont::DemiBold));
  painter.setPen(isEnabled() ? c.text : c.muted);
  painter.drawText(QRect(words.left(), words.top(), words.width(), 22),
                   Qt::AlignLeft | Qt::AlignVCenter, text());
  painter.setFont(gui::font::text());
  painter.setPen(c.muted);
  painter.drawText(words.adjusted(0, 26, 0, 0), Qt::AlignLeft | Qt::TextWordWrap,
                   accessibleDescription());
}

}  // namespace heddle::gui
