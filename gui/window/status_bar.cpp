#include "gui/window/status_bar.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {

StatusBar::StatusBar(Session& session, QWidget* parent)
    : QFrame(parent), session_(session), reading_(session.readingThread(), this) {
  setProperty("role", "statusbar");
  setFixedHeight(metric::statusBar);
  new FocusLine(this);
  dot_ = new StatusDot;
  state_ = muted(tr("nothing is training"));
  name_ = new ElidedLabel({}, "mono");
  stepLabel_ = muted(tr("step"));
  step_ = mono({});
  progress_ = new QProgressBar;
  progress_->setFixedWidth(120);
  progress_->setTextVisible(false);
  progress_->setStyleSheet(QStringLiteral("min-height: 4px; max-height: 4px;"));
  progress_->setAccessibleName(tr("Steps done"));
  rate_ = mono({});
  etaLabel_ = muted(tr("ETA"));
  eta_ = mono({});
  store_ = mono({});
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 0, 16, 0);
  layout->setSpacing(6);
  const auto apart = [layout] { layout->addSpacing(10); };
  layout->addWidget(dot_);
  layout->addWidget(state_);
  apart();
  layout->addWidget(name_);
  apart();
  layout->addWidget(stepLabel_);
  layout->addWidget(step_);
  layout->addWidget(progress_);
  apart();
  layout->addWidget(rate_);
  apart();
  layout->addWidget(etaLabel_);
  layout->addWidget(eta_);
  layout->addStretch(1);
  messages_ = linkButton({});
  messages_->setObjectName(QStringLiteral("messages"));
  messages_->hide();
  connect(messages_, &QPushButton::clicked, this, &StatusBar::messagesClicked);
  layout->addWidget(messages_);
  apart();
  readOnly_ = linkButton(tr("only read"));
  readOnly_->setObjectName(QStringLiteral("readOnly"));
  readOnly_->setToolTip(
      tr("Nothing in this store is changed and no run in it is followed: click for the reason and "
         "what to do"));
  readOnly_->setVisible(session.isReadOnly());
  connect(readOnly_, &QPushButton::clicked, &session, &Session::offerTrust);
  connect(&session, &Session::readOnlyChanged, this,
          [this] { readOnly_->setVisible(session_.isReadOnly()); });
  layout->addWidget(readOnly_);
  apart();
  layout->addWidget(muted(tr("store")));
  layout->addWidget(store_);
  apart();
  layout->addWidget(muted(tr("engine")));
  layout->addWidget(mono(QCoreApplication::applicationVersion()));
  connect(&session, &Session::storeChanged, this, &StatusBar::refresh);
  connect(&session, &Session::secondPassed, this, &StatusBar::tick);
  connect(&session, &Session::askedChanged, this, [this] { display(status_); });
  display(std::nullopt);
}

void StatusBar::refresh() {
  const QString path = session_.storePath();
  store_->setText(format::bytes(
      double(QFileInfo(path).size() + QFileInfo(path + QStringLiteral("-wal")).size())));
  session_.read(reading_, runStatus, [this](Result<std::optional<RunStatus>> status) {
    if (status) display(std::move(*status));
  });
}

void StatusBar::display(std::optional<RunStatus> status) {
  status_ = std::move(status);
  const bool running = status_.has_value();
  for (QWidget* widget :
       std::initializer_list<QWidget*>{name_, stepLabel_, step_, progress_, rate_, etaLabel_, eta_})
    widget->setVisible(running);
  setCursor(running ? Qt::PointingHandCursor : Qt::ArrowCursor);
  setFocusPolicy(running ? Qt::TabFocus : Qt::NoFocus);
  setAccessibleName(running
                        ? tr("Show the run that trains, %1").arg(format::spelled(status_->run.name))
                        : tr("Status"));
  showContact();
  if (!running) return;
  const storage::RunSummary& run = status_->run;
  RunPace& pace = status_->pace;
  pace.ending = !session_.asked(run.id).isEmpty();
  name_->setFullText(format::spelled(run.name));
  const QString step = format::count(pace.step);
  step_->setText(pace.steps > 0 ? tr("%1 / %2").arg(step, format::count(pace.steps)) : step);
  progress_->setVisible(pace.steps > 0);
  progress_->setRange(0, 1000);
  if (pace.steps > 0) progress_->setValue(static_cast<int>(1000 * pace.step / pace.steps));
  const auto rate = run.tokens_per_second_per_rank;
  rate_->setVisible(rate.has_value());
  rate_->setText(rate ? format::tokensPerSecond(*rate) : QString());
  rate_->setToolTip(tr("a rank, median of the run so far"));
  const auto remaining = pace.remaining();
  etaLabel_->setVisible(remaining.has_value());
  eta_->setVisible(remaining.has_value());
  eta_->setText(remaining ? format::seconds(*remaining) : QString());
}

void StatusBar::showContact() {
  const bool running = status_.has_value();
  const ContactLook look = running ? lookOf(status_->contact, unixNow()) : ContactLook{};
  const std::optional<Tone> tone = running ? std::optional(look.tone) : std::nullopt;
  dot_->set(running ? look.tone : Tone::muted, running);
  if (std::exchange(tone_, tone) != tone) Q_EMIT runningChanged(tone);
  if (!running) {
    state_->setText(tr("nothing is training"));
  } else if (!look.fresh()) {
    const QString asked = askedText(session_.asked(status_->run.id), look);
    state_->setText(look.word == ContactLook::Word::lost && !asked.isEmpty()
                        ? tr("%1; %2").arg(look.text, asked)
                        : look.text);
  } else if (status_->others > 0) {
    state_->setText(tr("%1 running").arg(format::count(status_->others + 1)));
  } else {
    const QString asked = session_.asked(status_->run.id);
    state_->setText(asked.isEmpty() ? QString::fromStdString(storage::to_string(status_->run.state))
                                    : asked + QChar(0x2026));
  }
  state_->setToolTip(running && status_->contact.link
                         ? QString::fromStdString(status_->contact.link->reason)
                         : QString());
  const char* tones = look.tone == Tone::bad ? "bad" : look.tone == Tone::muted ? "muted" : "warn";
  setTone(state_, look.fresh() ? "" : tones);
  for (QLabel* figure : {step_, rate_, eta_}) setTone(figure, look.fresh() ? "" : "muted");
  progress_->setEnabled(look.fresh());
}

/// While the run is not heard of, whether anybody follows it may change without the store.
void StatusBar::tick() {
  if (!status_) return;
  showContact();
  if (!lookOf(status_->contact, unixNow()).fresh() && !reading_.running()) refresh();
}

void StatusBar::setMessages(int count) {
  messages_->setVisible(count > 0);
  messages_->setText(format::plural(count, counted::kMessage));
}

void StatusBar::keyPressEvent(QKeyEvent* event) {
  const bool presses = event->key() == Qt::Key_Space || event->key() == Qt::Key_Return ||
                       event->key() == Qt::Key_Enter;
  if (!status_ || !presses) return QFrame::keyPressEvent(event);
  Q_EMIT runClicked(status_->run.id);
}

void StatusBar::mouseReleaseEvent(QMouseEvent* event) {
  if (status_ && event->button() == Qt::LeftButton) Q_EMIT runClicked(status_->run.id);
}

}  // namespace heddle::gui
