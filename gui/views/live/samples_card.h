// The text that a run generated after its validations, step by step. GUI thread only.
#pragma once

#include <QComboBox>
#include <QTextBrowser>
#include <QToolButton>
#include <map>
#include <vector>

#include "engine/telemetry/sample.h"
#include "gui/widgets/card.h"
#include "storage/run.h"

namespace heddle::gui {

class SamplesCard : public Card {
  Q_OBJECT

 public:
  explicit SamplesCard(QWidget* parent = nullptr);

  void clear();
  /// Takes the samples among the lines of a run whose samples begin with `prompt`.
  void append(const std::vector<storage::LogLine>& lines, const QString& prompt);
  bool isEmpty() const { return steps_.empty(); }
  QString text() const { return view_->toPlainText(); }
  /// Focuses the text. No focus proxy: Tab would skip the buttons above it.
  void takeFocus() { view_->setFocus(); }
  int64_t step() const { return chooser_->currentData().toLongLong(); }

 Q_SIGNALS:
  void logWanted();

 private:
  void display();

  std::map<int64_t, std::vector<telemetry::Sample>> steps_;
  QString prompt_;
  QComboBox* chooser_;
  QToolButton* previous_;
  QToolButton* next_;
  QTextBrowser* view_;
};

}  // namespace heddle::gui
