// The form: the keys that are edited most, in groups; what is wrong with a key stands under it.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QList>
#include <QVBoxLayout>
#include <QWidget>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/key_field.h"
#include "gui/views/compose/mesh_view.h"

namespace heddle::gui {

class RecipeForm : public QWidget {
  Q_OBJECT

 public:
  explicit RecipeForm(RecipeDocument& document, QWidget* parent = nullptr);

 private:
  /// Fields side by side, and the line under them that tells what is wrong with them.
  struct Row {
    QList<KeyField*> fields;
    QLabel* fault;
  };

  void beginSection(const QString& title, QWidget* note = nullptr);
  void addWide(const QString& name, KeyField* field);
  void addPair(const QString& left, KeyField* leftField, const QString& right,
               KeyField* rightField);
  void addRow(const QList<KeyField*>& fields);
  void refresh();
  void refreshMesh();

  RecipeDocument& document_;
  QVBoxLayout* column_;
  QGridLayout* grid_ = nullptr;  // of the section being built
  QList<Row> rows_;
  QLabel* product_;
  QLabel* meshNote_;
  MeshView* mesh_;
};

}  // namespace heddle::gui
