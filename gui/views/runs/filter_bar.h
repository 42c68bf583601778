// The field of the runs filter: applies what is typed after a moment, and says next to it what is
// not understood.
#pragma once

#include <QHBoxLayout>
#include <QTimer>

#include "gui/session.h"
#include "gui/views/runs/runs_model.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {

class FilterBar : public QWidget {
  Q_OBJECT

 public:
  /// Values of keys that are no columns are read from the store into `model`.
  FilterBar(Session& session, RunsModel& model, QWidget* parent = nullptr);

  void addRight(QWidget* widget) { row_->addWidget(widget); }
  QString text() const { return field_->text(); }
  /// Puts a whole filter in the field, which applies it.
  void setText(const QString& text) { field_->setText(text); }
  /// Lets all runs through, and goes to the field.
  void clear();
  bool isReady() const { return !reading_.running() && !typing_.isActive(); }

 Q_SIGNALS:
  void wanted(const heddle::workbench::RunFilter& filter);

 private:
  void apply();
  void take(const RunFilter& filter);

  Session& session_;
  RunsModel& model_;
  Job reading_;
  QHBoxLayout* row_;
  SearchField* field_;
  ElidedLabel* note_;
  QTimer typing_;
  bool goesOn_ = false;  // the filter may still be typed
};

}  // namespace heddle::gui
