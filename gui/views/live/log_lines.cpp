#include "gui/views/live/log_lines.h"

#include <QObject>
#include <algorithm>
#include <cmath>

#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr qsizetype kLong = 120;   // characters: longer than a few rows of a narrow card
constexpr qsizetype kFolded = 48;  // about a row of a wide one

bool earlier(const storage::LogLine& a, const storage::LogLine& b) {
  return a.time != b.time ? a.time < b.time : a.id < b.id;
}

QString beginning(const QString& text) {
  qsizetype end = text.indexOf(QLatin1Char(';'));
  if (end < 0 || end > kFolded) end = text.lastIndexOf(QLatin1Char(' '), kFolded);
  return text.left(end > 0 ? end : kFolded);
}

}  // namespace

QString stepText(const StepPoint& point) {
  QStringList parts;
  if (point.hasLoss) parts << QObject::tr("loss %1").arg(format::loss(point.loss));
  if (std::isfinite(point.tokensPerSecond))
    parts << QObject::tr("%1 a rank").arg(format::tokensPerSecond(point.tokensPerSecond));
  if (std::isfinite(point.memoryBytes)) parts << format::bytes(point.memoryBytes);
  if (std::isfinite(point.stepSeconds)) parts << format::seconds(point.stepSeconds);
  return QObject::tr("step %1: %2")
      .arg(format::count(point.step), parts.join(QStringLiteral(", ")));
}

void LogLines::clear() { *this = {}; }

bool LogLines::add(const std::vector<storage::LogLine>& lines,
                   const std::vector<StepPoint>& steps) {
  const double lastLine = lines_.empty() ? 0 : lines_.back().time;
  const double lastStep = steps_.empty() ? 0 : steps_.back().time;
  if (steps_.size() >= 2 * kMaxSteps)
    steps_.erase(steps_.begin(), steps_.end() - static_cast<std::ptrdiff_t>(kMaxSteps));
  firstNewLine_ = lines_.size();
  firstNewStep_ = steps_.size();
  lines_.insert(lines_.end(), lines.begin(), lines.end());
  steps_.insert(steps_.end(), steps.begin(), steps.end());
  for (const storage::LogLine& line : lines) ++counts_.at(static_cast<size_t>(line.level));
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(firstNewLine_);
  std::sort(begin, lines_.end(), earlier);
  std::inplace_merge(lines_.begin(), begin, lines_.end(), earlier);
  const double first = std::min(
      lines.empty() ? HUGE_VAL : std::min_element(lines.begin(), lines.end(), earlier)->time,
      steps.empty() ? HUGE_VAL : steps.front().time);
  return first >= std::max(lastLine, lastStep);
}

LogLines::Shown LogLines::shown(const storage::LogLine& line, bool whole) const {
  Shown shown{line.time, line.level, line.rank, line.id,
              QString::fromStdString(line.text).trimmed()};
  shown.folds = !whole && line.level == telemetry::Level::info && shown.text.size() > kLong;
  if (shown.folds && !unfolded_.contains(line.id)) shown.text = beginning(shown.text);
  return shown;
}

std::vector<LogLines::Shown> LogLines::merged(const Filter& filter, size_t line, size_t step,
                                              size_t most) const {
  std::vector<Shown> result;
  size_t i = lines_.size(), k = steps_.size();
  const bool withSteps = filter.everyStep > 0 && filter.least == telemetry::Level::info;
  if (!withSteps) k = step;
  while (result.size() < most && (i > line || k > step)) {
    if (k > step && (i == line || steps_[k - 1].time > lines_[i - 1].time)) {
      const StepPoint& point = steps_[--k];
      if (point.step % filter.everyStep == 0)
        result.push_back(
            {point.time, telemetry::Level::info, telemetry::kSupervisorRank, 0, stepText(point)});
      continue;
    }
    const storage::LogLine& one = lines_[--i];
    if (one.level >= filter.least) result.push_back(shown(one, filter.whole));
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<LogLines::Shown> LogLines::last(const Filter& filter, size_t most) const {
  return merged(filter, 0, 0, most);
}

std::vector<LogLines::Shown> LogLines::added(const Filter& filter) const {
  return merged(filter, firstNewLine_, firstNewStep_, lines_.size() + steps_.size());
}

void LogLines::toggle(int64_t id) {
  if (!unfolded_.erase(id)) unfolded_.insert(id);
}

}  // namespace heddle::gui
