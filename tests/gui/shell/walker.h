// A person without a mouse: goes to a scene of the window, opens what can be opened there by keys,
// looks at it and leaves it by Escape.
#pragma once

#include <QElapsedTimer>
#include <QMenu>
#include <QPointer>
#include <functional>

#include "tests/support/sample_window.h"

namespace heddle::gui {

/// The popup, dialog or popup-like frame over the window; null: there is none.
QWidget* openedOver(const QWidget* window);

/// These would train, or leave the window.
bool leadsAway(const QString& name);

/// Fails unless there is none.
void none(const QStringList& faults);

/// A line for each entry without a text, and for each two of one text.
QStringList faultsOf(const QMenu* menu);

/// A line for each key, mnemonics too, that two things of the dialog or popup have.
QStringList keysTwice(const QWidget* over);

class Walker {
 public:
  explicit Walker(SampleWindow& opened) : opened_(opened) {}

  MainWindow* window() const { return opened_.window.get(); }

  /// All pages, and some in further states.
  static QStringList scenes();
  void show(const QString& scene);

  /// Opens something, looks at it, and leaves it by Escape. What opens may have an event loop of
  /// its own, so that it is looked at by a timer.
  void explore(const QString& path, const std::function<void()>& open);

  /// The palette is open with the action as its current line.
  bool findInPalette(const QAction& action) const;

  /// Takes steps, each once it can be taken: "palette TEXT" runs an action, "press NAME" pushes a
  /// button or opens a box, "menu TEXT" chooses an entry of the open menu, "context NAME" opens a
  /// widget's menu, "key KEYS" presses them, "focus NAME", "type TEXT". Looks at what is open then,
  /// whose title, name or class contains `opens`; Escape closes it, and the keyboard is where it
  /// was before.
  void walk(const QStringList& steps, const QString& opens);
  /// The same of what no key opens.
  void walk(const std::function<void()>& open, const QString& opens);

  QStringList faults;
  int menus = 0;

 private:
  void lookAndLeave(const QString& path);
  void look(QWidget* over, const QString& path);
  void nextStep();
  bool canTake(const QString& step) const;
  void take(const QString& step);
  QWidget* find(const QString& name) const;
  bool isOpen() const;

  SampleWindow& opened_;
  QStringList steps_;
  QString opens_, path_;
  std::function<void()> open_;
  QPointer<QWidget> before_;  // has the keyboard where the way begins
  bool done_ = false;
  QElapsedTimer waiting_;
};

}  // namespace heddle::gui
