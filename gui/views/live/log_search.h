// Search in a text: how often it is there, from one place to the next. GUI thread only.
#pragma once

#include <QTextBrowser>
#include <QToolButton>
#include <vector>

#include "gui/widgets/basics.h"
#include "gui/widgets/key_table.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {

class LogSearch : public QWidget {
  Q_OBJECT

 public:
  explicit LogSearch(QTextBrowser* view, QWidget* parent = nullptr);

  static KeyTable keys();
  /// The text that is searched for; empty: none.
  QString wanted() const { return field_->text(); }
  /// Finds the places again: the text has changed.
  void refresh();
  /// Shows the field with the keyboard in it.
  void open();

 Q_SIGNALS:
  /// The text that is searched for has changed.
  void wantedChanged();
  /// A place is shown that may be away from the end.
  void wentTo();
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void step(int by);
  void mark();

  QTextBrowser* view_;
  SearchField* field_;
  QLabel* count_;
  QToolButton* previous_;
  QToolButton* next_;
  std::vector<QTextCursor> places_;
  size_t current_ = 0;
};

}  // namespace heddle::gui
