#include "gui/window/status_bar.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMouseEvent>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

StatusBar::StatusBar(Session& session, QWidget* parent)
    : QFrame(parent), session_(session), reading_(session.readingThread(), this) {
  setProperty("role", "statusbar");
  setFixedHeight(metric::statusBar);
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
  layout->addWidget(muted(tr("store")));
  layout->addWidget(store_);
  apart();
  layout->addWidget(muted(tr("engine")));
  layout->addWidget(mono(QCoreApplication::applicationVersion()));
  connect(&session, &Session::storeChanged, this, &StatusBar::refresh);
  display(std::nullopt);
}

void StatusBar::refresh() {
  const QString path = session_.storePath();
  store_->setText(format::bytes(
      double(QFileInfo(path).size() + QFileInfo(path + QStringLiteral("-wal")).size())));
  session_.read(reading_, runStatus, [this](const Result<std::optional<RunStatus>>& status) {
    if (status) display(*status);
  });
}

void StatusBar::display(const std::optional<RunStatus>& status) {
  const bool was = status_.has_value();
  status_ = status;
  const bool running = status.has_value();
  dot_->set(running ? Tone::good : Tone::muted, running);
  for (QWidget* widget :
       std::initializer_list<QWidget*>{name_, stepLabel_, step_, progress_, rate_, etaLabel_, eta_})
    widget->setVisible(running);
  setCursor(running ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (was != running) Q_EMIT runningChanged(running);
  if (!running) return state_->setText(tr("nothing is training"));

  state_->setText(status->others > 0 ? tr("%1 running").arg(format::count(status->others + 1))
                                     : QString::fromStdString(storage::to_string(status->state)));
  name_->setFullText(status->name);
  const QString step = format::count(status->step);
  step_->setText(status->steps > 0 ? tr("%1 / %2").arg(step, format::count(status->steps)) : step);
  progress_->setVisible(status->steps > 0);
  progress_->setRange(0, 1000);
  if (status->steps > 0) progress_->setValue(static_cast<int>(1000 * status->step / status->steps));
  rate_->setVisible(status->tokensPerSecond > 0);
  rate_->setText(format::tokensPerSecond(status->tokensPerSecond));
  const auto remaining = status->remaining();
  etaLabel_->setVisible(remaining.has_value());
  eta_->setVisible(remaining.has_value());
  eta_->setText(remaining ? format::seconds(*remaining) : QString());
}

void StatusBar::mouseReleaseEvent(QMouseEvent* event) {
  if (status_ && event->button() == Qt::LeftButton) Q_EMIT runClicked(status_->id);
}

}  // namespace heddle::gui
