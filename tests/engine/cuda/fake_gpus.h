// A run of heddle-engine on the fake GPUs (fake/README.md).
#pragma once

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QThread>

#include "../train/engine_process.h"

/// A model whose attention and products are those of a large one, of a few kilobytes; `rest` are
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

class FakeGpus {
 public:
  /// `settings` are of the environment: FAKE_CUDA_…, NAME=value.
  explicit FakeGpus(const QByteArray& recipe, const QStringList& settings = {}) {
    QFile file(folder_.filePath("recipe.toml"));
    if (!file.open(QFile::WriteOnly) || file.write(recipe) != recipe.size()) qFatal("no recipe");
    QDir(folder_.path()).mkdir("notes");
    environment_ = QProcessEnvironment::systemEnvironment();
    QStringList preloaded;
    for (const char* library : {"libcudart.so.13", "libnccl.so.2", "libcublas.so.13",
                                "libcublasLt.so.13", "libcuda.so.1"})
      preloaded << QString(HEDDLE_BINARY_DIR) + "/fake_cuda/" + library;
    environment_.insert("LD_PRELOAD", preloaded.join(':'));
    environment_.insert("FAKE_CUDA_LOG", folder_.filePath("notes"));
    environment_.insert("TMPDIR", folder_.path());
    for (const QString& setting : settings)
      environment_.insert(setting.section('=', 0, 0), setting.section('=', 1));
  }

  QString path(const QString& name) const { return folder_.filePath(name); }
  QString run_dir() const { return folder_.filePath("run"); }

  /// `arguments` come behind `train RECIPE --run-dir …`.
  std::unique_ptr<QProcess> start(const QStringList& arguments) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environment_);
    process->start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine",
                   QStringList{"train", path("recipe.toml"), "--run-dir", run_dir()} + arguments);
    return process;
  }
  EngineResult train(const QStringList& arguments) const {
    return run({"train", path("recipe.toml"), "--run-dir", run_dir()}, arguments);
  }
  EngineResult run(const QStringList& command, const QStringList& arguments) const {
    return run_engine(command + arguments, {}, environment_);
  }

  /// What a rank's runtime has noted, line by line.
  QStringList notes(int rank) const {
    QFile file(path(QString("notes/rank-%1.log").arg(rank)));
    if (!file.open(QFile::ReadOnly)) return {};
    return QString(file.readAll()).trimmed().split('\n');
  }

  /// Processes of the run that live.
  QStringList left() const {
    QStringList found;
    for (const QString& process : QDir("/proc").entryList(QDir::Dirs)) {
      QFile file("/proc/" + process + "/cmdline");
      if (file.open(QFile::ReadOnly) && file.readAll().contains(run_dir().toUtf8()))
        found << process;
    }
    return found;
  }

 private:
  QTemporaryDir folder_;
  QProcessEnvironment environment_;
};

inline int count(const QStringList& notes, const QString& start) {
  int found = 0;
  for (const QString& note : notes) found += note.startsWith(start);
  return found;
}
