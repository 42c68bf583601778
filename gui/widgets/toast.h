// Passing messages at the lower right of a window: all go by themselves, errors later than others.
#pragma once

#include <QDateTime>
#include <QFrame>
#include <QString>
#include <functional>

#include "gui/theme/icons.h"

namespace heddle::gui {

struct Message {
  QString text;
  Tone tone = Tone::text;
  QString subject = {};  // "run 12": its last toast replaces earlier ones
  QDateTime time = QDateTime::currentDateTime();
};

/// The symbol of messages of a tone.
QString signOf(Tone tone);

/// Shows a message over the widget's window, in place of an older one of the same subject.
void showToast(QWidget* over, const Message& message);
void showToast(QWidget* over, const QString& text, Tone tone = Tone::text);

/// A message with a button, such as "Undo", which does `act` once and closes the toast. Stays
/// next to other messages; the newest of that button takes the place of the older one.
void showToast(QWidget* over, const QString& text, const QString& button,
               std::function<void()> act);

/// Closes the newest one.
void dismissToast(QWidget* over);
/// Closes toasts about a subject that no longer hold.
void settleToasts(QWidget* over, const QString& subject);
/// Closes the warnings and errors of a page that is left, so that they do not cover the next one.
void leaveToasts(QWidget* over);

}  // namespace heddle::gui
