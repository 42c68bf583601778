// Every action of every page by the palette: it happens, or the palette says why not.
#include <QSignalSpy>

#include "gui/window/pages.h"
#include "tests/gui/shell/walker.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// The page could not be shown as before.
bool takesAway(const QString& action) {
  return leadsAway(action) || action.startsWith(QStringLiteral("Move ")) ||
         action.startsWith(QStringLiteral("Archive"));
}

}  // namespace

class WalkPaletteTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { opened_.prepare(); }
  void init() {
    opened_.open();
    walker_.faults.clear();
  }
  void cleanup() { opened_.close(); }

  void pages_data() {
    QTest::addColumn<QString>("page");
    for (const PageEntry& entry : pages()) QTest::addRow("%s", entry.name) << entry.name;
  }

  // From every page all actions are found, those of other pages too. What they do is cut off.
  void everyActionIsFoundAndFires_data() { pages_data(); }
  void everyActionIsFoundAndFires() {
    QFETCH(QString, page);
    walker_.show(page);
    for (const QKeySequence& key : {QKeySequence("Ctrl+Shift+P"), QKeySequence("Escape")})
      QTest::keySequence(QApplication::focusWidget(), key);  // pages are made for the palette
    const QList<QAction*> actions = registered({});
    for (QAction* action : actions)
      if (action->text() != QStringLiteral("Command palette"))
        disconnect(action, &QAction::triggered, nullptr, nullptr);
    int fired = 0, refused = 0;
    for (QAction* action : actions)
      if (action->isVisible()) (tryOut(*action, {}) ? fired : refused) += 1;
    qInfo("%s: %d fire, %d say why not", qPrintable(page), fired, refused);
    none(walker_.faults);
    QVERIFY(fired > 20);
  }

  // With all that they do: dialogs are looked at, and closed.
  void theActionsOfAPageDoTheirThing_data() { pages_data(); }
  void theActionsOfAPageDoTheirThing() {
    QFETCH(QString, page);
    walker_.show(page);
    for (const QPointer<QAction> action : registered(window()->currentPage()->title())) {
      if (!action || !action->isVisible() || (action->isEnabled() && takesAway(action->text())))
        continue;
      const QString text = action->text();
      tryOut(*action, [&](QWidget* field) {
        walker_.explore(text, [field] { QTest::keyClick(field, Qt::Key_Return); });
      });
      walker_.show(page);
    }
    none(walker_.faults);
  }

 private:
  MainWindow* window() const { return walker_.window(); }

  /// The registry's actions of a group; of all groups: an empty name.
  QList<QAction*> registered(const QString& group) const {
    QList<QAction*> found;
    for (QAction* action : window()->findChildren<QAction*>()) {
      const QString own = Actions::groupOf(action);
      if (!own.isEmpty() && (group.isEmpty() || own == group)) found << action;
    }
    return found;
  }

  /// True: it fired. False: it cannot, and the palette says why; or there is a fault.
  bool tryOut(QAction& action, const std::function<void(QWidget*)>& accept) {
    const QString text = Actions::groupOf(&action) + QStringLiteral(": ") + action.text();
    const bool possible = action.isEnabled();
    if (!walker_.findInPalette(action)) {
      walker_.faults << QStringLiteral("not in the palette: ") + text;
      return false;
    }
    QWidget* field = QApplication::focusWidget();
    QSignalSpy said(opened_.session.get(),
                    qOverload<const QString&, Tone, const QString&>(&Session::message));
    QSignalSpy triggered(&action, &QAction::triggered);
    accept ? accept(field) : QTest::keyClick(field, Qt::Key_Return);
    if (auto* palette = window()->findChild<CommandPalette*>(); palette->isVisible())
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);  // it opened itself
    if (possible) {
      if (triggered.size() != 1) walker_.faults << QStringLiteral("nothing happens: ") + text;
      return triggered.size() == 1;
    }
    if (said.isEmpty() || !said.last().first().toString().contains(QStringLiteral(": ")))
      walker_.faults << QStringLiteral("does not say why not: ") + text;
    return false;
  }

  SampleWindow opened_;
  Walker walker_{opened_};
};

HEDDLE_WIDGET_TEST(WalkPaletteTest)
#include "walk_palette_test.moc"
