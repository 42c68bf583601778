// The rail at the left: one button a page, and the menu of the workbench at its foot.
#pragma once

#include <QAction>
#include <QFrame>
#include <QMenu>
#include <QVBoxLayout>
#include <QVector>
#include <optional>

#include "gui/theme/icons.h"

namespace heddle::gui {

class RailButton;

class Rail : public QFrame {
  Q_OBJECT

 public:
  explicit Rail(QWidget* parent = nullptr);

  /// Adds a button for a checkable action; its text is the label, its icon the symbol.
  void add(QAction* action);
  /// A dot at a page's button: something is running there; none: nothing is.
  void setLive(QAction* action, std::optional<Tone> tone);
  QMenu* menu() const { return menu_; }

 private:
  QVBoxLayout* layout_;
  QVector<RailButton*> buttons_;
  QMenu* menu_;
};

}  // namespace heddle::gui
