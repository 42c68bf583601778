// A run of heddle-engine on the fake GPUs (fake/README.md).
#pragma once

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QThread>

#include "tests/support/engine_process.h"

/// A model with the attention and products of a large one, of a few kilobytes; `rest` are
/// the recipe's other tables, with %1 for the folder of the text that comes with Heddle.
inline QByteArray gpu_recipe(const char* rest) {
  return (QString(R"(
[model]
dim = 64
n_layers = 2
n_heads = 4
n_kv_heads = 2
ffn_dim = 128
[data]
text = ["%1tinyshakespeare.txt"]
tokenizer = "%1tokenizer.json"
seq_len = 64
[precision]
param = "bf16"
[hardware]
device = "cuda"
)") + rest)
      .arg(QString(HEDDLE_SOURCE_DIR) + "/resources/data/")
      .toUtf8();
}

inline QString fake_cuda_folder() { return QString(HEDDLE_BINARY_DIR) + "/fake_cuda"; }

/// The libraries that a program loads before all else, from `folder`.
inline QStringList fake_libraries(const QString& folder) {
  QStringList files;
  for (const char* library :
       {"libcudart.so.13", "libnccl.so.2", "libcublas.so.13", "libcublasLt.so.13", "libcuda.so.1"})
    files << folder + "/" + library;
  return files;
}

/// KEY=VALUE each as arguments.
inline QStringList as_sets(const QStringList& values) {
  QStringList arguments;
  for (const QString& value : values) arguments << "--set" << value;
  return arguments;
}

class FakeGpus {
 public:
  /// `settings` are of the environment: FAKE_CUDA_…, NAME=value.
  explicit FakeGpus(const QByteArray& recipe, const QStringList& settings = {}) {
    QFile file(folder_.filePath("recipe.toml"));
    if (!file.open(QFile::WriteOnly) || file.write(recipe) != recipe.size()) qFatal("no recipe");
    QDir(folder_.path()).mkdir("notes");
    environment_ = QProcessEnvironment::systemEnvironment();
    environment_.insert("LD_PRELOAD", fake_libraries(fake_cuda_folder()).join(':'));
    environment_.insert("FAKE_CUDA_LOG", folder_.filePath("notes"));
    // Times of fake GPUs refine no prediction but their own.
    environment_.insert("XDG_CACHE_HOME", folder_.filePath("cache"));
    environment_.insert("TMPDIR", folder_.path());
    for (const QString& setting : settings)
      environment_.insert(setting.section('=', 0, 0), setting.section('=', 1));
  }

  QString path(const QString& name) const { return folder_.filePath(name); }
  QString run_dir() const { return folder_.filePath("run"); }
  const QProcessEnvironment& environment() const { return environment_; }

  /// Trains on so many ranks; `sets` are KEY=VALUE, `more` is taken as it is.
  EngineResult train(int ranks, const QStringList& sets = {}, const QStringList& more = {}) const {
    return run(training(ranks, sets) + more);
  }
  std::unique_ptr<QProcess> start_training(int ranks, const QStringList& sets = {}) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environment_);
    process->start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine", training(ranks, sets));
    return process;
  }
  EngineResult run(const QStringList& arguments) const {
    return run_engine(arguments, {}, environment_);
  }

  /// The notes of a rank's runtime, line by line.
  QStringList notes(int rank) const {
    QFile file(path(QString("notes/rank-%1.log").arg(rank)));
    if (!file.open(QFile::ReadOnly)) return {};
    return QString(file.readAll()).trimmed().split('\n');
  }

  /// Processes of the run that live: whatever it has started has its environment.
  QStringList left() const {
    QStringList found;
    for (const QString& process : QDir("/proc").entryList(QDir::Dirs)) {
      QFile file("/proc/" + process + "/environ");
      if (file.open(QFile::ReadOnly) && file.readAll().contains(path("notes").toUtf8()))
        found << process;
    }
    return found;
  }

 private:
  QStringList training(int ranks, const QStringList& sets) const {
    return QStringList{"train",   path("recipe.toml"),    "--run-dir", run_dir(),
                       "--ranks", QString::number(ranks), "--json"} +
           as_sets(sets);
  }

  QTemporaryDir folder_;
  QProcessEnvironment environment_;
};

inline int count(const QStringList& notes, const QString& start) {
  int found = 0;
  for (const QString& note : notes) found += note.startsWith(start);
  return found;
}
