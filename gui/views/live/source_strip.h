// The tokens seen of each source of a mix, as a share of all and compared with its weight: a bar
// with its legend below.
#pragma once

#include <QFrame>
#include <QStringList>
#include <vector>

#include "engine/recipe/data_sources.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {

class SourceStrip : public QFrame {
  Q_OBJECT

 public:
  explicit SourceStrip(QWidget* parent = nullptr);
  /// `tokens`: seen of each; empty: no step has finished yet. `before`: of other data, before the
  /// run read these. Hides where there is one source alone.
  void setSources(std::vector<recipe::DataSource> sources, std::vector<double> tokens,
                  double before);
  /// The run is out of contact.
  void setStale(bool stale);
  /// A line for each source: "web/ 70.2 % of 70.0 %, 1.23 M tokens".
  QStringList lines() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  double seen() const;
  QStringList textsOf(size_t source) const;
  void refresh();
  /// The number of the legend's entries in a row.
  int perRow() const;
  void arrange();

  std::vector<recipe::DataSource> sources_;
  std::vector<double> tokens_;
  double before_ = 0;
  bool stale_ = false;
  StackedBar* bar_;
};

}  // namespace heddle::gui
