// Ids of runs as JSON, for what outlasts a start.
#pragma once

#include <QJsonArray>
#include <QJsonValue>
#include <QList>

namespace heddle::gui {

inline QJsonArray toJson(const QList<qint64>& runs) {
  QJsonArray array;
  for (const qint64 run : runs) array.append(run);
  return array;
}

/// Members that are no ids are left out.
inline QList<qint64> runIds(const QJsonValue& json) {
  QList<qint64> runs;
  for (const QJsonValue& each : json.toArray())
    if (const qint64 run = each.toInteger(); run > 0) runs.append(run);
  return runs;
}

}  // namespace heddle::gui
