// The run's log: follows the end as long as one does not scroll away from it. GUI thread only.
#pragma once

#include <QTextBrowser>
#include <vector>

#include "gui/views/live/log_lines.h"
#include "gui/views/live/log_search.h"
#include "gui/widgets/card.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class LogCard : public Card {
  Q_OBJECT

 public:
  /// The newest lines that are laid out; the store and an export have all of them.
  static constexpr int kShown = 5000;

  explicit LogCard(QWidget* parent = nullptr);

  void clear();
  void append(const std::vector<storage::LogLine>& lines, const std::vector<StepPoint>& steps);
  bool followsEnd() const { return follows_; }
  QString text() const { return view_->toPlainText(); }
  /// Offers to show the run's samples of text in its place.
  void offerSamples(bool offer) { samples_->setVisible(offer); }
  /// The keyboard's focus when nothing else wants it.
  void takeFocus() { view_->setFocus(); }

 Q_SIGNALS:
  /// The log wants the whole width, or no more.
  void wideWanted(bool wide);
  void samplesWanted();

 private:
  void addControls();
  void addStepMenu();
  void copy();
  LogLines::Filter filter() const;
  void rebuild();
  void insert(const LogLines::Shown& line);
  void scrolled(int value);
  void toEnd();
  void showCounts();

  LogLines lines_;
  int64_t everyStep_ = 0;
  Segment* level_;
  QToolButton* steps_;
  QToolButton* wide_;
  QTextBrowser* view_;
  QPushButton* samples_;
  QToolButton* searching_;
  LogSearch* search_;
  QLabel* state_;
  QPushButton* jump_;
  QLabel* count_;
  bool follows_ = true;
  bool laidOutWhole_ = false;
};

}  // namespace heddle::gui
