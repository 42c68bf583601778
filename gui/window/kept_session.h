// The last state of a store's window, in a file in the settings folder. Each store has its own, and
// so does another file that takes a store's place. GUI thread only.
#pragma once

#include <QJsonObject>
#include <QString>

#include "gui/models/worker.h"

namespace heddle::gui {

class KeptSession {
 public:
  /// Sessions of other stores that are kept; the oldest go.
  static constexpr int kMax = 100;

  explicit KeptSession(const QString& store);

  const QString& file() const { return file_; }
  /// Empty: there is none, or it cannot be read as one.
  QJsonObject read() const;
  /// Written in a moment, on a thread of its own, when it differs from what was written last. A
  /// failure is not reported: nothing is lost that a person has made.
  void write(const QJsonObject& state);

 private:
  QString store_;
  QString file_;
  QJsonObject written_;
  Worker writing_{1, Worker::AtEnd::finish};
};

}  // namespace heddle::gui
