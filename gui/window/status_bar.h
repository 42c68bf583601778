// The bar at the foot: the run that trains now, the store, the engine.
#pragma once

#include <QFrame>
#include <QProgressBar>

#include "gui/session.h"
#include "gui/widgets/basics.h"
#include "gui/window/run_status.h"

namespace heddle::gui {

class StatusBar : public QFrame {
  Q_OBJECT

 public:
  explicit StatusBar(Session& session, QWidget* parent = nullptr);

  /// Reads again what runs and how large the store is.
  void refresh();
  /// How many messages there are to look at.
  void setMessages(int count);
  bool isReady() const { return !reading_.running(); }

 Q_SIGNALS:
  /// The tone of the newest run's dot; none: nothing runs.
  void runningChanged(std::optional<heddle::gui::Tone> tone);
  void runClicked(qint64 run);
  void messagesClicked();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  void display(std::optional<RunStatus> status);
  void showContact();
  void tick();

  Session& session_;
  Job reading_;
  std::optional<RunStatus> status_;
  std::optional<Tone> tone_;
  StatusDot* dot_;
  QLabel* state_;
  ElidedLabel* name_;
  QLabel* stepLabel_;
  QLabel* step_;
  QProgressBar* progress_;
  QLabel* rate_;
  QLabel* etaLabel_;
  QLabel* eta_;
  QPushButton* messages_;
  QPushButton* readOnly_;
  QLabel* store_;
};

}  // namespace heddle::gui
