#include "gui/window/message_list.h"

#include <QVBoxLayout>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr QSize kSize{520, 320};

}  // namespace

MessageList::MessageList(QWidget* parent) : QFrame(parent, Qt::Popup) {
  setObjectName(QStringLiteral("messageList"));
  setProperty("role", "popup");
  list_ = new QListWidget;
  list_->setWordWrap(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Messages"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 8, 4, 8);
  layout->setSpacing(4);
  layout->addWidget(section(tr("Messages")));
  layout->addWidget(list_, 1);
  setFocusProxy(list_);
  resize(kSize);
}

void MessageList::add(const Message& message) {
  auto* item = new QListWidgetItem(
      icon(signOf(message.tone), message.tone),
      message.time.toString(QStringLiteral("HH:mm:ss")) + QStringLiteral("  ") + message.text);
  list_->insertItem(0, item);
  while (list_->count() > kKept) delete list_->takeItem(list_->count() - 1);
  Q_EMIT countChanged(list_->count());
}

void MessageList::open(QWidget* at) {
  const QWidget* window = at->window();
  const QPoint corner =
      window->mapToGlobal(QPoint(window->width() - width() - metric::edge,
                                 window->height() - metric::statusBar - height() - 4));
  move(corner);
  show();
  list_->setCurrentRow(0);
  list_->setFocus();
}

}  // namespace heddle::gui
