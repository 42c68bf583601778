#include "gui/models/tokenizer_size.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "storage/open_files.h"

namespace heddle::gui {

qint64 tokenizerSize(const QString& file) {
  constexpr qint64 kLargestFile = qint64{64} << 20;
  if (!storage::may_open(file.toStdString())) return 0;
  QFile source(file);
  if (source.size() > kLargestFile || !source.open(QIODevice::ReadOnly)) return 0;
  const QJsonObject tokenizer = QJsonDocument::fromJson(source.readAll()).object();
  qint64 last = -1;
  const QJsonObject vocabulary = tokenizer["model"].toObject()["vocab"].toObject();
  for (const QJsonValue& id : vocabulary) last = std::max(last, id.toInteger());
  const QJsonArray added = tokenizer["added_tokens"].toArray();
  for (const QJsonValue& token : added) last = std::max(last, token["id"].toInteger());
  return last + 1;
}

}  // namespace heddle::gui
