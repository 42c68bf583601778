// Runs heddle-engine as a user does: arguments in, exit code, last line and errors out.
#pragma once

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStringList>

struct EngineResult {
  int exit_code = -1;
  QByteArray out;
  QByteArray err;
  /// train's last line.
  QJsonObject results() const {
    return QJsonDocument::fromJson(out.trimmed().split('\n').last()).object();
  }
  /// Each step's loss.
  QList<double> losses() const {
    QList<double> all;
    for (const QJsonValue loss : results()["losses"].toArray()) all << loss.toDouble();
    return all;
  }
};

inline EngineResult run_engine(
    const QStringList& arguments, const QByteArray& input = {},
    const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
  QProcess process;
  process.setProcessEnvironment(environment);
  process.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine", arguments);
  process.write(input);
  process.closeWriteChannel();
  process.waitForFinished(-1);
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          process.readAllStandardOutput(), process.readAllStandardError()};
}

/// A planned run's deeds beyond its plan: allocations, copies, collectives. "" for none.
inline QString beyond_the_plan(const QJsonObject& results) {
  QStringList found;
  auto differ = [&](const char* is, const QJsonValue& planned) {
    if (results[is] != planned)
      found << QString("%1 %2, planned %3")
                   .arg(is)
                   .arg(results[is].toDouble(-1), 0, 'f', 0)
                   .arg(planned.toDouble(-1), 0, 'f', 0);
  };
  differ("outside_bytes", 0);
  differ("misplaced_bytes", 0);
  differ("collectives_run", results["collectives"]);
  differ("collective_bytes_run", results["collective_bytes"]);
  return found.join("; ");
}

/// The weights of a checkpoint's folder as Hugging Face's: the file that they are in now.
inline QString exported(const QString& checkpoint) {
  const QString weights = checkpoint + "-exported/model.safetensors";
  if (QFile::exists(weights)) return weights;
  const EngineResult run = run_engine({"convert", checkpoint, checkpoint + "-exported"});
  if (run.exit_code != 0) qWarning("%s", run.err.constData());
  return weights;
}

inline QStringList folders_in(const QString& folder) {
  return QDir(folder).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
}

/// A small model on the text that ships with Heddle; `rest` are the recipe's other tables. Its 54
/// columns, 3 heads and 100 of the ffn do not divide by 2, 3 or 4 ranks alike.
inline QByteArray small_recipe(const char* rest, int layers = 2) {
  return QString(R"(
[model]
dim = 54
n_layers = %2
n_heads = 3
n_kv_heads = 3
ffn_dim = 100
[data]
text = ["%1tinyshakespeare.txt"]
tokenizer = "%1tokenizer.json"
seq_len = 32)")
             .arg(QString(HEDDLE_SOURCE_DIR) + "/resources/data/")
             .arg(layers)
             .toUtf8() +
         rest;
}
