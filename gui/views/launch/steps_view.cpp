#include "gui/views/launch/steps_view.h"

#include <QProgressBar>
#include <QVBoxLayout>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

StepsView::StepsView(QWidget* parent) : QWidget(parent) {
  rows_ = new QVBoxLayout(this);
  rows_->setContentsMargins(0, 0, 0, 0);
  rows_->setSpacing(4);
}

void StepsView::setHint(const QString& text) {
  clear(rows_);
  QLabel* hint = muted(text);
  hint->setWordWrap(true);
  rows_->addWidget(hint);
}

void StepsView::setSteps(const std::vector<LaunchStep>& steps) {
  clear(rows_);
  for (const LaunchStep& step : steps) add(step);
}

void StepsView::add(const LaunchStep& step) {
  auto* row = new QWidget;
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(8);
  const bool failed = step.state == LaunchStep::State::failed;
  const bool done = step.state == LaunchStep::State::done;
  const QString name = failed ? QStringLiteral("fail")
                       : done ? QStringLiteral("check")
                              : QStringLiteral("clock");
  const Tone tone = failed ? Tone::bad : done ? Tone::good : Tone::accent;
  auto* sign = new Symbol(16, name, tone);
  sign->setFixedSize(16, 20);
  QString text = step.what;
  text[0] = text[0].toUpper();
  auto* what = new ElidedLabel(text);
  gui::setTone(what, failed ? "bad" : done ? "muted" : "");
  line->addWidget(sign);
  line->addWidget(what, 1);
  if (step.totalBytes > 0) {
    line->addWidget(mono(tr("%1 of %2")
                             .arg(format::bytes(static_cast<double>(step.doneBytes)),
                                  format::bytes(static_cast<double>(step.totalBytes)))));
  }
  rows_->addWidget(row);
  if (step.totalBytes > 0 && !done && !failed) {
    auto* bar = new QProgressBar;
    bar->setRange(0, 1000);
    bar->setValue(static_cast<int>(1000.0 * static_cast<double>(step.doneBytes) /
                                   static_cast<double>(step.totalBytes)));
    bar->setTextVisible(false);
    rows_->addWidget(bar);
  }
  if (step.error.isEmpty()) return;
  QLabel* error = label(step.error, "error");
  error->setWordWrap(true);
  error->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  error->setContentsMargins(24, 0, 0, 0);
  rows_->addWidget(error);
}

}  // namespace heddle::gui
