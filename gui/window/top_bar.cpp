#include "gui/window/top_bar.h"

#include <QPainter>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

/// Looks like a field and opens the command palette.
class SearchButton : public QAbstractButton {
 public:
  SearchButton() {
    setText(tr("Search runs, pages, commands"));
    setAccessibleName(text());
    setObjectName(QStringLiteral("search"));
    setProperty("elides", true);
    setFixedHeight(metric::field);
    setMinimumWidth(120);
    setMaximumWidth(328);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
    setFont(font::text());
  }
  // It takes what the words of the page leave.
  QSize sizeHint() const override { return {minimumWidth(), metric::field}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Colors& c = colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(hasFocus() ? c.accent : underMouse() ? c.muted : c.line, 1));
    painter.setBrush(c.window);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metric::radius,
                            metric::radius);
    gui::icon(QStringLiteral("search"), Tone::muted).paint(&painter, QRect(10, 6, 16, 16));
    const QString keys = QStringLiteral("Ctrl+Shift+P");
    const QFont small = font::mono(10);
    const int keysWidth = QFontMetrics(small).horizontalAdvance(keys) + 10;
    int right = width() - 8;
    if (width() > 300) {
      const QRectF box(right - keysWidth + 0.5, 5.5, keysWidth - 1, height() - 11);
      painter.setPen(QPen(c.line, 1));
      painter.setBrush(c.surface);
      painter.drawRoundedRect(box, 4, 4);
      painter.setFont(small);
      painter.setPen(c.muted);
      painter.drawText(box, Qt::AlignCenter, keys);
      right -= keysWidth + 8;
    }
    painter.setFont(font());
    painter.setPen(c.muted);
    const QRect room(32, 0, right - 32, height());
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }
};

}  // namespace

QPushButton* buttonOf(QAction* action, QWidget* parent) {
  const QString role = action->property("role").toString();
  auto* button = role == QStringLiteral("primary")  ? primaryButton(action->text())
                 : role == QStringLiteral("danger") ? dangerButton(action->text())
                                                    : quietButton(action->text());
  button->setParent(parent);
  const auto follow = [button, action] {
    button->setText(action->iconText());
    button->setIcon(action->icon());
    button->setToolTip(action->toolTip() == action->iconText() ? QString() : action->toolTip());
    button->setEnabled(action->isEnabled());
    button->setVisible(action->isVisible());
  };
  QObject::connect(action, &QAction::changed, button, follow);
  QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
  button->setObjectName(action->objectName());
  follow();
  return button;
}

TopBar::TopBar(QWidget* parent) : QFrame(parent) {
  setProperty("role", "topbar");
  setFixedHeight(metric::topBar);
  title_ = label({}, "title");
  subtitle_ = new ElidedLabel({}, "muted");
  subtitle_->setStyleSheet(QStringLiteral("font-size: 12px;"));
  search_ = new SearchButton;
  controls_ = new QHBoxLayout;
  buttons_ = new QHBoxLayout;
  buttons_->setSpacing(8);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(metric::edge, 0, metric::edge, 0);
  layout->setSpacing(8);
  layout->addWidget(title_);
  layout->addSpacing(8);
  layout->addLayout(controls_);
  layout->addWidget(subtitle_);
  layout->addStretch(1);
  layout->addWidget(search_, 1000);
  layout->addLayout(buttons_);
}

void TopBar::showPage(Page* page) {
  if (page_) page_->disconnect(this);
  while (QLayoutItem* item = controls_->takeAt(0)) {
    item->widget()->hide();  // the page's own: it will be shown again
    delete item;
  }
  clear(buttons_);
  page_ = page;
  if (QWidget* widget = page->headerWidget()) {
    controls_->addWidget(widget);
    widget->show();
  }
  for (QAction* action : page->pageActions()) {
    if (!action->property("topBar").toBool()) continue;
    buttons_->addWidget(buttonOf(action, this));
  }
  connect(page, &Page::headerChanged, this, &TopBar::refresh);
  refresh();
}

void TopBar::refresh() {
  title_->setText(page_->title());
  subtitle_->setFullText(page_->subtitle());
}

}  // namespace heddle::gui
