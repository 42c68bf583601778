// One predicted number: a button that explains it.
#pragma once

#include <QAbstractButton>

#include "gui/views/compose/prediction_words.h"

namespace heddle::gui {

class FigureTile : public QAbstractButton {
  Q_OBJECT

 public:
  explicit FigureTile(QWidget* parent = nullptr);

  void setFigure(const FigureText& figure);
  /// Stands in the note's place; an empty text: none.
  void setDifference(const Difference& difference);
  void setStale(bool stale);
  const FigureText& figure() const { return figure_; }
  const Difference& difference() const { return difference_; }

  QSize sizeHint() const override { return {148, kHeight}; }
  QSize minimumSizeHint() const override { return {112, kHeight}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  static constexpr int kHeight = 66;

  void describe();

  FigureText figure_;
  Difference difference_;
  bool stale_ = false;
};

}  // namespace heddle::gui
