// The recipe being composed: its text, what the text means, its faults, and one history of edits
// for form and editor alike. No widgets. GUI thread only.
#pragma once

#include <QHash>
#include <QList>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QUndoStack>
#include <utility>

#include "base/result.h"
#include "engine/recipe/offers.h"
#include "engine/recipe/parse.h"
#include "gui/models/recipe_files.h"

namespace heddle::gui {

/// Keys and their values as TOML source; an empty one removes the key.
using KeyValues = QList<std::pair<QString, QString>>;

class RecipeDocument : public QObject {
  Q_OBJECT

 public:
  explicit RecipeDocument(QObject* parent = nullptr);
  ~RecipeDocument() override;

  /// Replaces the text; its history starts again. `file` may be empty: a
  /// recipe that has never been saved.
  void load(const QString& name, const QString& text, const QString& file);
  Result<> open(const QString& file);
  /// Writes the text to its file, whole or not at all.
  Result<> save();
  /// The same under another name. In another folder, relative paths in the recipe become absolute.
  Result<> saveAs(const QString& file);
  /// From now on unsaved text is kept in this file, so that it survives a crash; what it holds from
  /// the last time is brought back. False: there was nothing unsaved.
  bool keepUnsavedIn(const QString& file);

  const QString& text() const { return text_; }
  const QString& name() const { return name_; }
  const QString& file() const { return file_; }
  bool isEdited() const { return text_ != saved_; }
  /// The text as it was saved or loaded last; can be undone.
  void discardChanges() {
    endEdit();
    setText(saved_);
    endEdit();
  }
  /// Each key that means something else than what is saved, with both values: "training.steps  10
  /// → 20". Empty if only the text differs, or is no TOML.
  QStringList unsavedChanges() const;

  /// False while the text is no TOML: then `resolved` and `value` are the last readable text's.
  bool isReadable() const { return readable_; }
  /// Its paths are absolute.
  const recipe::Parsed& resolved() const { return resolved_; }
  const std::vector<recipe::Fault>& faults() const { return faults_; }
  /// Features that `train` cannot execute yet, of a recipe without faults.
  const std::vector<recipe::Fault>& unsupported() const { return unsupported_; }
  /// The first fault of a key, or what `train` cannot do with it; null: neither.
  const recipe::Fault* faultOf(const QString& key) const;
  /// Whether a fault asks for a key that nobody has written yet: a question, not a mistake.
  bool isOpen(const recipe::Fault& fault) const;
  /// How many faults are mistakes; the others are open.
  qint64 mistakes() const;
  /// Changes that would mend it.
  std::vector<recipe::Offer> offers(const QString& key) const;
  bool canTrain() const { return faults_.empty() && unsupported_.empty(); }

  /// A key's value as TOML source: what is written, or its preset's, its checkpoint's or the
  /// default value.
  QString value(const QString& key) const { return values_.value(key); }
  /// Whether the key is in the text.
  bool isWritten(const QString& key) const;

  /// Sets keys (an empty value removes one) as one undoable edit. Edits of the same first key
  /// become one until `endEdit`. Emits `refused` if the text does not allow it.
  void setKeys(const KeyValues& pairs, const QString& what);
  /// The text after that; an error if it does not allow it.
  Result<QString> textWith(const KeyValues& pairs) const;
  /// One key; what it has anyway, by preset or default, is not written.
  void setKey(const QString& key, const QString& value);
  /// The exceptions by module, as one undoable edit.
  void setOverrides(const std::vector<recipe::Override>& overrides, const QString& what);
  /// The text as the editor has it. Typing in one place becomes one undoable edit a line.
  void setText(const QString& text);
  /// The next edit is one of its own.
  void endEdit() { ++edit_; }
  QUndoStack* history() { return &history_; }
  /// Facts from the recipe's files; emits `changed` when there is a new one.
  RecipeFiles& files() { return files_; }
  const RecipeFiles& files() const { return files_; }

 Q_SIGNALS:
  void changed();
  /// After `changed`: it is another recipe, not an edit of the one before.
  void loaded();
  void refused(const QString& why);

 private:
  friend class TextChange;
  void replace(const QString& text);
  void refuse(const QString& why);
  void read();
  void autosave();

  RecipeFiles files_;
  QString autosaveFile_;
  QTimer autosaveTimer_;
  QString name_, file_, text_, saved_;
  recipe::Parsed resolved_;
  std::vector<recipe::Fault> faults_, unsupported_;
  QHash<QString, QString> values_;
  bool readable_ = true;
  int edit_ = 0;              // edits with the same number and label merge
  qsizetype lastTyped_ = -1;  // where typing would go on
  QUndoStack history_;
};

}  // namespace heddle::gui
