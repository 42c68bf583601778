// A modal dialog in Heddle's look: title, body, buttons at the foot.
#pragma once

#include <QDialog>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/widgets/basics.h"

namespace heddle::gui {

class Dialog : public QDialog {
  Q_OBJECT

 public:
  /// `iconName` with its tone stands before the title; may be empty.
  Dialog(const QString& title, const QString& iconName, Tone tone, QWidget* parent);

  QVBoxLayout* body() const { return body_; }
  /// In its head and as the window's.
  void setTitle(const QString& title);
  /// Buttons stand at the right, in the order in which they are added.
  void addButton(QPushButton* button);

 private:
  QLabel* title_;
  QVBoxLayout* body_;
  QHBoxLayout* foot_;
};

/// Asks before something that cannot be undone. `action` names it: "Remove 2 runs".
bool confirm(QWidget* parent, const QString& title, const QString& text, const QString& action);

}  // namespace heddle::gui
