// A mix as a bar, and a row for each of its parts.
#pragma once

#include <QGridLayout>
#include <QWidget>

#include "engine/data/description.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {

class MixView : public QWidget {
  Q_OBJECT

 public:
  explicit MixView(QWidget* parent = nullptr);
  /// Hides where there is one source alone.
  void setSources(const data::Description& description);

 private:
  void draw();

  std::vector<data::DescribedSource> sources_;
  StackedBar* bar_;
  QGridLayout* rows_;
};

}  // namespace heddle::gui
