#include "tests/gui/shell/walker.h"

#include <QComboBox>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QShortcut>
#include <QTimer>

#include "gui/window/pages.h"
#include "tests/support/tab_ring.h"

namespace heddle::gui {
namespace {

constexpr int kPatience = 10000, kLookMilliseconds = 20;

QString plainText(QString text) {
  text.remove(QLatin1Char('&'));
  return text.section(QLatin1Char('\t'), 0, 0);
}

/// Keys are clicked for ASCII alone; the palette finds parts of words.
QString typeable(const QString& text) {
  return text.section(QChar(0x2026), 0, 0)
      .section(QChar(0x201c), 0, 0)
      .section(QChar(0x2013), 0, 0);
}

QWidget* keyboardOf(QWidget* opened) {
  QWidget* focus = QApplication::focusWidget();
  return focus && (focus == opened || opened->isAncestorOf(focus)) ? focus : opened;
}

QAction* entryOf(const QMenu* menu, const QString& text) {
  for (QAction* action : menu->actions())
    if (action->isVisible() && action->isEnabled() && plainText(action->text()).startsWith(text))
      return action;
  return nullptr;
}

/// Without a desktop a popup or dialog that was made on the way takes the activation. Qt calls a
/// dialog active as long as its parent is.
void activate(QWidget* window) {
  window->activateWindow();
  (void)QTest::qWaitFor([window] { return QApplication::activeWindow() == window; }, 2000);
}

QMenu* openMenu() { return qobject_cast<QMenu*>(QApplication::activePopupWidget()); }

}  // namespace

QWidget* openedOver(const QWidget* window) {
  if (QWidget* popup = QApplication::activePopupWidget()) return popup;
  if (QWidget* modal = QApplication::activeModalWidget()) return modal;
  for (QWidget* top : QApplication::topLevelWidgets())
    if (top != window && top->isVisible() && !top->inherits("QTipLabel") &&
        !top->inherits("QRubberBand"))
      return top;
  for (const QString& type : {QStringLiteral("tourCover"), QStringLiteral("palette")})
    if (auto* cover = window->findChild<QWidget*>(type, Qt::FindDirectChildrenOnly);
        cover && cover->isVisible())
      return cover;
  for (QWidget* child : window->findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
    if (child->isVisible() && child->property("role").toString() == QStringLiteral("popup"))
      return child;
  return nullptr;
}

bool leadsAway(const QString& name) {
  static const QStringList kLeading{"Launch",  "Train",         "Start",      "Open the sample",
                                    "Plan 8B", "Take the tour", "Remove run", "Keep going"};
  return std::ranges::any_of(kLeading, [&](const QString& word) { return name.startsWith(word); });
}

void none(const QStringList& faults) {
  for (const QString& fault : faults) qWarning("%s", qPrintable(fault));  // Qt Test cuts long texts
  QVERIFY2(faults.isEmpty(), qPrintable(QString::number(faults.size()) + " faults, see above"));
}

QStringList faultsOf(const QMenu* menu) {
  QStringList faults, texts;
  for (const QAction* action : menu->actions()) {
    if (action->isSeparator() || !action->isVisible()) continue;
    const QString text = plainText(action->text());
    if (text.isEmpty()) faults << QStringLiteral("menu entry without a text");
    if (texts.contains(text)) faults << QStringLiteral("menu entry twice: ") + text;
    texts << text;
  }
  if (texts.isEmpty()) faults << QStringLiteral("empty menu");
  return faults;
}

QStringList keysTwice(const QWidget* over) {
  QStringList faults;
  QHash<QKeySequence, QString> owners;
  const auto take = [&](const QKeySequence& key, const QString& owner) {
    if (key.isEmpty()) return;
    if (owners.contains(key))
      faults << QStringLiteral("key twice: %1: %2, %3").arg(key.toString(), owners[key], owner);
    owners[key] = owner;
  };
  for (const QShortcut* shortcut : over->findChildren<QShortcut*>())
    if (const auto* owner = qobject_cast<const QWidget*>(shortcut->parent());
        shortcut->context() == Qt::WindowShortcut && owner && owner->isVisible())
      for (const QKeySequence& key : shortcut->keys()) take(key, QStringLiteral("shortcut"));
  for (const QAction* action : over->findChildren<QAction*>())
    if (action->isVisible() && action->shortcutContext() == Qt::WindowShortcut &&
        !action->associatedObjects().isEmpty())
      for (const QKeySequence& key : action->shortcuts()) take(key, action->text());
  for (const QAbstractButton* button : over->findChildren<QAbstractButton*>())
    if (button->isVisible()) take(button->shortcut(), button->text());
  for (const QLabel* label : over->findChildren<QLabel*>())
    if (label->isVisible() && label->buddy())
      take(QKeySequence::mnemonic(label->text()), label->text());
  return faults;
}

QStringList Walker::scenes() {
  QStringList all;
  for (const PageEntry& entry : pages()) all << QLatin1String(entry.name);
  return all << QStringLiteral("running") << QStringLiteral("many") << QStringLiteral("none");
}

void Walker::show(const QString& scene) {
  const samples::Filled& runs = opened_.store.runs;
  if (scene == QStringLiteral("none")) return opened_.show(QStringLiteral("live"));
  const bool many = scene == QStringLiteral("many"), running = scene == QStringLiteral("running");
  opened_.show(many ? QStringLiteral("compare") : running ? QStringLiteral("live") : scene);
  if (many)
    window()->currentPage()->showRuns(
        {runs.whole, runs.unwrapped, runs.running, runs.failed, runs.stopped});
  else if (scene == QStringLiteral("compare"))
    window()->currentPage()->showRuns({runs.unwrapped, runs.whole});
  else
    window()->currentPage()->showRun(running ? runs.running : runs.whole);
  QTRY_VERIFY_WITH_TIMEOUT(window()->isReady(), 30000);
  window()->currentPage()->setFocus();
}

bool Walker::findInPalette(const QAction& action) const {
  QTest::keyClick(window(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = window()->findChild<CommandPalette*>();
  if (!palette->isVisible()) return false;
  QWidget* field = QApplication::focusWidget();
  QTest::keyClicks(field, typeable(action.text()));
  const auto* list = named<QListView>(palette, QStringLiteral("Matches"));
  for (int row = 0; list && row < list->model()->rowCount(); ++row) {
    const QModelIndex at = list->currentIndex();
    if (at.data().toString() == action.text() &&
        at.data(PaletteModel::GroupRole).toString() == Actions::groupOf(&action))
      return true;
    QTest::keyClick(field, Qt::Key_Down);
  }
  QTest::keyClick(field, Qt::Key_Escape);
  return false;
}

void Walker::explore(const QString& path, const std::function<void()>& open) {
  auto looked = std::make_shared<bool>(false);
  QTimer::singleShot(150, window(), [this, path, looked] {
    lookAndLeave(path);
    *looked = true;
  });
  open();
  QTRY_VERIFY2_WITH_TIMEOUT(*looked, qPrintable(path), 20000);
}

void Walker::lookAndLeave(const QString& path) {
  QSet<QWidget*> looked;
  while (QPointer<QWidget> over = openedOver(window())) {
    if (looked.contains(over)) {
      faults << path + QStringLiteral(": Escape does not leave ") + describe(over);
      over->close();
      break;
    }
    looked.insert(over);
    look(over, path);
    QTest::keyClick(keyboardOf(over), Qt::Key_Escape);
    QTest::qWait(0);
  }
  activate(window());
}

void Walker::look(QWidget* over, const QString& path) {
  QStringList found;
  if (const auto* menu = qobject_cast<QMenu*>(over)) {
    ++menus;
    found = faultsOf(menu);
  } else {
    found = badlyNamed(over) + keysTwice(over);
  }
  for (const QString& fault : std::as_const(found)) faults << path + QStringLiteral(": ") + fault;
}

void Walker::walk(const QStringList& steps, const QString& opens) {
  steps_ = steps;
  opens_ = opens;
  path_ = steps.join(QStringLiteral(", "));
  done_ = false;
  before_ = window()->focusWidget();
  waiting_.start();
  QTimer::singleShot(0, window(), [this] { nextStep(); });
  QTRY_VERIFY2_WITH_TIMEOUT(done_, qPrintable(path_), 60000);
  // Some are closed by an event that is still to come.
  const bool back = QTest::qWaitFor(
      [this] {
        const QWidget* now = window()->focusWidget();
        return !openedOver(window()) && now &&
               (now == before_ || !before_ || !before_->isVisible());
      },
      3000);
  if (!back)
    faults << path_ + QStringLiteral(": the keyboard was at ") +
                  (before_ ? describe(before_) : QStringLiteral("what is gone")) +
                  QStringLiteral("\n    and is at ") +
                  (window()->focusWidget() ? describe(window()->focusWidget())
                                           : QStringLiteral("nothing"));
}

void Walker::walk(const std::function<void()>& open, const QString& opens) {
  open_ = open;
  walk(QStringList{QStringLiteral("open")}, opens);
}

/// A step may block as long as what it opens is open: the next is timed before it.
void Walker::nextStep() {
  const bool ready = steps_.isEmpty() ? isOpen() : canTake(steps_.first());
  if (!ready && waiting_.elapsed() > kPatience) {
    faults << path_ + QStringLiteral(": not possible: ") +
                  (steps_.isEmpty() ? QStringLiteral("\"%1\" does not open").arg(opens_)
                                    : steps_.first());
    if (QWidget* over = openedOver(window())) {
      faults << QStringLiteral("    open is ") + describe(over) + QLatin1Char(' ') +
                    over->windowTitle();
      lookAndLeave(path_);
    }
    done_ = true;
    return;
  }
  if (!ready) {
    QTimer::singleShot(kLookMilliseconds, window(), [this] { nextStep(); });
    return;
  }
  waiting_.start();
  if (!steps_.isEmpty()) {
    QTimer::singleShot(kLookMilliseconds, window(), [this] { nextStep(); });
    return take(steps_.takeFirst());
  }
  QWidget* over = openedOver(window());
  if (!qobject_cast<QMenu*>(over)) {
    activate(over->windowType() == Qt::Popup ? window() : over->window());
    QWidget* focus = QApplication::focusWidget();
    if (!focus || (focus != over && !over->isAncestorOf(focus)))
      faults << path_ + QStringLiteral(": the keyboard is not in it, but at ") +
                    (focus ? describe(focus) : QStringLiteral("nothing"));
    for (const QString& fault : tabFaults(over)) faults << path_ + QStringLiteral(": ") + fault;
  }
  lookAndLeave(path_);
  done_ = true;
}

bool Walker::isOpen() const {
  const QWidget* over = openedOver(window());
  return over && (over->windowTitle().contains(opens_) || nameOf(over).contains(opens_) ||
                  over->objectName().contains(opens_) ||
                  QLatin1String(over->metaObject()->className()).contains(opens_));
}

/// The visible, enabled widget of that name or with a name that so begins, in what is open.
QWidget* Walker::find(const QString& name) const {
  QWidget* over = openedOver(window());
  QWidget* begins = nullptr;
  const QList<QWidget*> all =
      over ? over->findChildren<QWidget*>()
           : window()->currentPage()->findChildren<QWidget*>() + window()->findChildren<QWidget*>();
  for (QWidget* widget : all) {
    if (!widget->isVisible() || !widget->isEnabled() || widget->focusPolicy() == Qt::NoFocus)
      continue;
    if (nameOf(widget) == name) return widget;
    if (!begins && nameOf(widget).startsWith(name)) begins = widget;
  }
  return begins;
}

bool Walker::canTake(const QString& step) const {
  const QString verb = step.section(' ', 0, 0), object = step.section(' ', 1);
  if (verb == QStringLiteral("menu")) return openMenu() && entryOf(openMenu(), object);
  if (verb == QStringLiteral("press") || verb == QStringLiteral("context") ||
      verb == QStringLiteral("focus")) {
    QWidget* widget = find(object);
    const auto* view = qobject_cast<QAbstractItemView*>(widget);
    // A key in a list that is still being read means nothing, or another row.
    return widget && (!view || (window()->currentPage()->isReady() && view->model() &&
                                view->model()->rowCount() > 0));
  }
  if (verb != QStringLiteral("palette")) return true;
  for (const QAction* action : window()->findChildren<QAction*>())
    if (!Actions::groupOf(action).isEmpty() && action->isVisible() && action->isEnabled() &&
        action->text().startsWith(object))
      return true;
  return false;
}

void Walker::take(const QString& step) {
  const QString verb = step.section(' ', 0, 0), object = step.section(' ', 1);
  QWidget* focus = QApplication::focusWidget();
  QWidget* target = focus ? focus : window();
  if (verb == QStringLiteral("menu")) {
    QMenu* menu = openMenu();
    const QAction* wanted = entryOf(menu, object);
    for (qsizetype i = 0; i <= menu->actions().size() && menu->activeAction() != wanted; ++i)
      QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, wanted->menu() ? Qt::Key_Right : Qt::Key_Return);
  } else if (verb == QStringLiteral("palette")) {
    for (const QPointer<QAction> action : window()->findChildren<QAction*>())
      if (!Actions::groupOf(action).isEmpty() && action->isVisible() && action->isEnabled() &&
          action->text().startsWith(object)) {
        if (findInPalette(*action)) QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        return;
      }
  } else if (verb == QStringLiteral("open")) {
    open_();
  } else if (verb == QStringLiteral("key")) {
    const QKeyCombination key = QKeySequence(object)[0];
    QTest::keyClick(target, key.key(), key.keyboardModifiers());
  } else if (verb == QStringLiteral("type")) {
    QTest::keyClicks(target, object);
  } else {
    QWidget* widget = find(object);
    widget->setFocus(Qt::TabFocusReason);
    if (!openedOver(window())) before_ = window()->focusWidget();
    if (verb == QStringLiteral("press")) QTest::keyClick(widget, Qt::Key_Space);
    if (verb == QStringLiteral("context")) {
      if (auto* view = qobject_cast<QAbstractItemView*>(widget);
          view && !view->currentIndex().isValid())
        QTest::keyClick(view, Qt::Key_Down);
      QTest::keyClick(widget, Qt::Key_Menu);
    }
  }
}

}  // namespace heddle::gui
