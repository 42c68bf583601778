#include "gui/models/layout_search.h"

#include "gui/models/plan_answer.h"

namespace heddle::gui {
namespace {

constexpr int kSearchEndMilliseconds = 500;

QString wordsOf(const plan::Fault& fault) {
  return QString::fromStdString(fault.key + ": " + fault.text +
                                (fault.valid.empty() ? "" : "; valid: " + fault.valid));
}

}  // namespace

LayoutSearch::LayoutSearch(const QString& engine, QObject* parent) : QObject(parent) {
  process_.setProgram(engine);
  process_.setArguments({QStringLiteral("plan"), QStringLiteral("--serve")});
  connect(&process_, &QProcess::readyReadStandardOutput, this, [this] {
    while (process_.canReadLine()) readLine(process_.readLine());
  });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      end(tr("the planner cannot be started: %1").arg(process_.errorString()));
  });
  connect(&process_, &QProcess::finished, this,
          [this] { end(tr("the planner ended before it answered")); });
}

LayoutSearch::~LayoutSearch() {
  process_.disconnect(this);
  process_.kill();
  process_.waitForFinished(kSearchEndMilliseconds);
}

void LayoutSearch::start(const plan::SearchQuestion& question) {
  if (running_) return;
  running_ = true;
  progress_ = 0;
  if (question.counts.empty())
    result_ = {};
  else
    counts_ = {};
  if (process_.state() == QProcess::NotRunning) process_.start();
  ++id_;
  write(question);
}

void LayoutSearch::cancel() {
  if (running_) write(plan::Cancel{id_});
}

void LayoutSearch::write(plan::Question question) {
  process_.write(questionLine({id_, {}, std::move(question)}));
}

void LayoutSearch::readLine(const QByteArray& line) {
  if (!running_ || answerId(line) != id_) return;
  plan::Answer answer = plan::read_answer({line.constData(), static_cast<size_t>(line.size())});
  if (auto* found = std::get_if<plan::SearchResult>(&answer.reply))
    result_ = std::move(*found);
  else if (auto* counts = std::get_if<plan::RankCounts>(&answer.reply))
    counts_ = std::move(*counts);
  else if (const auto* faults = std::get_if<std::vector<plan::Fault>>(&answer.reply);
           faults && !faults->empty())
    return end(wordsOf(faults->front()));
  else if (const auto* error = std::get_if<Error>(&answer.reply))
    return end(QString::fromStdString(error->message));
  else
    return end(tr("the planner has given no answer"));
  progress_ = answer.progress.value_or(1.0);
  Q_EMIT advanced();
  if (!answer.progress) end({});
}

void LayoutSearch::end(const QString& why) {
  if (!running_) return;
  running_ = false;
  Q_EMIT ended(why);
}

}  // namespace heddle::gui
