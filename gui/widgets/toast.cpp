#include "gui/widgets/toast.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QTimer>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kMilliseconds = 6000;

/// Keeps a toast at its corner while the window changes its size.
class Toast : public QFrame {
 public:
  Toast(QWidget* window, const QString& text, Tone tone) : QFrame(window) {
    setObjectName(QStringLiteral("toast"));
    setProperty("role", "toast");
    auto* symbol = new QLabel;
    const QString name = tone == Tone::bad    ? QStringLiteral("fail")
                         : tone == Tone::warn ? QStringLiteral("warning")
                         : tone == Tone::good ? QStringLiteral("check")
                                              : QStringLiteral("info");
    symbol->setPixmap(iconPixmap(name, 16, colorOf(tone), devicePixelRatioF()));
    auto* message = new QLabel(text);
    message->setWordWrap(true);
    message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    message->setFixedWidth(std::min(420, message->fontMetrics().horizontalAdvance(text) + 4));
    auto* close = iconButton(QStringLiteral("close"), tr("Close"));
    connect(close, &QToolButton::clicked, this, &QObject::deleteLater);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 6, 6, 6);
    layout->setSpacing(8);
    layout->addWidget(symbol);
    layout->addWidget(message);
    layout->addWidget(close);
    window->installEventFilter(this);
    if (tone != Tone::bad) QTimer::singleShot(kMilliseconds, this, &QObject::deleteLater);
    adjustSize();
    place();
    show();
    raise();
  }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Resize) place();
    return false;
  }

 private:
  void place() {
    const QSize room = parentWidget()->size();
    move(room.width() - width() - metric::edge,
         room.height() - height() - metric::statusBar - metric::group);
  }
};

}  // namespace

void showToast(QWidget* over, const QString& text, Tone tone) {
  QWidget* window = over->window();
  for (QObject* older :
       window->findChildren<QFrame*>(QStringLiteral("toast"), Qt::FindDirectChildrenOnly))
    delete older;
  new Toast(window, text, tone);
}

}  // namespace heddle::gui
