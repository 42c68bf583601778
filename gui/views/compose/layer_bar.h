// What can be done with the layers that are chosen, as buttons: in one row where there is room.
#pragma once

#include <QAction>
#include <QLabel>
#include <QWidget>

namespace heddle::gui {

class LayerBar : public QWidget {
 public:
  /// Two groups of actions, which stay the caller's.
  LayerBar(const QList<QAction*>& buckets, const QList<QAction*>& recomputation);

  /// What is chosen, and what that is for.
  void setCaption(const QString& text) { caption_->setText(text); }

 private:
  QLabel* caption_;
};

}  // namespace heddle::gui
