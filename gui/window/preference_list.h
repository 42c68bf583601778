// Rows of settings under headings, found by typing: each a title, its control and a line about it.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QWidget>
#include <vector>

namespace heddle::gui {

class PreferenceList : public QWidget {
  Q_OBJECT

 public:
  explicit PreferenceList(QWidget* parent = nullptr);

  void beginSection(const QString& title);
  /// The title is the control's accessible name where it has none. Without a title the control
  /// takes the whole width.
  void addRow(const QString& title, QWidget* control, const QString& note = {});
  /// Shows the rows that have each of the words; false: none has.
  bool filter(const QString& words);

 private:
  struct Row {
    QList<QWidget*> widgets;
    QString words;
    QLabel* heading;
  };

  QGridLayout* grid_;
  QLabel* heading_ = nullptr;  // of the section under way
  std::vector<Row> rows_;
};

}  // namespace heddle::gui
