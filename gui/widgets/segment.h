// A segment control: one of a few choices, all of them in sight.
#pragma once

#include <QButtonGroup>
#include <QStringList>
#include <QWidget>

namespace heddle::gui {

class Segment : public QWidget {
  Q_OBJECT

 public:
  explicit Segment(const QStringList& choices, QWidget* parent = nullptr);

  int current() const;
  QString currentText() const;
  /// Emits currentChanged only when the choice differs.
  void setCurrent(int index);
  void setText(int index, const QString& text);
  QAbstractButton* button(int index) const { return group_->button(index); }

 Q_SIGNALS:
  void currentChanged(int index);

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  QButtonGroup* group_;
};

}  // namespace heddle::gui
