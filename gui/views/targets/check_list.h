// A probe's checks, one under another: symbol, name, value, what to do.
#pragma once

#include <QVBoxLayout>
#include <QWidget>

#include "engine/probe/report.h"

namespace heddle::gui {

class CheckList : public QWidget {
  Q_OBJECT

 public:
  explicit CheckList(QWidget* parent = nullptr);
  /// `stale`: in grey, they may hold no longer.
  void setChecks(const std::vector<probe::Check>& checks, bool stale);

 private:
  QVBoxLayout* rows_;
};

}  // namespace heddle::gui
