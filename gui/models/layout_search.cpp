#include "gui/models/layout_search.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_json.h"

namespace heddle::gui {
namespace {

constexpr int kEndMilliseconds = 500;

QString wordsOf(const nlohmann::json& fault) {
  const std::string valid = fault.value("valid", "");
  return QString::fromStdString(fault.value("key", "") + ": " + fault.value("text", "") +
                                (valid.empty() ? "" : "; valid: " + valid));
}

std::vector<std::string> stringsOf(const QStringList& list) {
  std::vector<std::string> strings;
  for (const QString& each : list) strings.push_back(each.toStdString());
  return strings;
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
  process_.waitForFinished(kEndMilliseconds);
}

void LayoutSearch::start(const SearchQuestion& question) {
  if (running_) return;
  running_ = true;
  progress_ = 0;
  if (question.counts.empty())
    result_ = {};
  else
    counts_ = {};
  if (process_.state() == QProcess::NotRunning) process_.start();
  write({{"id", ++id_},
         {"search", true},
         {"recipe", question.recipe.toStdString()},
         {"file", question.file.isEmpty() ? "recipe.toml" : question.file.toStdString()},
         {"ranks", question.ranks},
         {"hardware", question.hardware.toStdString()},
         {"memory_limit", question.memoryLimit},
         {"counts", question.counts},
         {"tokens", question.tokens},
         {"fixes", stringsOf(question.fixes)}});
}

void LayoutSearch::cancel() {
  if (running_) write({{"cancel", id_}});
}

void LayoutSearch::write(const nlohmann::json& request) {
  process_.write(QByteArray::fromStdString(json_text(request)) + '\n');
}

void LayoutSearch::readLine(const QByteArray& line) {
  const auto read = read_json({line.constData(), static_cast<size_t>(line.size())});
  if (!read || !read->is_object()) return;
  try {
    if (!running_ || read->value("id", quint64{0}) != id_) return;
    const auto found = read->find("found"), counts = read->find("counts");
    if (found != read->end() || counts != read->end()) {
      if (found != read->end())
        result_ = plan::search_result_from_json(*found);
      else
        counts_ = plan::rank_counts_from_json(*counts);
      progress_ = read->value("progress", 1.0);
      Q_EMIT advanced();
      if (!read->contains("progress")) end({});
      return;
    }
    if (const auto faults = read->find("faults"); faults != read->end() && !faults->empty())
      return end(wordsOf(faults->front()));
    end(QString::fromStdString(read->value("error", "the planner has given no answer")));
  } catch (const nlohmann::json::exception& error) {
    end(tr("the planner's answer cannot be read: %1").arg(QString::fromUtf8(error.what())));
  }
}

void LayoutSearch::end(const QString& why) {
  if (!running_) return;
  running_ = false;
  Q_EMIT ended(why);
}

}  // namespace heddle::gui
