// Completions in the filter's field: names, then signs, then values that occur. The
// field keeps the focus: Down and Up choose, Tab or Enter takes, Escape closes.
#pragma once

#include <QLineEdit>
#include <QListWidget>

#include "gui/session.h"
#include "gui/views/runs/runs_model.h"
#include "workbench/filter_completion.h"

namespace heddle::gui {

class FilterPopup : public QListWidget {
  Q_OBJECT

 public:
  FilterPopup(Session& session, const RunsModel& model, QLineEdit* field);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void offer();
  void readKeys();
  void readTexts(const std::string& key);
  void fill(const workbench::FilterCompletion& completion);
  void take(const QListWidgetItem* item);
  bool takesKey(const QKeyEvent* event);

  Session& session_;
  const RunsModel& model_;
  QLineEdit* field_;
  Job readingKeys_;
  Job readingTexts_;
  workbench::RunKeys keys_;
  std::string textsOf_;             // the key of texts_
  std::vector<std::string> texts_;  // that occur
  workbench::FilterCompletion completion_;
};

}  // namespace heddle::gui
