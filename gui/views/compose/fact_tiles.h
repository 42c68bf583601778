// What follows from the recipe by arithmetic alone: shares, tokens, operations.
#pragma once

#include <QLabel>
#include <QList>
#include <QWidget>

#include "engine/recipe/recipe.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

struct Fact {
  QString name, value, note;
};

/// Of a resolved recipe without faults whose vocabulary is filled in.
QList<Fact> factsOf(const recipe::Recipe& recipe);

class FactTiles : public QWidget {
  Q_OBJECT

 public:
  explicit FactTiles(QWidget* parent = nullptr);
  /// An empty list: the recipe has faults, nothing follows from it.
  void setFacts(const QList<Fact>& facts);

 private:
  struct Row {
    QLabel* value;
    ElidedLabel* note;
  };
  QList<Row> rows_;
};

}  // namespace heddle::gui
