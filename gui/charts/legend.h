// Names of curves with their strokes, in one row. If they do not all fit, a button shows how many
// more there are, and lists them.
#pragma once

#include <QColor>
#include <QPushButton>
#include <QVector>
#include <QWidget>

namespace heddle::gui {

struct LegendEntry {
  QString name;
  QColor color;
  int marker = -1;  // see RunStroke
  int width = 1;
  bool operator==(const LegendEntry&) const = default;
};

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  void setEntries(QVector<LegendEntry> entries);
  QSize sizeHint() const override;
  /// Room for "3 curves".
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QString restText(qsizetype shown) const;
  int restWidth(qsizetype shown) const;
  int widthOfAll(int nameRoom) const;
  void place();
  void listAll();

  QVector<LegendEntry> entries_;
  qsizetype shown_ = 0;
  int left_ = 0;      // where the entries begin: they end at the right when some are left out
  int nameRoom_ = 0;  // pixels, of the longest name
  int lastRoom_ = 0;  // of the last one shown
  QPushButton* more_;
};

}  // namespace heddle::gui
