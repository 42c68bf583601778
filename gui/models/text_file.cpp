#include "gui/models/text_file.h"

#include <QFile>
#include <QSaveFile>

#include "storage/open_files.h"

namespace heddle::gui {

Result<QString> readText(const QString& file) {
  if (const Result<> may = storage::may_open(file.toStdString()); !may) return fail(may);
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly))
    return fail("{} cannot be read: {}", file.toStdString(), source.errorString().toStdString());
  return QString::fromUtf8(source.readAll());
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
