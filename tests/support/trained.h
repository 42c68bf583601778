// Trainings that cases compare with or go on from: each runs once for a build of the engine.
#pragma once

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QLockFile>
#include <QStandardPaths>

#include "tests/support/engine_process.h"
#include "tests/support/files.h"

namespace heddle::test {

/// A training that is done. It is shared: copy what a case changes.
struct Trained {
  EngineResult run;
  QString checkpoints;  // the folder with its step-N
};

namespace trained {

/// One folder for each build, in the cache that ctest gives to tests; older builds' are removed.
inline QString folder_of_build() {
  QByteArray build;
  for (const char* file : {"heddle-engine", "libheddle_torch.so"}) {
    const QFileInfo info(QString(HEDDLE_BINARY_DIR "/") + file);
    build += QByteArray::number(info.size()) + ' ' +
             QByteArray::number(info.lastModified().toMSecsSinceEpoch()) + ' ';
  }
  const QString all =
      QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) + "/heddle-trainings";
  const QString own = QCryptographicHash::hash(build, QCryptographicHash::Md5).toHex();
  QDir().mkpath(all + '/' + own);
  for (const QString& other : folders_in(all))
    if (other != own) QDir(all + '/' + other).removeRecursively();
  return all + '/' + own;
}

inline Trained read(const QString& folder) {
  return {{read_bytes(folder + "/exit").toInt(), read_bytes(folder + "/out"),
           read_bytes(folder + "/err")},
          folder + "/checkpoints"};
}

}  // namespace trained

/// `train` of this recipe with these arguments: now, or before by this or another test. Processes
/// that want the same one wait for each other. A training that fails is not kept.
inline Trained trained_once(const QByteArray& recipe, const QStringList& arguments) {
  static const QString all = trained::folder_of_build();
  const QString name = QCryptographicHash::hash(recipe + '\0' + arguments.join('\0').toUtf8(),
                                                QCryptographicHash::Md5)
                           .toHex();
  const QString done = all + '/' + name, begun = done + ".begun";
  QLockFile lock(done + ".lock");
  lock.setStaleLockTime(0);
  if (!lock.lock()) qFatal("%s cannot be locked", qPrintable(done));
  if (QDir(done).exists()) return trained::read(done);
  QDir(begun).removeRecursively();
  QDir().mkpath(begun);
  if (!write_bytes(begun + "/recipe.toml", recipe)) qFatal("%s: no room", qPrintable(begun));
  const EngineResult run =
      run_engine(QStringList{"train", begun + "/recipe.toml", "--set",
                             "checkpoint.folder=\"" + begun + "/checkpoints\""} +
                 arguments);
  if (run.exit_code != 0) {
    qWarning("%s", run.err.constData());
    return {run, begun + "/checkpoints"};
  }
  const bool kept = write_bytes(begun + "/exit", "0") && write_bytes(begun + "/out", run.out) &&
                    write_bytes(begun + "/err", run.err) && QDir().rename(begun, done);
  if (!kept) qFatal("%s: no room", qPrintable(begun));
  return trained::read(done);
}

}  // namespace heddle::test
