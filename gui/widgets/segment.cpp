#include "gui/widgets/segment.h"

#include <QAbstractButton>
#include <QHBoxLayout>
#include <QPainter>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

class SegmentButton : public QAbstractButton {
 public:
  explicit SegmentButton(const QString& text) {
    setText(text);
    setCheckable(true);
    setFont(font::text(12));
    setFixedHeight(metric::segment);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
  }

  QSize sizeHint() const override {
    return {QFontMetrics(font()).horizontalAdvance(text()) + 18, metric::segment};
  }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Colors& c = colors();
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    if (isChecked() || underMouse()) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(isChecked() ? c.raised : blend(c.surface, c.raised, 0.5));
      painter.drawRoundedRect(box, 5, 5);
    }
    if (hasFocus()) {
      painter.setPen(QPen(c.accent, 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    }
    painter.setPen(isEnabled() && isChecked() ? c.text : c.muted);
    painter.setFont(font());
    painter.drawText(rect(), Qt::AlignCenter, text());
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }
};

}  // namespace

Segment::Segment(const QStringList& choices, QWidget* parent)
    : QWidget(parent), group_(new QButtonGroup(this)) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  for (const QString& choice : choices) {
    auto* button = new SegmentButton(choice);
    group_->addButton(button, static_cast<int>(layout->count()));
    layout->addWidget(button);
  }
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  if (!choices.isEmpty()) group_->button(0)->setChecked(true);
  connect(group_, &QButtonGroup::idToggled, this, [this](int index, bool checked) {
    if (!checked) return;
    // A click does not take the focus; where the segment has it, it is on the chosen part.
    for (QAbstractButton* button : group_->buttons())
      if (button->hasFocus()) group_->button(index)->setFocus(Qt::OtherFocusReason);
    Q_EMIT currentChanged(index);
  });
}

int Segment::current() const { return group_->checkedId(); }
QString Segment::currentText() const { return group_->checkedButton()->text(); }
void Segment::setCurrent(int index) {
  if (QAbstractButton* button = group_->button(index)) button->setChecked(true);
}

void Segment::setText(int index, const QString& text) {
  group_->button(index)->setText(text);
  group_->button(index)->updateGeometry();
}

void Segment::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colors().line, 1));
  painter.setBrush(colors().surface);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metric::radius,
                          metric::radius);
}

}  // namespace heddle::gui
