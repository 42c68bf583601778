// Completions in the filter's field: names, then signs, then values that occur.
#pragma once

#include <QLineEdit>

#include "gui/session.h"
#include "gui/views/runs/runs_model.h"
#include "gui/widgets/completion_popup.h"
#include "workbench/filter_completion.h"

namespace heddle::gui {

class FilterPopup : public QObject {
  Q_OBJECT

 public:
  FilterPopup(Session& session, const RunsModel& model, QLineEdit* field);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void offer();
  void readKeys();
  void readTexts(const std::string& key);
  void fill();
  void take(int index);

  Session& session_;
  const RunsModel& model_;
  QLineEdit* field_;
  CompletionPopup* popup_;
  Job readingKeys_;
  Job readingTexts_;
  workbench::RunKeys keys_;
  std::string textsOf_;             // the key of texts_
  std::vector<std::string> texts_;  // that occur
  workbench::FilterCompletion completion_;
  std::vector<workbench::FilterCandidate> offered_;
};

}  // namespace heddle::gui
