// A surface with a border: title at the left, muted note after it, room for controls at the right.
#pragma once

#include <QFrame>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/widgets/basics.h"

namespace heddle::gui {

class Card : public QFrame {
  Q_OBJECT

 public:
  /// Without a title there is no header row.
  explicit Card(const QString& title = {}, QWidget* parent = nullptr);

  void setTitle(const QString& title);
  QString title() const { return title_->text(); }
  void setNote(const QString& note);
  QString note() const { return note_->fullText(); }
  /// Adds a control at the right of the header.
  void addControl(QWidget* control);
  QVBoxLayout* body() const { return body_; }
  /// Padding of the body; the header keeps 16 px at its sides.
  void setBodyMargins(int left, int top, int right, int bottom);

 private:
  QWidget* head_;
  QHBoxLayout* row_;
  QLabel* title_;
  ElidedLabel* note_;
  QVBoxLayout* body_;
};

}  // namespace heddle::gui
