// Measurements that others published of runs like the predicted one: the nearest in a line, all
// of them, with their sources, a click away.
#pragma once

#include <QLabel>
#include <QWidget>

#include "engine/plan/document.h"

namespace heddle::gui {

class PublishedLine : public QWidget {
  Q_OBJECT

 public:
  explicit PublishedLine(QWidget* parent = nullptr);

  /// Hidden where nothing is alike.
  void display(const plan::Document& document);

 private:
  void openAll();

  QStringList rows_;
  QLabel* words_;
};

}  // namespace heddle::gui
