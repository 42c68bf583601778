#include "gui/views/targets/questions_dialog.h"

#include <future>
#include <mutex>

#include "base/one_line.h"
#include "base/say.h"

namespace heddle::gui {
namespace {

/// The host's own words: never markup.
QLabel* plain(const std::string& text) {
  auto* made = new QLabel;
  made->setTextFormat(Qt::PlainText);
  made->setWordWrap(true);
  made->setText(QString::fromStdString(printable(text)));
  return made;
}

}  // namespace

QuestionsDialog::QuestionsDialog(const remote::Questions& questions, QWidget* parent)
    : Dialog(tr("Log in to %1").arg(QString::fromStdString(one_line(questions.host))),
             QStringLiteral("key"), questions.refused ? Tone::warn : Tone::accent, parent) {
  auto* lead = plain(tr("The host asks before it lets you in. Heddle keeps no answer; all runs "
                        "share the connection while it lives.")
                         .toStdString());
  if (questions.refused) lead->setText(tr("That was not right. The host asks again."));
  lead->setObjectName(QStringLiteral("lead"));
  body()->addWidget(lead);
  for (const std::string& text : {questions.title, questions.text})
    if (!text.empty()) body()->addWidget(plain(text));
  for (const remote::Prompt& prompt : questions.prompts) {
    auto* field = new QLineEdit;
    field->setObjectName(QStringLiteral("answer%1").arg(fields_.size()));
    field->setEchoMode(prompt.echo ? QLineEdit::Normal : QLineEdit::Password);
    QString text = QString::fromStdString(one_line(prompt.text)).trimmed();
    // Not a key of the dialog's.
    text.replace(QLatin1Char('&'), QStringLiteral("&&"));
    QLabel* label = fieldLabel(text, field);
    label->setTextFormat(Qt::PlainText);
    body()->addWidget(label);
    body()->addWidget(field);
    fields_ << field;
  }
  QPushButton* cancel = quietButton(tr("Cancel"));
  cancel->setObjectName(QStringLiteral("cancel"));
  QPushButton* login = primaryButton(tr("Log in"));
  login->setObjectName(QStringLiteral("logIn"));
  addButton(cancel);
  addButton(login);
  login->setDefault(true);
  if (!fields_.isEmpty()) fields_.first()->setFocus();
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(login, &QPushButton::clicked, this, &QDialog::accept);
}

remote::Answers QuestionsDialog::answers() const {
  remote::Answers answers;
  for (const QLineEdit* field : fields_) answers.push_back(field->text().toStdString());
  return answers;
}

/// The way from threads that connect to the questioner, which may go at any time.
struct Questioner::Link {
  std::mutex mutex;
  Questioner* to = nullptr;

  Result<remote::Answers> ask(const remote::Questions& questions) {
    using Promise = std::promise<Result<remote::Answers>>;
    auto promise = std::make_shared<Promise>();
    std::future<Result<remote::Answers>> answers = promise->get_future();
    {
      const std::lock_guard lock(mutex);
      if (!to) return fail("the window was closed");
      // The call alone owns the promise: where it never comes, the promise breaks.
      QMetaObject::invokeMethod(
          to,
          [there = to, questions, promise = std::move(promise)] {
            promise->set_value(there->ask(questions));
          },
          Qt::QueuedConnection);
    }
    try {
      return answers.get();
    } catch (const std::future_error&) {
      return fail("the window was closed");
    }
  }
};

Questioner::Questioner(QWidget* window)
    : QObject(window), window_(window), link_(std::make_shared<Link>()) {
  link_->to = this;
  remote::set_asker([link = link_](const remote::Questions& questions) -> Result<remote::Answers> {
    // A run is followed again every few seconds: no dialog comes by itself.
    if (questions.background) return fail("nobody is asked without a request");
    return link->ask(questions);
  });
}

Questioner::~Questioner() {
  remote::set_asker({});
  const std::lock_guard lock(link_->mutex);
  link_->to = nullptr;
}

Result<remote::Answers> Questioner::ask(const remote::Questions& questions) {
  QuestionsDialog dialog(questions, window_);
  if (dialog.exec() != QDialog::Accepted) return fail("you gave no answer");
  return dialog.answers();
}

}  // namespace heddle::gui
