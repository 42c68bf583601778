// Before a run is killed, or stopped where that keeps nothing: what was trained and is lost.
#pragma once

#include "gui/session.h"
#include "gui/widgets/dialog.h"

namespace heddle::gui {

class EndDialog : public Dialog {
  Q_OBJECT

 public:
  enum class How { stop, kill };

  /// Looks on the run's hosts for the steps that would be lost; the buttons do not wait for it.
  EndDialog(Session& session, const storage::RunDetail& run, How how, QWidget* parent);
  QString text() const { return words_->text(); }

 Q_SIGNALS:
  /// A person has read it and wants it so.
  void confirmed();

 private:
  QLabel* words_;
  Job looking_;
};

}  // namespace heddle::gui
