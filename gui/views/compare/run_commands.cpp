#include "gui/views/compare/run_commands.h"

#include <QCoreApplication>
#include <algorithm>
#include <vector>

namespace heddle::gui {
namespace {

struct RunCommand {
  QString text;
  Qt::Key key;
  bool enabled = true;
  void (*act)(CompareChoices&, const QList<qint64>&);
};

bool allHidden(const CompareChoices& choices, const QList<qint64>& runs) {
  return !runs.isEmpty() &&
         std::ranges::all_of(runs, [&](qint64 run) { return choices.isHidden(run); });
}

bool allTimelines(const CompareChoices& choices, const QList<qint64>& runs) {
  const QList<qint64> shown = choices.timelines();
  return !runs.isEmpty() &&
         std::ranges::all_of(runs, [&](qint64 run) { return shown.contains(run); });
}

std::vector<RunCommand> commandsFor(const CompareChoices& choices, const QList<qint64>& runs) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("Compare", text); };
  return {
      {tr(QT_TRANSLATE_NOOP("Compare", "Use as baseline")), Qt::Key_B,
       runs.size() == 1 && runs.first() != choices.baseline(),
       [](CompareChoices& to, const QList<qint64>& of) { to.setBaseline(of.first()); }},
      {allHidden(choices, runs) ? tr(QT_TRANSLATE_NOOP("Compare", "Show in charts"))
                                : tr(QT_TRANSLATE_NOOP("Compare", "Hide in charts")),
       Qt::Key_H, true,
       [](CompareChoices& to, const QList<qint64>& of) { to.setHidden(of, !allHidden(to, of)); }},
      {allTimelines(choices, runs) ? tr(QT_TRANSLATE_NOOP("Compare", "Without its timeline"))
                                   : tr(QT_TRANSLATE_NOOP("Compare", "With its timeline")),
       Qt::Key_T, true,
       [](CompareChoices& to, const QList<qint64>& of) {
         to.setTimelines(of, !allTimelines(to, of));
       }},
      {tr(QT_TRANSLATE_NOOP("Compare", "Remove from comparison")), Qt::Key_Delete, true,
       [](CompareChoices& to, const QList<qint64>& of) { Q_EMIT to.removeRequested(of); }},
  };
}

}  // namespace

void fillRunMenu(QMenu& menu, CompareChoices& choices, const QList<qint64>& runs) {
  for (const RunCommand& command : commandsFor(choices, runs)) {
    // The key is shown; the widget below the menu handles it.
    const QString key = QKeySequence(command.key).toString(QKeySequence::NativeText);
    QAction* action = menu.addAction(command.text + QChar('\t') + key);
    action->setEnabled(command.enabled);
    QObject::connect(action, &QAction::triggered, &choices,
                     [&choices, runs, act = command.act] { act(choices, runs); });
  }
}

bool pressRunKey(CompareChoices& choices, const QList<qint64>& runs, const QKeyEvent& event) {
  if (runs.isEmpty() || event.modifiers() & ~Qt::KeypadModifier) return false;
  for (const RunCommand& command : commandsFor(choices, runs)) {
    if (command.key != event.key()) continue;
    if (command.enabled) command.act(choices, runs);
    return true;
  }
  return false;
}

KeyTable runKeys() {
  const auto tr = [](const char* text) { return QCoreApplication::translate("Compare", text); };
  KeyTable table{tr(QT_TRANSLATE_NOOP("Compare", "On a compared run")), {}};
  const CompareChoices none;
  for (const RunCommand& command : commandsFor(none, {}))
    table.lines.append({{command.key}, command.text});
  table.lines.append({{Qt::Key_S}, tr(QT_TRANSLATE_NOOP("Compare", "Sort by the current column"))});
  table.lines.append({{Qt::Key_Menu}, tr(QT_TRANSLATE_NOOP("Compare", "All of these as a menu"))});
  return table;
}

}  // namespace heddle::gui
