// Every button that can be pressed, on every page: Space and Enter do what a click does.
#include <QButtonGroup>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTimer>
#include <QToolButton>

#include "tests/gui/shell/walker.h"
#include "tests/support/by_name.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// The menu that a press opens; null: it has none.
QMenu* menuOf(const QAbstractButton* button) {
  if (const auto* push = qobject_cast<const QPushButton*>(button)) return push->menu();
  const auto* tool = qobject_cast<const QToolButton*>(button);
  return tool && tool->popupMode() == QToolButton::InstantPopup ? tool->menu() : nullptr;
}

}  // namespace

class WalkButtonsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { opened_.prepare(); }
  void init() { opened_.open(); }
  void cleanup() { opened_.close(); }

  void everyButtonIsPressedByKey_data() {
    QTest::addColumn<QString>("scene");
    for (const QString& scene : Walker::scenes()) QTest::addRow("%s", qPrintable(scene)) << scene;
  }
  // Its effects are cut off: a page has buttons that train, stop and remove.
  void everyButtonIsPressedByKey() {
    QFETCH(QString, scene);
    walker_.show(scene);
    QList<QPointer<QAbstractButton>> buttons;
    for (QWidget* widget : interactiveIn(walker_.window()))
      if (auto* button = qobject_cast<QAbstractButton*>(widget); button && button->isEnabled())
        buttons << button;
    for (QAbstractButton* button : buttons) {
      disconnect(button, &QAbstractButton::clicked, nullptr, nullptr);
      disconnect(button, &QAbstractButton::toggled, nullptr, nullptr);
      if (button->group()) button->group()->blockSignals(true);
      const auto* tool = qobject_cast<const QToolButton*>(button);
      if (tool && tool->defaultAction()) tool->defaultAction()->blockSignals(true);
    }
    QStringList faults;
    int tried = 0;
    for (const QPointer<QAbstractButton>& button : std::as_const(buttons)) {
      if (!button || !button->isVisible() || !button->isEnabled()) continue;
      ++tried;
      for (const Qt::Key key : {Qt::Key_Space, Qt::Key_Return, Qt::Key_Enter}) {
        if (presses(button, key) != 1)
          faults << QKeySequence(key).toString() + QStringLiteral(": ") + describe(button);
      }
    }
    qInfo("%s: %d buttons", qPrintable(scene), tried);
    QVERIFY(tried > 5);
    none(faults);
  }

 private:
  static qsizetype presses(QAbstractButton* button, Qt::Key key) {
    if (QMenu* menu = menuOf(button)) {
      QSignalSpy shown(menu, &QMenu::aboutToShow);
      // The menu has an event loop of its own.
      QTimer::singleShot(0, menu, [menu] { QTest::keyClick(menu, Qt::Key_Escape); });
      QTest::keyClick(button, key);
      return shown.size();
    }
    QSignalSpy clicked(button, &QAbstractButton::clicked);
    QTest::keyClick(button, key);
    return clicked.size();
  }

  SampleWindow opened_;
  Walker walker_{opened_};
};

HEDDLE_WIDGET_TEST(WalkButtonsTest)
#include "walk_buttons_test.moc"
