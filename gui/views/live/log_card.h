// The run's log: follows the end as long as one does not scroll away from it. GUI thread only.
#pragma once

#include <QTextEdit>
#include <vector>

#include "gui/widgets/card.h"
#include "gui/widgets/segment.h"
#include "storage/run.h"

namespace heddle::gui {

class LogCard : public Card {
  Q_OBJECT

 public:
  /// The newest lines that are laid out; the store and an export have all of them.
  static constexpr int kShown = 5000;

  explicit LogCard(QWidget* parent = nullptr);

  void clear();
  void append(const std::vector<storage::LogLine>& lines);
  bool followsEnd() const { return follows_; }
  QString text() const { return view_->toPlainText(); }

 private:
  void rebuild();
  void insert(const storage::LogLine& line);
  bool accepts(const storage::LogLine& line) const;
  void scrolled(int value);
  void toEnd();
  void showCounts();

  std::vector<storage::LogLine> lines_;
  size_t warnings_ = 0;
  Segment* level_;
  QTextEdit* view_;
  QLabel* state_;
  QPushButton* jump_;
  QLabel* count_;
  bool follows_ = true;
};

}  // namespace heddle::gui
