// Peak memory of each compared run against one another, measured and predicted. Many runs scroll.
#pragma once

#include <QGridLayout>
#include <QString>
#include <optional>
#include <vector>

#include "gui/theme/run_colors.h"
#include "gui/widgets/card.h"

namespace heddle::gui {

class MemoryBars : public Card {
  Q_OBJECT

 public:
  struct Run {
    QString name;
    RunStroke stroke;
    std::optional<double> measured;  // bytes of the highest rank
    std::optional<double> predicted;
  };

  explicit MemoryBars(QWidget* parent = nullptr);
  /// Runs of which nothing is known are left out; without any other the card hides.
  void display(const std::vector<Run>& runs);

 private:
  void addBar(int row, double bytes, double most, double opacity, const QString& word);

  QGridLayout* rows_;
};

}  // namespace heddle::gui
