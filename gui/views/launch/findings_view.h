// The preflight's findings, blocking ones first: symbol, name, numbers, remedy.
#pragma once

#include <QWidget>
#include <vector>

#include "workbench/preflight.h"

class QVBoxLayout;

namespace heddle::gui {

class FindingsView : public QWidget {
  Q_OBJECT

 public:
  explicit FindingsView(QWidget* parent = nullptr);
  void setFindings(const std::vector<workbench::Finding>& findings);
  /// In place of findings: that they are being looked for, or why not.
  void setHint(const QString& text);
  /// The first that fails; null: none does.
  QWidget* firstFailing() const { return firstFailing_; }

 private:
  void begin();

  QVBoxLayout* rows_;
  std::vector<workbench::Finding> shown_;
  QWidget* firstFailing_ = nullptr;
};

}  // namespace heddle::gui
