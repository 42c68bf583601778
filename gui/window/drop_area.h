// The whole window takes recipes, run directories, logs and stores that are dropped on it, says so
// while they are dragged over it, and asks where it is not clear what to do with them.
#pragma once

#include <QLabel>
#include <QMimeData>
#include <QObject>
#include <functional>
#include <vector>

#include "gui/session.h"
#include "gui/window/dropped.h"

namespace heddle::gui {

class DropArea : public QObject {
  Q_OBJECT

 public:
  DropArea(Session& session, QWidget* window, std::function<void(const QString&)> openRecipe);

  bool isReady() const { return !looking_.running(); }

 Q_SIGNALS:
  /// A window of its own for that store.
  void storeWanted(const QString& path);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void take(const QMimeData* data);
  void take(const std::vector<Dropped>& all);
  void import(const QStringList& paths);
  /// Empty: nothing of it can be taken.
  static QString promise(const QMimeData* data);

  Session& session_;
  QWidget* window_;
  std::function<void(const QString&)> openRecipe_;
  Job looking_;
  QLabel* hint_;
};

}  // namespace heddle::gui
