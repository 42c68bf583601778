// A modal dialog in Heddle's look: title, body, buttons at the foot. It is never lower than what it
// shows needs at its width, also where that comes later.
#pragma once

#include <QDialog>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/widgets/basics.h"

namespace heddle::gui {

class Dialog : public QDialog {
  Q_OBJECT

 public:
  /// `iconName` is drawn in its tone before the title; may be empty.
  Dialog(const QString& title, const QString& iconName, Tone tone, QWidget* parent);

  QVBoxLayout* body() const { return body_; }
  /// In its head and as the window's.
  void setTitle(const QString& title);
  /// Room for messages that may come, go and be long: a column of at least this height that
  /// scrolls, so that the buttons keep their places.
  QVBoxLayout* addRoom(int height, int between);
  /// Buttons are at the right, in the order in which they are added.
  void addButton(QPushButton* button);

  /// Gives the keyboard back to the window behind it.
  void done(int result) override;

 protected:
  bool event(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;

 private:
  void fit();
  /// To the first widget; where that is a button, to the default one.
  void giveFocus();

  QLabel* title_;
  QVBoxLayout* body_;
  QHBoxLayout* foot_;
};

/// Asks before something that cannot be undone. `action` names it: "Remove 2 runs".
bool confirm(QWidget* parent, const QString& title, const QString& text, const QString& action);

}  // namespace heddle::gui
