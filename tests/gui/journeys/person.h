// A person at the window: what they see by its name, click, type and choose.
#pragma once

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <functional>

#include "gui/window/main_window.h"
#include "tests/support/by_name.h"

namespace heddle::gui {

class Person {
 public:
  explicit Person(MainWindow& window) : window_(window) {}

  /// The visible widget of that name, also in dialogs and popups; waits for it.
  template <typename Widget = QWidget>
  Widget* see(const QString& name) const {
    Widget* seen = nullptr;
    (void)QTest::qWaitFor([&] { return (seen = find<Widget>(name)) != nullptr; }, 20000);
    if (!seen) qWarning("nothing on screen is called \"%s\"", qPrintable(name));
    return seen;
  }

  bool click(const QString& name) const {
    auto* widget = see<QWidget>(name);
    if (!widget || !QTest::qWaitFor([&] { return widget->isEnabled(); }, 30000)) return false;
    QTest::mouseClick(widget, Qt::LeftButton);
    return true;
  }

  /// Without a desktop a dialog or popup takes the activation with it: the window gets it back.
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers) const {
    window_.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window_));
    QTest::keyClick(&window_, key, modifiers);
  }

  /// Replaces the text of a field.
  bool type(const QString& name, const QString& text) const {
    auto* field = see<QLineEdit>(name);
    if (!field) return false;
    QTest::mouseClick(field, Qt::LeftButton);
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field, text);
    return true;
  }

  /// Clicks on what opens a menu, and on that entry of it.
  bool choose(const QString& opener, const QString& entry) const {
    auto* widget = see<QWidget>(opener);
    if (!widget || !QTest::qWaitFor([&] { return widget->isEnabled(); }, 30000)) return false;
    return inMenu([&] { QTest::mouseClick(widget, Qt::LeftButton); }, entry);
  }

  /// Clicks on the entry of the menu that `opens` opens, which blocks as long as it is open.
  static bool inMenu(const std::function<void()>& opens, const QString& entry) {
    bool chosen = false;
    QTimer poll;
    QObject::connect(&poll, &QTimer::timeout, qApp, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* action : menu->actions())
        if (action->text() == entry && action->isEnabled()) {
          chosen = true;
          return QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
        }
      for (const QAction* action : menu->actions())
        qWarning() << "instead of" << entry << ":" << action->text() << action->isEnabled();
      menu->close();
    });
    poll.start(30);
    opens();
    return chosen;
  }

  /// The cell in the row whose `column` reads `text`; waits for it.
  static QModelIndex cellThatReads(const QAbstractItemView* view, int column, const QString& text) {
    QModelIndex found;
    (void)QTest::qWaitFor(
        [&] {
          const QAbstractItemModel* model = view->model();
          for (int row = 0; row < model->rowCount() && !found.isValid(); ++row)
            if (model->index(row, column).data().toString() == text)
              found = model->index(row, column);
          return found.isValid();
        },
        20000);
    return found;
  }

  static void click(QAbstractItemView* view, const QModelIndex& cell,
                    Qt::KeyboardModifiers keys = {}) {
    view->scrollTo(cell);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, keys, view->visualRect(cell).center());
  }

  /// A click on a column's head.
  static bool clickHead(QTableView* table, const QString& title) {
    QHeaderView* head = table->horizontalHeader();
    for (int column = 0; column < head->count(); ++column) {
      if (table->model()->headerData(column, Qt::Horizontal).toString() != title ||
          head->isSectionHidden(column))
        continue;
      QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                        {head->sectionViewportPosition(column) + 12, head->height() / 2});
      return true;
    }
    return false;
  }

  bool isAt(const QString& page) const {
    return QTest::qWaitFor(
        [&] { return window_.currentPage()->title() == page && window_.isReady(); }, 30000);
  }

 private:
  template <typename Widget>
  static Widget* find(const QString& name) {
    for (QWidget* top : QApplication::topLevelWidgets()) {
      if (!top->isVisible()) continue;
      for (auto* each : top->findChildren<Widget*>())
        if (each->isVisible() && nameOf(each) == name) return each;
    }
    return nullptr;
  }

  MainWindow& window_;
};

}  // namespace heddle::gui
