#include "gui/window/rail.h"

#include <QAbstractButton>
#include <QPainter>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class RailButton : public QAbstractButton {
 public:
  explicit RailButton(QAction* action) : action_(action) {
    setCheckable(true);
    setText(action->text());
    setAccessibleName(action->text());
    setObjectName(QStringLiteral("rail-") + action->objectName());
    setToolTip(QStringLiteral("%1  %2").arg(action->text(),
                                            action->shortcut().toString(QKeySequence::NativeText)));
    setFixedSize(metric::rail, 52);
    setFont(font::text(10, QFont::Medium));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    connect(this, &QAbstractButton::clicked, action, &QAction::trigger);
    const auto follow = [this] { setChecked(action_->isChecked()); };
    connect(action, &QAction::changed, this, follow);
    follow();
  }

  const QAction* action() const { return action_; }
  void setLive(std::optional<Tone> tone) {
    live_ = tone;
    update();
  }

 protected:
  void nextCheckState() override {}  // the action decides

  void paintEvent(QPaintEvent*) override {
    const Colors& c = colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const QRectF box = QRectF(rect()).adjusted(8, 2, -8, -2);
    if (isChecked() || underMouse()) {
      painter.setBrush(isChecked() ? c.raised : blend(c.surface, c.raised, 0.6));
      painter.drawRoundedRect(box, metric::radius, metric::radius);
    }
    if (isChecked()) {
      painter.setBrush(c.accent);
      painter.drawRoundedRect(QRectF(0, 9, 3, height() - 18), 1.5, 1.5);
    }
    if (hasFocus()) {
      painter.setPen(QPen(c.accent, 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), metric::radius, metric::radius);
    }
    const QRect symbol((width() - 20) / 2, 8, 20, 20);
    action_->icon().paint(&painter, symbol);
    if (live_) {
      painter.setPen(QPen(isChecked() ? c.raised : c.surface, 1.5));
      painter.setBrush(colorOf(*live_));
      painter.drawEllipse(QRectF(symbol.right() + 1, symbol.top() - 3, 8, 8));
    }
    painter.setFont(font());
    painter.setPen(isChecked() ? c.text : c.muted);
    painter.drawText(QRect(0, 30, width(), 16), Qt::AlignHCenter | Qt::AlignVCenter, text());
  }

  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  QAction* action_;
  std::optional<Tone> live_;
};

Rail::Rail(QWidget* parent) : QFrame(parent), menu_(new QMenu(this)) {
  setProperty("role", "rail");
  setFixedWidth(metric::rail);
  layout_ = new QVBoxLayout(this);
  layout_->setContentsMargins(0, 6, 0, 8);
  layout_->setSpacing(0);
  layout_->addStretch(1);
  auto* more = iconButton(QStringLiteral("more"), tr("Workbench menu"));
  more->setObjectName(QStringLiteral("rail-menu"));
  more->setMenu(menu_);
  more->setPopupMode(QToolButton::InstantPopup);
  layout_->addWidget(more, 0, Qt::AlignHCenter);
}

void Rail::add(QAction* action) {
  auto* button = new RailButton(action);
  layout_->insertWidget(static_cast<int>(buttons_.size()), button);
  buttons_.append(button);
}

void Rail::setLive(QAction* action, std::optional<Tone> tone) {
  for (RailButton* button : buttons_)
    if (button->action() == action) button->setLive(tone);
}

}  // namespace heddle::gui
