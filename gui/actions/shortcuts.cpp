#include "gui/actions/shortcuts.h"

#include <QCoreApplication>
#include <algorithm>

namespace heddle::gui {
namespace {

/// The actions that `belongs` to the table and that have keys.
template <typename Belongs>
KeyTable tableOf(const QString& title, const Actions& actions, Belongs belongs) {
  KeyTable table{title, {}};
  for (const QAction* action : actions.all())
    if (!action->shortcuts().isEmpty() && belongs(Actions::groupOf(action)))
      table.lines.append({action->shortcuts(), action->text()});
  return table;
}

void add(QList<KeyTable>& tables, const KeyTable& table) {
  const auto same = [&](const KeyTable& other) { return other.title == table.title; };
  if (!table.lines.isEmpty() && std::ranges::none_of(tables, same)) tables.append(table);
}

}  // namespace

QList<KeyTable> keyTables(const Actions& actions, const QList<Page*>& pages, const Page& shown) {
  QList<KeyTable> tables;
  QStringList titles;
  for (const Page* page : pages) titles.append(page->title());
  const auto addPage = [&](const Page& page) {
    const auto belongs = [&](const QString& group) { return group == page.title(); };
    add(tables, tableOf(page.title(), actions, belongs));
    for (const KeyTable& table : page.keys()) add(tables, table);
  };
  addPage(shown);
  add(tables, tableOf(QCoreApplication::translate("Shortcuts", "Everywhere"), actions,
                      [&](const QString& group) { return !titles.contains(group); }));
  for (const Page* page : pages) addPage(*page);
  return tables;
}

QString keysText(const KeyLine& line) {
  QStringList keys;
  for (const QKeySequence& key : line.keys) keys.append(key.toString(QKeySequence::NativeText));
  QString text = keys.join(QStringLiteral("  "));
  if (!line.pointer.isEmpty()) text += QStringLiteral("  ") + line.pointer;
  return text;
}

}  // namespace heddle::gui
