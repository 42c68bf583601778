// The whole window takes recipes, run directories and logs that are dropped on it, and says so
// while they are dragged over it.
#pragma once

#include <QLabel>
#include <QMimeData>
#include <QObject>
#include <functional>

#include "gui/session.h"

namespace heddle::gui {

class DropArea : public QObject {
  Q_OBJECT

 public:
  DropArea(Session& session, QWidget* window, std::function<void(const QString&)> openRecipe);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void take(const QMimeData* data);
  /// Empty: nothing of it can be taken.
  static QString promise(const QMimeData* data);

  Session& session_;
  QWidget* window_;
  std::function<void(const QString&)> openRecipe_;
  QLabel* hint_;
};

}  // namespace heddle::gui
