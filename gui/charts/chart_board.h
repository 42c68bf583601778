// A grid of charts of some runs' metrics, which a page fills with runs and a person with charts:
// any metric, as many as wanted, moved, resized, removed, kept per page and as named views. The
// board reads samples by itself: what is on screen, at the resolution that it has there. GUI thread
// only.
#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "gui/charts/board_grid.h"
#include "gui/charts/board_layout.h"
#include "gui/charts/chart_card.h"
#include "gui/charts/chart_group.h"
#include "gui/preferences.h"

class QPushButton;

namespace heddle::gui {

class PickList;

class ChartBoard : public QWidget {
  Q_OBJECT

 public:
  explicit ChartBoard(Session& session, QWidget* parent = nullptr);

  /// The charts as long as a person has not changed them, and after a reset. Other ones later
  /// replace these only if they are still what is shown.
  void setDefaults(std::vector<ChartSpec> charts);
  /// Takes on what the settings have under that name ("live"), and keeps charts and named views
  /// there from now on: for Page::keepLayout. Without it nothing is kept.
  void setViews(const QString& page);

  /// A button of the page's next to the board's own.
  void addTool(QWidget* tool);
  /// Where nobody has set the number of columns, there is one for each so many pixels.
  void setColumnWidth(int pixels);
  /// It is never lower, however few the charts.
  void setLeastHeight(int height);

  void setRuns(std::vector<BoardRun> runs);
  /// The run that the others are compared with; 0: none.
  void setBaseline(qint64 run);
  /// The store may have more: what is on screen is read again where it has.
  void refresh();

  /// Lines to compare a metric's curves with, and a place where something happened, wherever the
  /// metric is shown, now and later.
  void setReferences(const std::string& metric, std::vector<ReferenceLine> lines);
  void setMark(const std::string& metric, std::optional<ChartMark> mark);

  /// Nothing that is on screen is still being read.
  bool isReady() const;
  /// The charts are the usual ones again; named views stay.
  void resetLayout();
  std::vector<MetricChart*> charts() const { return {cards_.begin(), cards_.end()}; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeHead();
  void openViews();
  void openMetrics();
  void offer(const std::vector<std::string>& metrics);
  void saveView();
  BoardLayout defaultLayout() const;
  /// Values that equal the old preferences become the new ones.
  void followPreferences(const Preferences& before);
  void setLayout(const BoardLayout& layout);
  /// The layout was changed by a person.
  void changed();
  ChartCard* addCard(const ChartSpec& spec);
  void change(ChartCard* card, ChartCard::Change change);
  void resizeCard(ChartCard* card, const QSize& size);
  void move(size_t from, size_t to);
  void remove(size_t index);
  void useForAll(const ChartSpec& spec);
  size_t indexOf(const ChartCard* card) const;
  void markDrop(const QPoint& at);
  void arrange();
  void readRuns();

  Session& session_;
  Job job_;
  Job naming_;
  ChartGroup group_;
  QWidget* head_ = nullptr;
  QPushButton* add_ = nullptr;
  QPushButton* views_ = nullptr;
  QWidget* empty_ = nullptr;
  PickList* metrics_ = nullptr;
  std::vector<std::string> offered_;
  std::vector<ChartSpec> defaults_;
  BoardLayout layout_;
  BoardGrid grid_;
  int columnWidth_ = kColumnWidth;
  int leastHeight_ = 0;
  std::vector<ChartCard*> cards_;  // as the layout's
  QWidget* drop_ = nullptr;
  std::vector<BoardRun> runs_;
  qint64 baseline_ = 0;
  std::map<qint64, CurveRun> sources_;
  std::map<std::string, std::vector<ReferenceLine>> references_;
  std::map<std::string, std::optional<ChartMark>> marks_;
  BoardViews kept_;
  bool again_ = false;
};

}  // namespace heddle::gui
