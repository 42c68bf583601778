// The model drawn as its modules: a layer once, with its count.
#pragma once

#include <QWidget>
#include <map>
#include <string>

#include "engine/recipe/recipe.h"
#include "gui/views/compose/layer_strip.h"

namespace heddle::gui {

class ModelView : public QWidget {
  Q_OBJECT

 public:
  explicit ModelView(QWidget* parent = nullptr);

  /// `model` with its vocabulary filled in; 0 leaves the embeddings' counts out.
  void setModel(const recipe::Model& model);
  /// Seconds of a step that are computed in each module, see moduleTimes; empty: not known, as in a
  /// `planned` step that is timed by whole layers.
  void setTimes(const std::map<std::string, double>& seconds, bool planned);
  /// Draws an accent around the chosen modules.
  void setRange(const ModuleRange& range);
  QSize minimumSizeHint() const override { return {290, 280}; }
  QSize sizeHint() const override { return {480, 290}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 Q_SIGNALS:
  /// A module was clicked, or the card for all layers.
  void chosen(const ModuleRange& range, bool extend);

 private:
  /// tok_embeddings, the layers' card, norm and output.
  struct Places {
    QRectF top, card, bottom;
  };
  Places places() const;
  bool isChosen(int first, int last) const;
  void paintOuter(QPainter& painter, const QRectF& box, const QString& name, const QString& shape,
                  qint64 elements, double seconds, bool isChosen);
  void paintLayer(QPainter& painter, const QRectF& card);

  double secondsOf(const char* module) const;

  recipe::Model model_;
  std::map<std::string, double> seconds_;
  double longest_ = 0;  // of them
  bool planned_ = false;
  ModuleRange range_;
};

}  // namespace heddle::gui
