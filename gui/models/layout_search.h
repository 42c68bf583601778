// A search for the best layout of a recipe, in a planning process of its own, so that predictions
// go on meanwhile. No widgets. GUI thread only; nothing here waits.
#pragma once

#include <QObject>
#include <QProcess>

#include "engine/plan/question.h"

namespace heddle::gui {

class LayoutSearch : public QObject {
  Q_OBJECT

 public:
  /// `engine`: the program. Its process is started with the first search.
  explicit LayoutSearch(const QString& engine, QObject* parent = nullptr);
  ~LayoutSearch() override;

  /// One at a time: does nothing while one runs.
  void start(const plan::SearchQuestion& question);
  /// `ended` follows with the results so far.
  void cancel();
  bool isRunning() const { return running_; }
  /// 0 to 1.
  double progress() const { return progress_; }
  /// The newest layout search, as far as it has come.
  const plan::SearchResult& result() const { return result_; }
  /// And of the newest one over numbers of ranks.
  const plan::RankCounts& counts() const { return counts_; }

 Q_SIGNALS:
  /// `result` or `counts`, and `progress`, have more to tell.
  void advanced();
  /// It is over; `why` says why there is no result, or is empty.
  void ended(const QString& why);

 private:
  void readLine(const QByteArray& line);
  void end(const QString& why);
  void write(plan::Question question);

  QProcess process_;
  quint64 id_ = 0;
  bool running_ = false;
  double progress_ = 0;
  plan::SearchResult result_;
  plan::RankCounts counts_;
};

}  // namespace heddle::gui
