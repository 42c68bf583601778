// Past messages, the newest first.
#pragma once

#include <QFrame>
#include <QListWidget>

#include "gui/widgets/toast.h"

namespace heddle::gui {

class MessageList : public QFrame {
  Q_OBJECT

 public:
  static constexpr int kKept = 100;

  explicit MessageList(QWidget* parent = nullptr);

  void add(const Message& message);
  int count() const { return list_->count(); }
  /// Opens over `at`; Escape closes it.
  void open(QWidget* at);

 Q_SIGNALS:
  void countChanged(int count);

 private:
  QListWidget* list_;
};

}  // namespace heddle::gui
