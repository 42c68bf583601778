// At the lower edge of what scrolls: that there is more below. A click goes there.
#pragma once

#include <QAbstractScrollArea>
#include <QToolButton>

namespace heddle::gui {

class MoreBelow : public QToolButton {
  Q_OBJECT

 public:
  /// Stays over `area`, at that side of its lower edge, while it is not scrolled to its end.
  explicit MoreBelow(QAbstractScrollArea* area, Qt::Alignment side = Qt::AlignHCenter);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();

  QAbstractScrollArea* area_;
  Qt::Alignment side_;
};

}  // namespace heddle::gui
