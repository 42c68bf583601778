#include "gui/theme/stylesheet.h"

#include <QFile>
#include <QRegularExpression>
#include <map>

namespace heddle::gui {

QString styleSheet(const Colors& c, Scheme scheme) {
  const bool dark = scheme == Scheme::dark;
  const std::map<QString, QColor> values = {
      {"window", c.window},
      {"surface", c.surface},
      {"raised", c.raised},
      {"line", c.line},
      {"text", c.text},
      {"muted", c.muted},
      {"accent", c.accent},
      {"accentText", c.accentText},
      {"onAccent", c.onAccent},
      {"good", c.good},
      {"warn", c.warn},
      {"bad", c.bad},
      {"goodText", c.goodText},
      {"warnText", c.warnText},
      {"badText", c.badText},
      {"selected", c.selected},
      {"current", c.current},
      {"other", c.other},
      {"hover", blend(c.raised, c.line, 0.6)},
      {"accentHover", blend(c.accent, dark ? QColor(Qt::white) : QColor(Qt::black), 0.12)},
      {"field", dark ? c.window : c.surface},
      {"rowLine", blend(c.surface, c.line, 0.5)},
  };
  QFile file(QStringLiteral(":/heddle/theme/heddle.qss"));
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QString source = QString::fromUtf8(file.readAll());
  static const QRegularExpression name(QStringLiteral("@([A-Za-z]+)"));
  QString sheet;
  qsizetype from = 0;
  for (auto match = name.globalMatch(source); match.hasNext();) {
    const auto found = match.next();
    const auto value = values.find(found.captured(1));
    sheet += QStringView(source).mid(from, found.capturedStart() - from);
    sheet += value == values.end() ? found.captured() : value->second.name();
    from = found.capturedEnd();
  }
  sheet += QStringView(source).mid(from);
  return sheet;
}

}  // namespace heddle::gui
