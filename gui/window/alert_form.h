// The rules of alerts as rows of the preferences: what is changed is in the rules' file a moment
// later, which followed runs read again.
#pragma once

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <vector>

#include "gui/session.h"
#include "gui/window/preference_list.h"
#include "workbench/alerts.h"

namespace heddle::gui {

class AlertForm : public QObject {
  Q_OBJECT

 public:
  /// Adds its rows to the list, which becomes its parent.
  AlertForm(Session& session, PreferenceList& list);
  /// Writes what is not written yet.
  ~AlertForm() override;

  bool isReady() const { return !reading_.running() && !writing_.running() && !saving_.isActive(); }

 private:
  struct Rule {
    double workbench::AlertRules::*value;
    double scale;  // of the value in the file, as it is shown
    QCheckBox* on;
    QDoubleSpinBox* number;
  };
  void addRule(PreferenceList& list, const QString& title, const QString& before,
               const QString& after, const QString& note, double workbench::AlertRules::*value,
               double scale, double most);
  void display(const workbench::AlertRules& rules);
  workbench::AlertRules shown() const;
  void allow(bool allowed);
  void edited();
  void save();
  void reset();

  Session& session_;
  Worker files_{1, Worker::AtEnd::finish};
  Job reading_{files_, this};
  Job writing_{files_, this};
  QCheckBox* notFinite_;
  std::vector<Rule> rules_;
  QLabel* fault_;
  QPushButton* reset_;
  QTimer saving_;
  bool displaying_ = false;
};

}  // namespace heddle::gui
