#include "gui/views/compare/run_groups.h"

#include <QCoreApplication>

#include "gui/format.h"

namespace heddle::gui {

QStringList recordedGroups(const storage::Comparison& comparison) {
  QStringList groups;
  for (const storage::RunSummary& run : comparison.runs) groups << format::spelled(run.group);
  return groups;
}

QStringList seedGroups(const storage::Comparison& comparison,
                       const std::vector<ComparedKey>& differing) {
  const auto runs = static_cast<qsizetype>(comparison.runs.size());
  QStringList names(runs);
  for (const ComparedKey& key : differing) {
    if (key.kind != ComparedKey::Kind::recipe || key.compared.key.ends_with(".seed")) continue;
    const QString last = key.name.section(QChar('.'), -1);
    for (qsizetype run = 0; run < runs; ++run)
      names[run] += (names[run].isEmpty() ? QString() : QStringLiteral(", ")) + last + QChar(' ') +
                    key.texts[run];
  }
  const QStringList all = names;
  for (QString& name : names) {
    if (all.count(name) < 2)
      name.clear();
    else if (name.isEmpty())  // their recipes do not differ otherwise
      name = QCoreApplication::translate("Compare", "seeds of one recipe");
  }
  return names;
}

QStringList groupsBy(const ComparedKey& key) {
  QStringList groups;
  for (size_t run = 0; run < key.compared.values.size(); ++run)
    groups << (key.compared.values[run] ? key.name.section(QChar('.'), -1) + QChar(' ') +
                                              key.texts[static_cast<qsizetype>(run)]
                                        : QString());
  return groups;
}

}  // namespace heddle::gui
