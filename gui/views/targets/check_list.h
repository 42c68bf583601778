// A probe's checks, one under another: symbol, name, value, what to do.
#pragma once

#include <QVBoxLayout>
#include <QWidget>

#include "engine/probe/report.h"
#include "gui/theme/icons.h"

namespace heddle::gui {

class CheckList : public QWidget {
  Q_OBJECT

 public:
  explicit CheckList(QWidget* parent = nullptr);
  void setChecks(const std::vector<probe::Check>& checks);

 private:
  QVBoxLayout* rows_;
};

/// How a status looks.
struct CheckLook {
  QString icon;
  Tone tone;
};
CheckLook lookOf(probe::Status status);

}  // namespace heddle::gui
