// Predictions for the window: asks the planning process, tells the newest answer. GUI thread only;
// nothing here waits.
#pragma once

#include <QHash>
#include <QObject>
#include <QThread>
#include <QTimer>

#include "gui/models/plan_answer.h"

namespace heddle::gui {

class PlanProcess;

class PlanClient : public QObject {
  Q_OBJECT

 public:
  static constexpr int kPatience = 20000;

  /// `engine`: the program. It is started with the first question. `patience`: see PlanProcess.
  explicit PlanClient(const QString& engine, int patience = kPatience, QObject* parent = nullptr);
  ~PlanClient() override;

  /// Answered by one of `planned`, `faulty` and `failed`, unless a newer question with the same key
  /// takes its place. Questions of a few milliseconds are one.
  void ask(const QString& key, const plan::PlanQuestion& question);
  bool isBusy() const { return !waiting_.isEmpty(); }

  /// Empty until the planner has sent it, after the first question.
  const std::vector<plan::HardwareEntry>& catalogue() const { return catalogue_; }
  /// "The planner was ended by signal 9 and has been started again", until a later question is
  /// answered. Empty: all is well.
  const QString& trouble() const { return trouble_; }
  /// The process that runs; 0: none has been started.
  qint64 pid() const { return pid_; }

 Q_SIGNALS:
  void planned(const QString& key, std::shared_ptr<const heddle::gui::Prediction> prediction);
  void faulty(const QString& key, const std::vector<heddle::plan::Fault>& faults);
  void failed(const QString& key, const QString& why);
  void catalogueChanged();
  void troubleChanged();

 private:
  void send();
  void take(const PlanAnswer& answer);
  void setTrouble(const QString& trouble);

  QThread thread_;
  PlanProcess* process_;  // lives on the thread
  QTimer soon_;
  quint64 newest_ = 0;
  quint64 catalogueId_ = 0;
  quint64 troubledAt_ = 0;                    // the newest question when the trouble came
  QHash<QString, plan::PlanQuestion> asked_;  // not sent yet
  QHash<QString, quint64> waiting_;           // the newest question of each key; 0: not sent yet
  std::vector<plan::HardwareEntry> catalogue_;
  QString trouble_;
  qint64 pid_ = 0;
};

}  // namespace heddle::gui
