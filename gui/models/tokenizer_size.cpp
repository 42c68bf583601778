#include "gui/models/tokenizer_size.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "base/read_file.h"
#include "storage/open_files.h"

namespace heddle::gui {

qint64 tokenizerSize(const QString& file) {
  constexpr size_t kLargestFile = size_t{64} << 20;
  if (!storage::may_open(file.toStdString())) return 0;
  const auto text = read_file(file.toStdString(), kLargestFile);
  if (!text) return 0;
  const QJsonObject tokenizer = QJsonDocument::fromJson(QByteArray::fromStdString(*text)).object();
  qint64 last = -1;
  const QJsonObject vocabulary = tokenizer["model"].toObject()["vocab"].toObject();
  for (const QJsonValue& id : vocabulary) last = std::max(last, id.toInteger());
  const QJsonArray added = tokenizer["added_tokens"].toArray();
  for (const QJsonValue& token : added) last = std::max(last, token["id"].toInteger());
  return last + 1;
}

}  // namespace heddle::gui
