// At the lower edge of a scroll area: shows that there is more below. A click goes there.
#pragma once

#include <QAbstractScrollArea>
#include <QToolButton>

namespace heddle::gui {

class MoreBelow : public QToolButton {
  Q_OBJECT

 public:
  /// Is there while `area` is not scrolled to its end: over it, at that side of its lower edge,
  /// or where a layout takes it to.
  explicit MoreBelow(QAbstractScrollArea* area, Qt::Alignment side = Qt::AlignHCenter);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();

  QAbstractScrollArea* area_;
  Qt::Alignment side_;
};

}  // namespace heddle::gui
