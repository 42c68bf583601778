// A run's trouble in words: failed, lost, stopped, out of contact, damage in its logs.
#pragma once

#include <QFrame>

#include "gui/models/contact.h"
#include "gui/widgets/basics.h"
#include "storage/run.h"

namespace heddle::gui {

class RunBanner : public QFrame {
  Q_OBJECT

 public:
  explicit RunBanner(QWidget* parent = nullptr);
  /// Further sentences; each may be empty.
  struct Words {
    QString heldUp;      // which rank the others wait for
    QString left;        // what a stopped run has kept
    QString restarts;    // how often it was restarted, and why
    QString asked;       // its pending request, while it cannot be reached
    QStringList alerts;  // "loss spike: step 40: …": what its steps give reason to warn of
  };
  /// Hides itself when there is nothing to say.
  void setRun(const storage::RunDetail& run, const std::vector<storage::LogGap>& gaps,
              const Contact& contact, const ContactLook& look, const Words& words);
  QString text() const;

 Q_SIGNALS:
  void recipeWanted();
  /// The run that a lost one goes on as.
  void runWanted(qint64 run);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Tone tone_ = Tone::muted;
  Symbol* sign_;
  QLabel* title_;
  QLabel* cause_;
  QPushButton* recipe_;
  QPushButton* next_;
  qint64 nextRun_ = 0;
};

/// "rank 1's log: 321 bytes from 12,345 on are damaged (checksum does not match)".
QString gapText(const std::vector<storage::LogGap>& gaps);

}  // namespace heddle::gui
