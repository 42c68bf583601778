// Runs heddle-engine as a user does: arguments in, exit code, last line and errors out.
#pragma once

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStringList>

struct EngineResult {
  int exit_code = -1;
  QByteArray out;
  QByteArray err;
  /// train's last line.
  QJsonObject results() const {
    return QJsonDocument::fromJson(out.trimmed().split('\n').last()).object();
  }
};

inline EngineResult run_engine(const QStringList& arguments, const QByteArray& input = {}) {
  QProcess process;
  process.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine", arguments);
  process.write(input);
  process.closeWriteChannel();
  process.waitForFinished(-1);
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          process.readAllStandardOutput(), process.readAllStandardError()};
}

/// The weights of a checkpoint's folder as Hugging Face's: the file that they are in now.
inline QString exported(const QString& checkpoint) {
  const EngineResult run = run_engine({"convert", checkpoint, checkpoint + "-exported"});
  if (run.exit_code != 0) qWarning("%s", run.err.constData());
  return checkpoint + "-exported/model.safetensors";
}
