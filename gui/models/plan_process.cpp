#include "gui/models/plan_process.h"

#include <algorithm>

namespace heddle::gui {
namespace {

constexpr int kAttempts = 2;         // a question that ends the process twice is not asked again
constexpr int kPatienceOfPlans = 6;  // times the smallest question's
constexpr int kEndMilliseconds = 500;
constexpr quint64 kProbe = 0;  // no question has this id

}  // namespace

PlanProcess::PlanProcess(QString engine, int patience)
    : engine_(std::move(engine)),
      patience_(patience),
      process_(new QProcess(this)),
      watch_(new QTimer(this)) {
  process_->setProgram(engine_);
  process_->setArguments({QStringLiteral("plan"), QStringLiteral("--serve")});
  watch_->setInterval(std::max(10, patience_ / 20));
  connect(watch_, &QTimer::timeout, this, &PlanProcess::watch);
  connect(process_, &QProcess::started, this, [this] { Q_EMIT started(process_->processId()); });
  connect(process_, &QProcess::readyReadStandardOutput, this, &PlanProcess::readLines);
  connect(process_, &QProcess::readyReadStandardError, this, [this] {
    const QByteArray said = process_->readAllStandardError().trimmed();
    if (!said.isEmpty()) lastError_ = said.mid(said.lastIndexOf('\n') + 1);
  });
  connect(process_, &QProcess::finished, this, &PlanProcess::finished);
  connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;  // the others end in `finished`
    for (const quint64 id : open_.keys())
      giveUp(id, tr("the planner cannot be started: %1: %2").arg(engine_, process_->errorString()));
  });
}

void PlanProcess::ask(quint64 id, const QString& key, const QByteArray& line) {
  const bool waits = !open_.isEmpty();
  if (!key.isEmpty()) open_.removeIf([&](const auto& each) { return each.value().key == key; });
  open_.insert(id, {key, line});
  if (process_->state() == QProcess::NotRunning) return start();
  write(open_[id]);
  if (!waits) silent_.start();
  watch_->start();
}

void PlanProcess::end() {
  ending_ = true;
  process_->kill();
  process_->waitForFinished(kEndMilliseconds);
}

void PlanProcess::start() {
  buffer_.clear();
  lastError_.clear();
  searched_ = 0;
  probed_ = hangs_ = useful_ = false;
  process_->start();
  for (Open& each : open_) write(each);
  silent_.start();
  watch_->start();
}

void PlanProcess::write(Open& question) {
  ++question.attempts;
  question.age.start();
  process_->write(question.line);
}

void PlanProcess::readLines() {
  buffer_ += process_->readAllStandardOutput();
  silent_.start();
  probed_ = false;
  useful_ = true;
  for (;;) {
    const qsizetype end = buffer_.indexOf('\n', searched_);
    if (end < 0) break;
    const QByteArray line = buffer_.left(end);
    buffer_.remove(0, end + 1);
    searched_ = 0;
    readLine(line);
  }
  searched_ = buffer_.size();
}

void PlanProcess::readLine(const QByteArray& line) {
  // An answer that nobody waits for any more may be long: it is not read.
  const auto open = open_.constFind(answerId(line));
  if (open == open_.constEnd()) return;
  const PlanAnswer answer = readAnswer(line);
  open_.erase(open);
  Q_EMIT answered(answer);
}

void PlanProcess::watch() {
  if (open_.isEmpty() || hangs_) return watch_->stop();
  // One that hears but never answers hangs too; a large plan may take its time.
  const bool deaf = probed_ && silent_.elapsed() >= patience_;
  const bool endless = std::ranges::any_of(open_, [this](const Open& each) {
    return each.age.elapsed() >= qint64{patience_} * kPatienceOfPlans;
  });
  if (deaf || endless) {
    hangs_ = true;
    process_->kill();
  } else if (!probed_ && silent_.elapsed() >= patience_ / 2) {
    probed_ = true;
    process_->write(questionLine({kProbe, {}, plan::CatalogueQuestion{}}));
  }
}

void PlanProcess::finished(int code, QProcess::ExitStatus status) {
  watch_->stop();
  if (ending_) return;
  const QString why =
      hangs_ ? tr("did not answer in time")
      : status == QProcess::CrashExit
          ? tr("was ended by signal %1").arg(code)
          : tr("ended with exit code %1%2")
                .arg(code)
                .arg(lastError_.isEmpty() ? QString()
                                          : QStringLiteral(": ") + QString::fromUtf8(lastError_));
  for (const quint64 id : open_.keys())
    if (open_[id].attempts >= kAttempts) giveUp(id, tr("the planner %1").arg(why));
  // One that never said a word is started again only where somebody asks.
  if (open_.isEmpty() && !useful_) return;
  Q_EMIT restarted(why);
  start();
}

void PlanProcess::giveUp(quint64 id, const QString& why) {
  open_.remove(id);
  Q_EMIT answered({id, nullptr, Error{why.toStdString()}});
}

}  // namespace heddle::gui
