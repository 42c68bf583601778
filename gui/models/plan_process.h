// The planning process: `heddle-engine plan --serve`, kept running. Lives on a thread of its own,
// which also reads the answers; PlanClient is its face on the GUI thread. A process that dies or
// hangs is started again, and is asked again what it has not answered.
#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QMap>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include "gui/models/plan_answer.h"

namespace heddle::gui {

class PlanProcess : public QObject {
  Q_OBJECT

 public:
  /// `patience`: milliseconds without a word, to a small question too, after which it hangs.
  PlanProcess(QString engine, int patience);

 public Q_SLOTS:
  /// Asks once there is a process. An older question of the same key is forgotten; without a key
  /// none is.
  void ask(quint64 id, const QString& key, const QByteArray& line);
  /// Ends the process; nothing follows.
  void end();

 Q_SIGNALS:
  void answered(const heddle::gui::PlanAnswer& answer);
  /// A process runs.
  void started(qint64 pid);
  /// One has ended that should have gone on: why ("was ended by signal 9"). Another takes its
  /// place.
  void restarted(const QString& why);

 private:
  struct Open {
    QString key;
    QByteArray line;
    int attempts = 0;
    QElapsedTimer age = {};  // since the last one
  };

  void start();
  void write(Open& question);
  void readLines();
  void readLine(const QByteArray& line);
  void watch();
  void finished(int code, QProcess::ExitStatus status);
  void giveUp(quint64 id, const QString& why);

  const QString engine_;
  const int patience_;
  QProcess* process_;
  QTimer* watch_;
  QElapsedTimer silent_;  // since the last line in either direction
  bool probed_ = false;   // the small question has been asked since
  bool hangs_ = false;    // it is being killed for that
  bool useful_ = false;   // it has answered something
  bool ending_ = false;
  QByteArray buffer_, lastError_;
  qsizetype searched_ = 0;    // of the buffer, for a line's end
  QMap<quint64, Open> open_;  // not answered, the oldest first
};

}  // namespace heddle::gui
