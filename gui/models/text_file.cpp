#include "gui/models/text_file.h"

#include <QSaveFile>

#include "base/read_file.h"
#include "storage/open_files.h"

namespace heddle::gui {

constexpr size_t kMaxText = size_t{64} << 20;

Result<QString> readText(const QString& file) {
  if (const Result<> may = storage::may_open(file.toStdString()); !may) return fail(may);
  const auto text = read_file(file.toStdString(), kMaxText);
  if (!text) return fail(text);
  return QString::fromUtf8(QByteArray::fromStdString(*text));
}

Result<> writeText(const QString& file, const QString& text) {
  if (const Result<> may = storage::may_open(file.toStdString()); !may) return may;
  QSaveFile target(file);
  const QByteArray bytes = text.toUtf8();
  if (!target.open(QIODevice::WriteOnly) || target.write(bytes) != bytes.size() || !target.commit())
    return fail("{} cannot be written: {}", file.toStdString(), target.errorString().toStdString());
  return {};
}

}  // namespace heddle::gui
