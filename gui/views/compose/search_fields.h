// The question to a search: which of the recipe's fields are fixed, how much memory there is, and
// which numbers of ranks it tries.
#pragma once

#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

#include "base/result.h"
#include "gui/models/layout_search.h"
#include "gui/models/recipe_document.h"

namespace heddle::gui {

class SearchFields : public QWidget {
  Q_OBJECT

 public:
  explicit SearchFields(const RecipeDocument& document);

  /// With the fields for several numbers of ranks.
  void setCounting(bool counting);
  /// An error names the wrong field and the valid values.
  Result<plan::SearchQuestion> question() const;

 private:
  struct Pin {
    QString key;
    QToolButton* button;
  };

  QLayout* makePins();
  QLineEdit* makeField(QVBoxLayout* column, const QString& name, const char* objectName,
                       const QString& placeholder);

  const RecipeDocument& document_;
  QList<Pin> pins_;
  QLineEdit* limit_;
  QWidget* counting_;
  QLineEdit *ranks_, *tokens_;
};

}  // namespace heddle::gui
