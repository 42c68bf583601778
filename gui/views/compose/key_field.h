// A field of the form: one widget bound to one key of the recipe, both ways, made from what the
// engine's table of keys says of the key.
#pragma once

#include <QWidget>

#include "engine/recipe/offers.h"
#include "gui/models/recipe_document.h"

namespace heddle::gui {

/// A value of a key: in words, and as TOML source.
struct KeyValue {
  QString words;
  QString toml;
};

class KeyField : public QObject {
  Q_OBJECT

 public:
  const QString& key() const { return key_; }
  const recipe::KeyInfo& info() const { return info_; }
  QWidget* editor() const { return editor_; }
  /// Shows the document's value, and a red border around a mistake.
  void refresh();
  /// The first fault of the key and its remedy, empty if it has none.
  QString fault() const;
  /// Whether that fault is a key that is still to be filled in.
  bool isOpen() const;
  /// Values that would mend it; none for typed text that is not in the recipe yet.
  std::vector<recipe::Offer> offers() const;
  /// The widest that the editor shows: half a row suffices where there is room for it.
  virtual int widestText() const = 0;
  /// Its value in words.
  virtual QString shownValue() const { return {}; }
  /// Other values it could have: one step up and one down, or the other choices where these are
  /// few. None: it is free text.
  virtual QList<KeyValue> nextValues() const { return {}; }
  /// Changes to the recipe when it gets a value: its key, and the keys that depend on it.
  virtual KeyValues pairsFor(const QString& toml) const;

 protected:
  KeyField(RecipeDocument& document, const recipe::KeyInfo& info, QWidget* editor);
  virtual void showValue(const QString& toml) = 0;
  RecipeDocument& document() const { return document_; }
  /// Sets the key and those that depend on it: another number of layers has other buckets.
  void take(const QString& toml);
  /// A fault of typed text that is not in the recipe yet.
  void setOwnFault(const QString& fault);

 private:
  RecipeDocument& document_;
  const recipe::KeyInfo& info_;
  QString key_, ownFault_, valueAtFault_;
  QWidget* editor_;
};

/// The field of any key that is not drawn.
KeyField* fieldFor(RecipeDocument& document, const recipe::KeyInfo& info);

/// A key's help, its range and its default.
QString wordsOf(const recipe::KeyInfo& info);
/// The same as a tooltip.
QString helpOf(const recipe::KeyInfo& info);

/// Leaves Ctrl+Z, Ctrl+Shift+Z and Ctrl+Y to the page, whose history is one for all, and the wheel
/// to the scroll area unless the widget has the focus.
class FieldFilter : public QObject {
 public:
  using QObject::QObject;
  static void install(QWidget* widget);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace heddle::gui
