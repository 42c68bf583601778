#include "tests/packaging/repository.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>

namespace heddle::repository {

QStringList tracked_files() {
  QProcess git;
  // A clone that belongs to another user is fine to list.
  git.start("git", {"-c", "safe.directory=*", "-C", HEDDLE_SOURCE_DIR, "ls-files", "-z"});
  git.waitForFinished();
  QStringList files =
      QString::fromUtf8(git.readAllStandardOutput()).split(QChar(0), Qt::SkipEmptyParts);
  files.removeIf(
      [](const QString& path) { return !QFileInfo::exists(HEDDLE_SOURCE_DIR "/" + path); });
  files.sort();
  return files;
}

QString text_of(const QString& path) {
  QFile file(HEDDLE_SOURCE_DIR "/" + path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QByteArray bytes = file.readAll();
  return bytes.contains('\0') ? QString() : QString::fromUtf8(bytes);
}

bool is_cpp(const QString& path) {
  return path.endsWith(".h") || path.endsWith(".cpp") || path.endsWith(".cu") ||
         path.endsWith(".cuh");
}

}  // namespace heddle::repository
