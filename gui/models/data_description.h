// The engine's description of a recipe's data, from `heddle-engine describe-data`: one process a
// question, which is ended when another question takes its place. No widgets. GUI thread only;
// nothing here waits.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <optional>

#include "engine/data/description.h"

namespace heddle::gui {

struct DataQuestion {
  QString recipe;    // the text
  QString file;      // its path: the recipe's own paths are relative to it
  QStringList sets;  // key=value
  bool operator==(const DataQuestion&) const = default;
};

class DataDescription : public QObject {
  Q_OBJECT

 public:
  static constexpr int kPatience = 30000;

  /// `engine`: the program. `patience`: milliseconds after which a question is given up.
  explicit DataDescription(QString engine, int patience = kPatience, QObject* parent = nullptr);
  ~DataDescription() override;

  /// Answered by `changed`, unless another question follows. Questions that follow each other
  /// closely are one.
  void ask(const DataQuestion& question);
  /// The recipe names no data: there is nothing to ask.
  void forget();
  /// The question that is answered, or is going to be.
  const DataQuestion& asked() const { return question_; }
  bool isAsking() const { return soon_.isActive() || process_ != nullptr; }

  /// The newest answer of the recipe; none where there is none yet, or `error` says why.
  const std::optional<data::Description>& shown() const { return shown_; }
  const QString& error() const { return error_; }

 Q_SIGNALS:
  void changed();

 private:
  void start();
  void drop();
  void take(int code, QProcess::ExitStatus status);
  void answer(std::optional<data::Description> description, const QString& error);

  const QString engine_;
  DataQuestion question_;
  QTimer soon_, patience_;
  QProcess* process_ = nullptr;  // of the question; null: none runs
  std::optional<data::Description> shown_;
  QString error_;
};

}  // namespace heddle::gui
