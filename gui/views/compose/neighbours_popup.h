// Recipes one step away, each with its prediction; a click takes one.
#pragma once

#include <QFrame>
#include <QGridLayout>
#include <QLabel>

#include "gui/models/alternatives.h"
#include "gui/views/compose/neighbours.h"

namespace heddle::gui {

class NeighboursPopup : public QFrame {
  Q_OBJECT

 public:
  /// `now` is the recipe's own value. Requests their predictions at once.
  NeighboursPopup(RecipePrediction& prediction, const QString& title, const QString& now,
                  const QList<Neighbour>& neighbours, QWidget* parent);
  /// Next to `at`. It deletes itself when it closes.
  void open(const QWidget* at);

 Q_SIGNALS:
  void taken(const heddle::gui::Neighbour& neighbour);

 private:
  struct Row {
    QLabel *step, *stepBy, *memory, *memoryBy, *fits;
  };

  Row addRow(QWidget* name);
  void fill(const Row& row, const plan::Document& document);
  void refuse(const Row& row, const QString& why);

  std::shared_ptr<const Prediction> now_;  // the others are compared with it; may be null
  Alternatives alternatives_;
  QGridLayout* grid_;
  QList<Row> rows_;  // of the neighbours
};

}  // namespace heddle::gui
