// The transfers that compute waits for, the longest first, each with the compute that would have
// hidden it.
#pragma once

#include <QVBoxLayout>
#include <QWidget>

#include "engine/plan/document.h"

namespace heddle::gui {

class ExposedList : public QWidget {
  Q_OBJECT

 public:
  explicit ExposedList(QWidget* parent = nullptr);
  /// Merges transfers of like layers; shows at most `most`, and how many are left out.
  void display(const plan::Document& document, int most, bool stale);

 private:
  QVBoxLayout* rows_;
};

}  // namespace heddle::gui
