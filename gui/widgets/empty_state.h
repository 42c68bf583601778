// Names the missing content, with one button that creates it.
#pragma once

#include <QWidget>

#include "gui/widgets/basics.h"

namespace heddle::gui {

class EmptyState : public QWidget {
  Q_OBJECT

 public:
  EmptyState(const QString& iconName, const QString& title, const QString& text,
             const QString& buttonText, QWidget* parent = nullptr);
  QPushButton* button() const { return button_; }
  void setText(const QString& text);

 Q_SIGNALS:
  void triggered();

 private:
  QLabel* text_;
  QPushButton* button_;
};

}  // namespace heddle::gui
