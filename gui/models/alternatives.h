// Predictions of recipes that differ a little from the one being edited. They are asked for next to
// the recipe's own prediction and leave it alone. No widgets. GUI thread only.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>

#include "gui/models/recipe_prediction.h"

namespace heddle::gui {

class Alternatives : public QObject {
  Q_OBJECT

 public:
  /// `name` is in the keys of its questions: what is asked later under the same name takes the
  /// place of what was asked before.
  Alternatives(RecipePrediction& prediction, QString name, QObject* parent = nullptr);

  /// Each text is answered by one of the signals, without a timeline.
  void ask(const QStringList& texts);

 Q_SIGNALS:
  void answered(int index, std::shared_ptr<const heddle::gui::Prediction> prediction);
  /// There is no prediction of it, and why.
  void refused(int index, const QString& why);

 private:
  /// −1: the key of somebody else.
  int indexOf(const QString& key) const;

  RecipePrediction& prediction_;
  QString name_;
  int count_ = 0;
};

}  // namespace heddle::gui
