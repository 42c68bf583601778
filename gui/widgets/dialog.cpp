#include "gui/widgets/dialog.h"

#include <QEvent>
#include <QPointer>
#include <QScreen>

#include "gui/theme/theme.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/tab_order.h"

namespace heddle::gui {

Dialog::Dialog(const QString& title, const QString& iconName, Tone tone, QWidget* parent)
    : QDialog(parent) {
  setMinimumWidth(440);
  auto* head = new QFrame;
  head->setProperty("role", "dialog-head");
  head->setFixedHeight(48);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(metric::edge, 0, metric::group, 0);
  row->setSpacing(8);
  if (!iconName.isEmpty()) row->addWidget(new Symbol(18, iconName, tone));
  title_ = heading({});
  row->addWidget(title_, 1);
  setTitle(title);

  auto* foot = new QFrame;
  foot->setProperty("role", "dialog-foot");
  foot->setFixedHeight(56);
  foot_ = new QHBoxLayout(foot);
  foot_->setContentsMargins(metric::edge, 0, metric::edge, 0);
  foot_->setSpacing(8);
  foot_->addStretch(1);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  body_ = new QVBoxLayout;
  body_->setContentsMargins(metric::edge, metric::group, metric::edge, metric::group);
  body_->setSpacing(12);
  layout->addWidget(head);
  layout->addLayout(body_, 1);
  layout->addWidget(foot);
}

void Dialog::setTitle(const QString& title) {
  setWindowTitle(title);
  title_->setText(title);
}

bool Dialog::event(QEvent* event) {
  const bool changes = event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize;
  if (event->type() == QEvent::Show && !focusWidget()) giveFocus();
  const bool taken = QDialog::event(event);  // of a DeferredDelete the dialog is gone after it
  // Only now: widgets that were just added are hidden until the event loop shows them, and a layout
  // counts none that is hidden.
  if (changes && layout()) fit();
  return taken;
}

bool Dialog::focusNextPrevChild(bool next) { return moveFocus(*this, next); }

void Dialog::giveFocus() {
  QWidget* first = firstTabStop(*this);
  for (QPushButton* button : findChildren<QPushButton*>())
    if (button->isDefault() && qobject_cast<QPushButton*>(first)) first = button;
  if (first) first->setFocus();
}

void Dialog::done(int result) {
  const QPointer<QWidget> behind = parentWidget() ? parentWidget()->window() : nullptr;
  QDialog::done(result);
  if (behind) behind->activateWindow();  // not every desktop does it
}

void Dialog::fit() {
  const int needed = layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width())
                                                   : layout()->totalSizeHint().height();
  setMinimumHeight(std::min(needed, screen()->availableGeometry().height()));
}

QVBoxLayout* Dialog::addRoom(int height, int between) {
  auto* told = new QWidget;
  QScrollArea* room = scrolled(told);
  room->setObjectName(QStringLiteral("told"));
  room->setMinimumHeight(height);
  room->setFocusPolicy(Qt::NoFocus);
  body_->addWidget(room, 1);
  return columnOf(told, {0, 0, 8, 0}, between);
}

void Dialog::addButton(QPushButton* button) { foot_->addWidget(button); }

bool confirm(QWidget* parent, const QString& title, const QString& text, const QString& action) {
  Dialog dialog(title, QStringLiteral("warning"), Tone::warn, parent);
  auto* words = new QLabel(text);
  words->setWordWrap(true);
  dialog.body()->addWidget(words);
  QPushButton* cancel = quietButton(Dialog::tr("Cancel"));
  QPushButton* go = dangerButton(action);
  dialog.addButton(cancel);
  dialog.addButton(go);
  cancel->setDefault(true);
  cancel->setFocus();
  QObject::connect(cancel, &QPushButton::clicked, &dialog, &QDialog::reject);
  QObject::connect(go, &QPushButton::clicked, &dialog, &QDialog::accept);
  return dialog.exec() == QDialog::Accepted;
}

}  // namespace heddle::gui
