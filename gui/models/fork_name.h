// A recipe that is edited before a run is forked goes from page to page under the name RUN@STEP,
// without a file: saved as a file it is a recipe of its own.
#pragma once

#include <QRegularExpression>
#include <QString>
#include <optional>

namespace heddle::gui {

struct ForkOf {
  QString run;
  QString checkpoint;  // "30", "30-best"
};

inline QString forkName(const ForkOf& fork) {
  return fork.run + QLatin1Char('@') + fork.checkpoint;
}

inline std::optional<ForkOf> forkOf(const QString& name, const QString& file) {
  static const QRegularExpression kName(QStringLiteral("^(.+)@(\\d+(?:-[A-Za-z0-9._-]+)?)$"));
  const auto match = kName.match(name);
  if (!file.isEmpty() || !match.hasMatch()) return std::nullopt;
  return ForkOf{match.captured(1), match.captured(2)};
}

}  // namespace heddle::gui
