// A tour of the window in three steps: a bubble next to a real widget, the rest dimmed. Escape
// leaves it. It begins only when a person asks for it.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <functional>
#include <vector>

namespace heddle::gui {

/// `widget`: the object name; where there is none to be seen, the page's button in the rail.
struct TourStep {
  QString page;
  QString widget;
  QString title;
  QString text;
};

class Tour : public QWidget {
  Q_OBJECT

 public:
  /// Covers the window until it ends, and deletes itself then. `showPage` goes to a step's page.
  Tour(QWidget* window, std::vector<TourStep> steps, std::function<void(const QString&)> showPage);

 Q_SIGNALS:
  /// The keyboard is free.
  void ended();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool focusNextPrevChild(bool next) override;

 private:
  void showStep();
  void place();
  void end();
  /// The place that the step is about, in the window.
  QRect pointedAt() const;

  std::vector<TourStep> steps_;
  std::function<void(const QString&)> showPage_;
  size_t step_ = 0;
  QFrame* bubble_;
  QLabel* title_;
  QLabel* text_;
  QLabel* count_;
  QPushButton* leave_;
  QPushButton* next_;
  QTimer following_;  // a page that was just shown reads and moves its parts for a while
  QRect at_;
};

}  // namespace heddle::gui
