// Explains a number: its formula, and a table of its parts.
#pragma once

#include <QFrame>

#include "gui/views/compose/prediction_words.h"

namespace heddle::gui {

class WhyPopup : public QFrame {
  Q_OBJECT

 public:
  explicit WhyPopup(const Why& why, QWidget* parent);
  /// Left of `at`, or where there is room. It deletes itself when it closes.
  void open(const QWidget* at);
};

}  // namespace heddle::gui
