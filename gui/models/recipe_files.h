// Facts from the files that a recipe names. They are read on a thread of their own, so that a slow
// disk does not block the window, and checked again while they are in use.
#pragma once

#include <QDateTime>
#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QString>
#include <optional>

#include "base/result.h"
#include "engine/recipe/recipe.h"
#include "gui/models/worker.h"

namespace heddle::gui {

/// GUI thread only.
class RecipeFiles : public QObject {
  Q_OBJECT

 public:
  explicit RecipeFiles(QObject* parent = nullptr);

  /// The number of ids of a tokenizer.json, 0 if it cannot be read as one; nothing while it is read
  /// for the first time.
  std::optional<qint64> vocabulary(const QString& tokenizer);
  /// The model that a checkpoint's folder describes, or why there is none.
  Result<recipe::Model> modelOf(const std::string& folder);
  bool isReading() const { return reading_.running(); }

 Q_SIGNALS:
  /// A requested fact is known, or has changed.
  void changed();

 private:
  struct Vocabulary {
    QDateTime modified;
    qint64 size = 0;
    bool operator==(const Vocabulary&) const = default;
  };
  struct Described {
    std::optional<recipe::Model> model;
    std::string why;  // there is none
    bool operator==(const Described&) const = default;
  };
  template <typename T>
  struct Known {
    std::optional<T> answer;
    QElapsedTimer age;
    bool asked = false;
  };
  /// The answer at hand; asks `read(what is known of it)` for a newer one where it is old.
  template <typename T, typename Read>
  std::optional<T> ask(QHash<QString, Known<T>>& known, const QString& path, Read read);

  Worker thread_;
  Job reading_;
  QHash<QString, Known<Vocabulary>> vocabularies_;
  QHash<QString, Known<Described>> models_;
};

}  // namespace heddle::gui
