// A recipe's data at a glance: documents, tokens, epochs of the run, the mix, a few samples. The
// same in Compose and in Launch.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <array>

#include "gui/models/data_description.h"
#include "gui/views/data/data_words.h"
#include "gui/views/data/mix_view.h"
#include "gui/views/data/sample_text.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class DataView : public QWidget {
  Q_OBJECT

 public:
  /// `description` outlives it.
  explicit DataView(const DataDescription& description, QWidget* parent = nullptr);
  /// A note on where the run will be; empty: none.
  void setPlace(const QString& words);

 private:
  struct Figure {
    QLabel* value;
    QLabel* note;
  };
  QWidget* makeFigures();
  QWidget* makeSamples();
  void refresh();
  void showSample(size_t sample);
  void set(Figure& figure, const DataFigure& shown);

  const DataDescription& description_;
  std::array<Figure, 3> figures_ = {};  // documents, tokens, epochs
  QWidget* told_;                       // all that is there with an answer
  MixView* mix_;
  QLabel* origin_;
  QLabel* remarks_;
  QLabel* place_;
  QLabel* error_;
  ElidedLabel* sampleWords_ = nullptr;
  QToolButton *before_ = nullptr, *next_ = nullptr;
  SampleText* text_ = nullptr;
  size_t sample_ = 0;
};

}  // namespace heddle::gui
