// Peak memory of each compared run against one another, predicted and measured, by category where
// that is known. Many runs scroll.
#pragma once

#include <QGridLayout>
#include <QString>
#include <optional>
#include <vector>

#include "engine/plan/memory_bytes.h"
#include "gui/theme/run_colors.h"
#include "gui/widgets/card.h"
#include "gui/widgets/text_table.h"

namespace heddle::gui {

class MemoryBars : public Card {
  Q_OBJECT

 public:
  /// The peak of the rank that holds most, in bytes.
  struct Peak {
    std::optional<double> bytes;
    std::optional<plan::MemoryBytes> uses;
    QString difference;  // from the baseline's; mostly empty
  };
  struct Run {
    QString name;
    RunStroke stroke;
    Peak predicted, measured;
  };

  explicit MemoryBars(QWidget* parent = nullptr);
  /// Runs of which nothing is known are left out; without any other the card hides.
  void display(const std::vector<Run>& runs);

 private:
  TextTable table() const;
  void addBar(int row, const Peak& peak, double most, const QString& word, double opacity);

  std::vector<Run> runs_;
  QGridLayout* rows_;
  QWidget* legend_;
};

}  // namespace heddle::gui
