// A field of the form: one widget bound to one key of the recipe, both ways.
#pragma once

#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QStringList>

#include "gui/models/recipe_document.h"

namespace heddle::gui {

class KeyField : public QObject {
  Q_OBJECT

 public:
  const QString& key() const { return key_; }
  QWidget* editor() const { return editor_; }
  /// Shows the document's value, and a red border if it has a fault.
  void refresh();
  /// The first fault of the key and what would be right, empty if it has none.
  QString fault() const;

 protected:
  KeyField(RecipeDocument& document, QString key, QWidget* editor);
  virtual void showValue(const QString& toml) = 0;
  RecipeDocument& document() const { return document_; }
  /// A fault of what is being typed and is not in the text yet.
  void setOwnFault(const QString& fault);

 private:
  RecipeDocument& document_;
  QString key_, ownFault_, valueAtFault_;
  QWidget* editor_;
};

/// A whole number. `lowest` may stand for something: then it is shown as `special`.
KeyField* integerField(RecipeDocument& document, const QString& key, int lowest,
                       const QString& special = {});
/// A number with a fraction or an exponent, as it is typed.
KeyField* numberField(RecipeDocument& document, const QString& key);
/// One of a few words; `labels` stand for them on screen.
KeyField* choiceField(RecipeDocument& document, const QString& key, const QStringList& words,
                      const QStringList& labels);
/// model.preset: choosing one drops the numbers that were written beside the old one; choosing
/// "own numbers" writes them out.
KeyField* presetField(RecipeDocument& document);
/// true or false, in words of its own.
KeyField* yesNoField(RecipeDocument& document, const QString& key, const QString& yes,
                     const QString& no);
/// A path with a button that opens a dialog; `empty` stands where there is none.
KeyField* fileField(RecipeDocument& document, const QString& key, const QString& dialogTitle,
                    const QString& filter, const QString& empty);
/// Paths joined by "; ".
KeyField* filesField(RecipeDocument& document, const QString& key, const QString& dialogTitle,
                     const QString& filter, const QString& empty);
KeyField* folderField(RecipeDocument& document, const QString& key, const QString& dialogTitle,
                      const QString& empty);

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
