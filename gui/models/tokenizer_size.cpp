#include "gui/models/tokenizer_size.h"

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <utility>

namespace heddle::gui {
namespace {

constexpr qint64 kLargestFile = qint64{64} << 20;

qint64 readSize(const QString& file) {
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

}  // namespace

qint64 tokenizerSize(const QString& file) {
  static QHash<QString, std::pair<QDateTime, qint64>> known;
  const QDateTime modified = QFileInfo(file).lastModified();
  auto& entry = known[file];
  if (!entry.first.isValid() || entry.first != modified) entry = {modified, readSize(file)};
  return entry.second;
}

}  // namespace heddle::gui
