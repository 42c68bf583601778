// Groups of widgets in one row where there is room, else one below the other.
#pragma once

#include <QBoxLayout>
#include <QList>
#include <QWidget>

namespace heddle::gui {

class FoldingRow : public QWidget {
 public:
  /// `gap` is between groups in a row. The first one takes the remaining room where `stretches`.
  FoldingRow(const QList<QWidget*>& groups, int gap, bool stretches = false);
  /// As narrow as its widest group.
  QSize minimumSizeHint() const override;

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fold();

  QList<QWidget*> groups_;
  int gap_;
  QBoxLayout* layout_;
};

}  // namespace heddle::gui
