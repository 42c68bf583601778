// The ranks as a mesh, under the degrees that it is made of.
#pragma once

#include <QLabel>
#include <QWidget>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/mesh_view.h"

namespace heddle::gui {

class MeshPanel : public QWidget {
  Q_OBJECT

 public:
  /// `product` tells whether the degrees make up the ranks.
  MeshPanel(const RecipeDocument& document, QLabel* product, QWidget* parent = nullptr);
  /// Shows the document's.
  void refresh();

 private:
  /// Names what ranks of one colour have in common.
  QString colorWords(const recipe::Mesh& mesh) const;

  const RecipeDocument& document_;
  QLabel* product_;
  QLabel* note_;
  MeshView* mesh_;
};

}  // namespace heddle::gui
