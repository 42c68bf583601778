// The first screen: what Heddle is for, and four ways to begin. GUI thread only.
#pragma once

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/welcome/choice_button.h"

namespace heddle::gui {

class WelcomePage : public Page {
  Q_OBJECT

 public:
  explicit WelcomePage(Session& session, QWidget* parent = nullptr);

  void activated() override;
  bool isReady() const override { return asked_ && !reading_.running(); }

 private:
  ChoiceButton* choice(const char* name, const QString& iconName, const QString& title,
                       const QString& sentence, void (WelcomePage::*act)());
  void openSample();
  void train();
  void plan();
  void import();

  Job reading_;
  bool asked_ = false;
  qint64 sample_ = 0;  // 0: it is not in the store
  ChoiceButton* openSample_;
};

}  // namespace heddle::gui
