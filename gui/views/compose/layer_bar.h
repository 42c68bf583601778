// Actions on the chosen layers, as buttons: in one row where there is room.
#pragma once

#include <QAction>
#include <QWidget>

#include "gui/widgets/basics.h"

namespace heddle::gui {

class LayerBar : public QWidget {
 public:
  /// Two groups of actions, which stay the caller's; `beside` is placed next to the caption.
  LayerBar(const QList<QAction*>& buckets, const QList<QAction*>& recomputation, QWidget* beside);

  /// Names the chosen layers and the use of choosing them.
  void setCaption(const QString& text) { caption_->setFullText(text); }

 private:
  ElidedLabel* caption_;
};

}  // namespace heddle::gui
