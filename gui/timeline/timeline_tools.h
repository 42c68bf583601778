// The controls of a timeline, for the head of its card: the search with its count, and the menu.
// GUI thread only.
#pragma once

#include <QWidget>

#include "gui/timeline/timeline_widget.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {

class TimelineTools : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineTools(TimelineWidget& timeline);

  /// A button takes the place of the search until it is wanted.
  void setNarrow(bool narrow);
  /// Whether the search takes room that a narrow card has for one thing alone.
  bool isSearching() const { return open_; }
  void startSearch();

 Q_SIGNALS:
  void searchingChanged();
  /// Below that point of the screen.
  void menuWanted(const QPoint& globalPosition);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void endSearch();
  void arrange();
  void showCount();

  TimelineWidget& timeline_;
  SearchField* field_;
  QLabel* count_;
  QToolButton* previous_;
  QToolButton* next_;
  QToolButton* find_;
  QToolButton* menu_;
  bool narrow_ = false, open_ = false;
};

}  // namespace heddle::gui
