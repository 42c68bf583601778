#include "gui/views/lineage/run_asking.h"

namespace heddle::gui {
namespace {

constexpr int kAskAgainMilliseconds = 2000;

/// Asks it of a run that still goes on. False: its connection is lost, and it is to be asked again.
Result<bool> toldNow(workbench::Workbench& bench, const storage::RunDetail& run,
                     RunAsking::Ask how) {
  auto reader = storage::Reader::open(bench.store_path());
  if (!reader) return fail(reader);
  const auto now = reader->run(run.summary.id);
  if (!now || storage::has_ended(now->summary.state)) return true;
  // One that waits ends by leaving the queue, whatever was asked.
  const Result<> done = now->summary.state == storage::RunState::queued
                            ? bench.writer().take_out(run.summary.id).get()
                            : how(*now);
  if (done) return true;
  const auto links = reader->links();
  if (!links) return fail(links);
  const auto link = links->find(run.summary.id);
  if (link != links->end() && link->second.lost) return false;
  return fail(done);
}

}  // namespace

QString subjectOf(storage::RunId run) { return QStringLiteral("run %1").arg(run); }

RunAsking::RunAsking(Session& session, QObject* parent)
    : QObject(parent), session_(session), asking_(session.workingThreads(), this) {}

void RunAsking::ask(const QString& word, const storage::RunDetail& run, Ask how) {
  session_.setAsked(run.summary.id, word);
  tell(word, run, how);
}

void RunAsking::tell(const QString& word, const storage::RunDetail& run, Ask how) {
  const storage::RunId id = run.summary.id;
  session_.act(
      asking_, [run, how](workbench::Workbench& bench) { return toldNow(bench, run, how); },
      [this, id, word, run, how](const Result<bool>& told) {
        if (told && !*told) {
          QTimer::singleShot(kAskAgainMilliseconds, this, [this, id, word, run, how] {
            // It may have been asked something else since.
            if (session_.asked(id) == word) tell(word, run, how);
          });
        } else if (!told) {
          session_.setAsked(id, {});
          Q_EMIT session_.message(QString::fromStdString(told.error().message), Tone::bad,
                                  subjectOf(id));
        }
        Q_EMIT answered(id);
      });
}

}  // namespace heddle::gui
