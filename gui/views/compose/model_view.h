// The model drawn as its modules: a layer once, with how often it stands.
#pragma once

#include <QWidget>

#include "engine/recipe/recipe.h"

namespace heddle::gui {

class ModelView : public QWidget {
  Q_OBJECT

 public:
  explicit ModelView(QWidget* parent = nullptr);

  /// `model` with its vocabulary filled in; 0 leaves the embeddings' counts out.
  void setModel(const recipe::Model& model);
  QSize minimumSizeHint() const override { return {380, 262}; }
  QSize sizeHint() const override { return {480, 470}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintOuter(QPainter& painter, const QRectF& box, const QString& name, const QString& shape,
                  qint64 elements);
  void paintLayer(QPainter& painter, const QRectF& card);

  recipe::Model model_;
};

}  // namespace heddle::gui
