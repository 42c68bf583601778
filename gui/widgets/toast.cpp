#include "gui/widgets/toast.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QTimer>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr qsizetype kMax = 3;  // at a time
constexpr int kApart = 8;

int millisecondsOf(Tone tone, bool decides) {
  if (tone == Tone::bad) return 20000;
  return decides || tone == Tone::warn ? 12000 : 6000;
}

class Toast : public QFrame {
 public:
  Toast(QWidget* window, const Message& message, QPushButton* button);

  const Message& message() const { return message_; }
  bool isOpen() const { return open_; }
  void dismiss();

 protected:
  bool eventFilter(QObject*, QEvent* event) override;
  // It stays for as long as one reads it.
  void enterEvent(QEnterEvent*) override { going_.stop(); }
  void leaveEvent(QEvent*) override { going_.start(); }

 private:
  Message message_;
  QTimer going_;
  bool open_ = true;
};

/// Oldest first.
QList<Toast*> toastsOf(QWidget* over) {
  QList<Toast*> toasts;
  for (QFrame* frame :
       over->window()->findChildren<QFrame*>(QStringLiteral("toast"), Qt::FindDirectChildrenOnly))
    if (auto* toast = static_cast<Toast*>(frame); toast->isOpen()) toasts << toast;
  return toasts;
}

/// The newest lowest.
void arrange(QWidget* window) {
  const QList<Toast*> toasts = toastsOf(window);
  int bottom = window->height() - metric::statusBar - metric::group;
  for (auto toast = toasts.rbegin(); toast != toasts.rend(); ++toast) {
    (*toast)->move(window->width() - (*toast)->width() - metric::edge, bottom - (*toast)->height());
    bottom -= (*toast)->height() + kApart;
  }
}

Toast::Toast(QWidget* window, const Message& message, QPushButton* button)
    : QFrame(window), message_(message) {
  setObjectName(QStringLiteral("toast"));
  setProperty("role", "toast");
  auto* symbol = new Symbol(16, signOf(message.tone), message.tone);
  auto* text = new QLabel(message.text);
  text->setWordWrap(true);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  text->setFixedWidth(std::min(420, text->fontMetrics().horizontalAdvance(message.text) + 4));
  auto* close = iconButton(QStringLiteral("close"), tr("Close"));
  connect(close, &QToolButton::clicked, this, &Toast::dismiss);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 6, 6, 6);
  layout->setSpacing(8);
  layout->addWidget(symbol);
  layout->addWidget(text);
  if (button) layout->addWidget(button);
  layout->addWidget(close);
  window->installEventFilter(this);
  going_.setSingleShot(true);
  going_.setInterval(millisecondsOf(message.tone, button != nullptr));
  connect(&going_, &QTimer::timeout, this, &Toast::dismiss);
  going_.start();
  adjustSize();
}

void Toast::dismiss() {
  open_ = false;
  hide();
  deleteLater();
  arrange(parentWidget());
}

bool Toast::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) arrange(parentWidget());
  return false;
}

Toast* add(QWidget* over, const Message& message, QPushButton* button) {
  for (Toast* older : toastsOf(over))
    if (older->message().subject == message.subject) older->dismiss();
  const QList<Toast*> kept = toastsOf(over);
  if (kept.size() >= kMax) kept.first()->dismiss();
  auto* toast = new Toast(over->window(), message, button);
  arrange(over->window());
  toast->show();
  toast->raise();
  return toast;
}

}  // namespace

QString signOf(Tone tone) {
  if (tone == Tone::bad) return QStringLiteral("fail");
  if (tone == Tone::warn) return QStringLiteral("warning");
  return tone == Tone::good ? QStringLiteral("check") : QStringLiteral("info");
}

void showToast(QWidget* over, const Message& message) { add(over, message, nullptr); }

void showToast(QWidget* over, const QString& text, Tone tone) { showToast(over, {text, tone}); }

void showToast(QWidget* over, const QString& text, const QString& button,
               std::function<void()> act) {
  QPushButton* made = quietButton(button);
  made->setObjectName(QStringLiteral("toastAction"));
  Toast* toast = add(over, {.text = text, .subject = button}, made);
  QObject::connect(made, &QPushButton::clicked, toast, [toast, act = std::move(act)] {
    toast->dismiss();
    act();
  });
}

void dismissToast(QWidget* over) {
  const QList<Toast*> toasts = toastsOf(over);
  if (!toasts.isEmpty()) toasts.last()->dismiss();
}

void settleToasts(QWidget* over, const QString& subject) {
  for (Toast* toast : toastsOf(over))
    if (toast->message().subject == subject) toast->dismiss();
}

void leaveToasts(QWidget* over) {
  for (Toast* toast : toastsOf(over))
    if (toast->message().tone == Tone::bad || toast->message().tone == Tone::warn) toast->dismiss();
}

}  // namespace heddle::gui
