#include "gui/widgets/basics.h"

#include <QPainter>
#include <QStyle>
#include <algorithm>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

void restyle(QWidget* widget) {
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
  widget->update();
}

QPushButton* button(const QString& text, const QString& iconName, const char* role, Tone tone) {
  auto* made = new QPushButton(text);
  made->setProperty("role", role);
  if (!iconName.isEmpty()) made->setIcon(icon(iconName, tone));
  made->setCursor(Qt::PointingHandCursor);
  made->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  made->setAutoDefault(true);  // Enter presses it where it has the focus, outside dialogs too
  return made;
}

}  // namespace

QLabel* label(const QString& text, const char* role) {
  auto* made = new QLabel(text);
  made->setProperty("role", role);
  return made;
}

QLabel* heading(const QString& text) { return label(text, "heading"); }
QLabel* section(const QString& text) { return label(text, "section"); }
QLabel* muted(const QString& text) { return label(text, "muted"); }
QLabel* caption(const QString& text) { return label(text, "caption"); }
QLabel* mono(const QString& text) { return label(text, "mono"); }

QLabel* fieldLabel(const QString& text, QWidget* buddy) {
  QLabel* made = label(text, "field");
  made->setBuddy(buddy);
  return made;
}

void setRole(QWidget* widget, const char* role) {
  if (widget->property("role").toString() == QLatin1String(role)) return;
  widget->setProperty("role", role);
  restyle(widget);
}

void setTone(QWidget* widget, const char* tone) {
  if (widget->property("tone").toString() == QLatin1String(tone)) return;
  widget->setProperty("tone", tone);
  restyle(widget);
}

QPushButton* primaryButton(const QString& text, const QString& iconName) {
  return button(text, iconName, "primary", Tone::onAccent);
}

QPushButton* quietButton(const QString& text, const QString& iconName) {
  return button(text, iconName, "quiet", Tone::text);
}

QPushButton* dangerButton(const QString& text, const QString& iconName) {
  return button(text, iconName, "danger", Tone::bad);
}

QPushButton* linkButton(const QString& text) { return button(text, {}, "link", Tone::accent); }

QToolButton* iconButton(const QString& iconName, const QString& tip) {
  auto* made = new QToolButton;
  made->setIcon(icon(iconName, Tone::muted));
  made->setIconSize({16, 16});
  made->setFixedSize(28, 28);
  made->setToolTip(tip);
  made->setAccessibleName(tip);
  made->setCursor(Qt::PointingHandCursor);
  return made;
}

void clear(QLayout* layout) {
  while (QLayoutItem* item = layout->takeAt(0)) {
    if (QWidget* widget = item->widget()) {
      widget->hide();
      widget->deleteLater();
    }
    if (QLayout* inner = item->layout()) clear(inner);
    delete item;
  }
}

QFrame* line(Qt::Orientation orientation) {
  auto* made = new QFrame;
  made->setProperty("role", "line");
  if (orientation == Qt::Horizontal)
    made->setFixedHeight(1);
  else
    made->setFixedWidth(1);
  return made;
}

ElidedLabel::ElidedLabel(const QString& text, const char* role, Qt::TextElideMode mode)
    : mode_(mode) {
  setProperty("role", role);
  setProperty("elides", true);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setFullText(text);
}

void ElidedLabel::setFullText(const QString& text) {
  if (full_ == text) return;
  full_ = text;
  setAccessibleName(text);
  updateGeometry();
  update();
}

QSize ElidedLabel::minimumSizeHint() const {
  ensurePolished();
  const QFontMetrics metrics(font());
  return {std::min(metrics.horizontalAdvance(full_), metrics.averageCharWidth() * 6),
          std::max(metrics.height(), 16)};
}

QSize ElidedLabel::sizeHint() const {
  ensurePolished();
  const QFontMetrics metrics(font());
  return {metrics.horizontalAdvance(full_) + 1, std::max(metrics.height(), 16)};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font());
  painter.setPen(palette().color(QPalette::WindowText));
  const QString shown = fontMetrics().elidedText(full_, mode_, contentsRect().width());
  if (toolTip() != (shown == full_ ? QString() : full_))
    setToolTip(shown == full_ ? QString() : full_);
  painter.drawText(contentsRect(), static_cast<int>(alignment() | Qt::TextSingleLine), shown);
}

Symbol::Symbol(int size, const QString& iconName, Tone tone)
    : size_(size), name_(iconName), tone_(tone) {
  setFixedSize(size, size);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void Symbol::set(const QString& iconName, Tone tone) {
  name_ = iconName;
  tone_ = tone;
  update();
}

void Symbol::paintEvent(QPaintEvent*) {
  if (name_.isEmpty()) return;
  QPainter painter(this);
  QRect place(0, 0, size_, size_);
  place.moveCenter(rect().center());
  painter.drawPixmap(place, iconPixmap(name_, size_, colorOf(tone_), devicePixelRatioF()));
}

StatusDot::StatusDot(Tone tone, bool filled, QWidget* parent)
    : QWidget(parent), tone_(tone), filled_(filled) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void StatusDot::set(Tone tone, bool filled) {
  tone_ = tone;
  filled_ = filled;
  update();
}

void StatusDot::paintEvent(QPaintEvent*) {
  const Colors& c = colors();
  const QColor color = tone_ == Tone::good   ? c.good
                       : tone_ == Tone::warn ? c.warn
                       : tone_ == Tone::bad  ? c.bad
                                             : colorOf(tone_);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QRectF dot(0, 0, 8, 8);
  dot.moveCenter(QRectF(rect()).center());
  if (filled_) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
  } else {
    dot.adjust(0.75, 0.75, -0.75, -0.75);
    painter.setPen(QPen(color, 1.5));
  }
  painter.drawEllipse(dot);
}

Chip::Chip(const QString& text, Tone tone, QWidget* parent) : QLabel(text, parent), tone_(tone) {
  setFixedHeight(metric::chip);
  setContentsMargins(8, 0, 8, 0);
  setFont(font::text(12));
  setAlignment(Qt::AlignCenter);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Chip::setTone(Tone tone) {
  tone_ = tone;
  update();
}

void Chip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colors().raised);
  painter.drawRoundedRect(QRectF(rect()), 5, 5);
  painter.setPen(colorOf(tone_));
  painter.setFont(font());
  painter.drawText(contentsRect(), Qt::AlignCenter, text());
}

}  // namespace heddle::gui
