// The bar above the page: title, note, the page's own controls, search, the page's actions.
#pragma once

#include <QAbstractButton>
#include <QFrame>
#include <QHBoxLayout>

#include "gui/page.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class TopBar : public QFrame {
  Q_OBJECT

 public:
  explicit TopBar(QWidget* parent = nullptr);

  /// Shows a page's header in place of the one before. The page stays the owner of its widgets.
  void showPage(Page* page);
  QAbstractButton* search() const { return search_; }

 private:
  void refresh();

  Page* page_ = nullptr;
  QLabel* title_;
  ElidedLabel* subtitle_;
  QHBoxLayout* controls_;  // the page's header widget
  QHBoxLayout* buttons_;
  QAbstractButton* search_;
};

/// A button that follows an action: text, icon, tooltip, enabled, visible; the action's property
/// "role" is the button's.
QPushButton* buttonOf(QAction* action, QWidget* parent);

}  // namespace heddle::gui
