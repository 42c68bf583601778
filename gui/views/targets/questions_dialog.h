// A host's questions at login, such as a one-time password: a field for each, hidden where the host
// says so.
#pragma once

#include <QLineEdit>
#include <memory>

#include "gui/widgets/dialog.h"
#include "remote/interactive.h"

namespace heddle::gui {

class QuestionsDialog : public Dialog {
  Q_OBJECT

 public:
  QuestionsDialog(const remote::Questions& questions, QWidget* parent);

  remote::Answers answers() const;

 private:
  QList<QLineEdit*> fields_;
};

/// Asks the host's questions of the whole process in dialogs over `window`, as long as it lives.
/// GUI thread.
class Questioner : public QObject {
  Q_OBJECT

 public:
  explicit Questioner(QWidget* window);
  ~Questioner() override;

 private:
  struct Link;
  Result<remote::Answers> ask(const remote::Questions& questions);

  QWidget* window_;
  std::shared_ptr<Link> link_;
};

}  // namespace heddle::gui
