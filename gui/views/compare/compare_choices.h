// A person's choices for the compared runs: the baseline, which ones are hidden or
// highlighted, whose timelines are shown. Every part of the page shows it and may change it. GUI
// thread only.
#pragma once

#include <QJsonObject>
#include <QList>
#include <QObject>
#include <QSet>

namespace heddle::gui {

class CompareChoices : public QObject {
  Q_OBJECT

 public:
  /// So many timelines are shown unless others are chosen.
  static constexpr qsizetype kTimelines = 4;

  explicit CompareChoices(QObject* parent = nullptr) : QObject(parent) {}

  /// Choices about runs that are no longer among them are forgotten.
  void setRuns(const QList<qint64>& runs);
  const QList<qint64>& runs() const { return runs_; }

  /// The run that differences are taken from: the first run, unless another is chosen. 0: no run at
  /// all.
  qint64 baseline() const { return baseline_ != 0 || runs_.isEmpty() ? baseline_ : runs_.first(); }
  void setBaseline(qint64 run);

  bool isHidden(qint64 run) const { return hidden_.contains(run); }
  void setHidden(const QList<qint64>& runs, bool hidden);
  qsizetype hiddenCount() const { return hidden_.size(); }

  const QSet<qint64>& highlighted() const { return highlighted_; }
  void setHighlighted(const QSet<qint64>& runs);

  /// In the order of the runs; the first ones that are not hidden, unless others are chosen.
  QList<qint64> timelines() const;
  void setTimelines(const QList<qint64>& runs, bool shown);

  /// All of it, runs too, and back.
  QJsonObject toJson() const;
  void restore(const QJsonObject& choices);

 Q_SIGNALS:
  void baselineChanged();
  void hiddenChanged();
  void highlightChanged();
  void timelinesChanged();
  void removeRequested(const QList<qint64>& runs);

 private:
  QList<qint64> runs_;
  qint64 baseline_ = 0;  // 0: not chosen
  QSet<qint64> hidden_;
  QSet<qint64> highlighted_;
  QSet<qint64> timelines_;
  bool choseTimelines_ = false;
};

}  // namespace heddle::gui
