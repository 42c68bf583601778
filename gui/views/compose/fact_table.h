// What follows from the recipe by arithmetic alone: parameters, tokens, operations.
#pragma once

#include <QLabel>
#include <QList>
#include <QWidget>

#include "engine/recipe/recipe.h"

namespace heddle::gui {

struct Fact {
  QString name, value, note;
};

/// Of a resolved recipe whose vocabulary is filled in.
QList<Fact> factsOf(const recipe::Recipe& recipe);

class FactTable : public QWidget {
  Q_OBJECT

 public:
  explicit FactTable(QWidget* parent = nullptr);
  /// An empty list: the recipe has faults, nothing follows from it.
  void setFacts(const QList<Fact>& facts);

 private:
  struct Row {
    QLabel *name, *value, *note;
  };
  QList<Row> rows_;
};

}  // namespace heddle::gui
