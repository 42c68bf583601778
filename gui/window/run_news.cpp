#include "gui/window/run_news.h"

#include <QCoreApplication>

#include "gui/format.h"
#include "gui/models/state_look.h"
#include "workbench/alerts.h"

namespace heddle::gui {
namespace {

struct NewsWords {
  Q_DECLARE_TR_FUNCTIONS(RunNews)
};

QString endWords(storage::RunState state) {
  switch (state) {
    case storage::RunState::failed:
      return NewsWords::tr("%1 failed");
    case storage::RunState::lost:
      return NewsWords::tr("%1 is lost");
    case storage::RunState::stopped:
      return NewsWords::tr("%1 was stopped");
    default:
      return NewsWords::tr("%1 is done");
  }
}

RunNews newsOf(const storage::RunSummary& run) {
  QStringList parts{NewsWords::tr("step %1").arg(format::count(run.steps))};
  if (run.loss) parts << NewsWords::tr("loss %1").arg(format::loss(*run.loss));
  if (!run.cause.empty()) parts.prepend(QString::fromStdString(run.cause));
  const bool failed =
      run.state == storage::RunState::failed || run.state == storage::RunState::lost;
  return {run.id, failed ? RunNews::Kind::failure : RunNews::Kind::end,
          endWords(run.state).arg(format::spelled(run.name)), parts.join(QStringLiteral(", ")),
          lookOf(run.state).tone};
}

RunNews newsOf(const storage::RunSummary& run, const workbench::Alert& alert) {
  return {run.id, RunNews::Kind::alert,
          QStringLiteral("%1: %2").arg(format::spelled(run.name),
                                       NewsWords::tr(workbench::name_of(alert.kind).c_str())),
          QString::fromStdString(alert.words), Tone::warn};
}

/// The lines of a run that had none of them read when the cursor began.
Result<int64_t> lastLine(storage::Reader& reader, storage::RunId run) {
  const auto last = reader.last_lines(run, 1);
  if (!last) return fail(last);
  return last->empty() ? 0 : last->back().id;
}

}  // namespace

Result<NewsUpdate> readNews(storage::Reader& reader, const NewsCursor& before) {
  NewsUpdate update;
  update.cursor.begun = true;
  const auto unfinished = reader.unfinished_runs();
  if (!unfinished) return fail(unfinished);
  for (const storage::RunSummary& run : *unfinished) {
    const auto known = before.lines.find(run.id);
    int64_t& line = update.cursor.lines[run.id];
    if (!before.begun) {
      const auto last = lastLine(reader, run.id);
      if (!last) return fail(last);
      line = *last;
      continue;
    }
    line = known == before.lines.end() ? 0 : known->second;
    const auto lines = reader.lines_after(run.id, line);
    if (!lines) return fail(lines);
    if (!lines->empty()) line = lines->back().id;
    for (const storage::LogLine& each : *lines)
      if (const auto alert = workbench::alert_of(each); alert && !alert->over)
        update.news.push_back(newsOf(run, *alert));
  }
  for (const auto& [run, line] : before.lines) {
    if (update.cursor.lines.contains(run)) continue;
    // One that was removed has no news.
    const auto ended = reader.run(run);
    if (ended && storage::has_ended(ended->summary.state))
      update.news.push_back(newsOf(ended->summary));
  }
  return update;
}

}  // namespace heddle::gui
