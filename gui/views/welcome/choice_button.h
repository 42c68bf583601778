// A way to begin, as a large button: icon, title, a sentence.
#pragma once

#include <QAbstractButton>

namespace heddle::gui {

class ChoiceButton : public QAbstractButton {
  Q_OBJECT

 public:
  ChoiceButton(const QString& iconName, const QString& title, const QString& sentence);

  QSize sizeHint() const override { return {340, 108}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  QString iconName_;
};

}  // namespace heddle::gui
