// The things that may be typed next in a field or a text, below its cursor, with help for the
// chosen one at their right. The field keeps the focus: Down and Up choose, Tab and Enter take,
// Escape closes, Ctrl+Space asks.
#pragma once

#include <QFrame>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>

namespace heddle::gui {

struct Suggestion {
  QString text;
  QString detail;  // a few words, muted, after it
  QString help;    // in the panel at the right
};

class CompletionPopup : public QFrame {
  Q_OBJECT

 public:
  /// Enter's meaning before anything is chosen: it takes the first suggestion, or is the field's.
  enum class Enter { takesFirst, isTheFields };

  CompletionPopup(QWidget* field, Enter enter);

  /// `line`: the cursor's line, within the field. No suggestions: it closes.
  void offer(const QList<Suggestion>& suggestions, const QRect& line);
  QListWidget* list() const { return list_; }

 Q_SIGNALS:
  /// Asked for by a key.
  void wanted();
  void taken(int index);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool takesKey(const QKeyEvent* event);
  void choose(int index);
  void place();

  QWidget* field_;
  Enter enter_;
  QListWidget* list_;
  QLabel* help_;
  QStringList helps_;
  QRect line_;
  int wide_ = 0;  // of the list
};

}  // namespace heddle::gui
