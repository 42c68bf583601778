// Where a run can be launched: one of a list, each with what its probe found and whether it is
// reached.
#pragma once

#include <QAbstractButton>
#include <QButtonGroup>
#include <QWidget>
#include <vector>

#include "gui/models/target_entry.h"

class QVBoxLayout;

namespace heddle::gui {

class TargetList : public QWidget {
  Q_OBJECT

 public:
  explicit TargetList(QWidget* parent = nullptr);
  /// Keeps the choice by name; at first this machine.
  void setTargets(std::vector<TargetEntry> targets);
  const TargetEntry* chosen() const;
  void choose(const QString& name);
  void focusChosen();

 Q_SIGNALS:
  void chosenChanged();

 private:
  std::vector<TargetEntry> targets_;
  QButtonGroup* group_;
  QVBoxLayout* rows_;
  QString chosen_;
};

}  // namespace heddle::gui
