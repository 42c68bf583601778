#include "gui/views/compose/edit_hint.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/prediction_words.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kAway = 18;          // from the pointer
constexpr double kNothing = 1e-6;  // a difference of that share is none

/// "step +1.2 ms", in the colour of better or worse.
QString told(const QString& name, const QString& text, Tone tone) {
  const Colors& c = colors();
  const QColor color = tone == Tone::good ? c.goodText : tone == Tone::bad ? c.badText : c.muted;
  return QStringLiteral(
             "<span style=\"color:%1\">%2</span>&nbsp;<span style=\"color:%3\">%4</span>")
      .arg(c.muted.name(), name, color.name(),
           QString(text).replace(QChar(' '), QStringLiteral("&nbsp;")));
}

QString told(const QString& name, double now, double before, Unit unit) {
  const QString size = format::withUnit(unit, std::abs(now - before));
  if (std::abs(now - before) <= kNothing * std::abs(before))
    return told(name, QStringLiteral("+0"), Tone::muted);
  return told(name, format::signedValue(size, now < before), now < before ? Tone::good : Tone::bad);
}

}  // namespace

EditHint::EditHint(RecipePrediction& prediction, QWidget* window)
    : QFrame(window), prediction_(prediction), edit_(label({})), differences_(mono({})) {
  setObjectName(QStringLiteral("editHint"));
  setProperty("role", "toast");
  setAttribute(Qt::WA_TransparentForMouseEvents);
  differences_->setObjectName(QStringLiteral("editDifferences"));
  differences_->setTextFormat(Qt::RichText);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 6, 12, 6);
  column->setSpacing(2);
  column->addWidget(edit_);
  column->addWidget(differences_);
  hide();
  connect(&prediction_, &RecipePrediction::changed, this, [this] {
    if (isVisible()) refresh();
  });
}

void EditHint::begin() {
  before_ = prediction_.isStale() ? nullptr : prediction_.shown();
  differences_->clear();
}

void EditHint::tell(const QString& edit, const QPoint& pointer) {
  edit_->setText(edit);
  refresh();
  QWidget* window = parentWidget();
  const QPoint at = window->mapFromGlobal(pointer);
  const bool below = at.y() + kAway + height() <= window->height();
  move(std::clamp(at.x() + kAway, 0, std::max(0, window->width() - width() - 4)),
       below ? at.y() + kAway : at.y() - kAway - height());
  raise();
  show();
}

void EditHint::end() {
  hide();
  before_.reset();
}

void EditHint::refresh() {
  const auto& now = prediction_.shown();
  QString text;
  if (prediction_.isBehind()) {
    // The last words stay until there are newer ones.
    text = differences_->text();
    if (!text.endsWith(QStringLiteral(" …"))) text += tr(" …");
  } else if (prediction_.isStale()) {
    text = prediction_.staleReason().toHtmlEscaped();
  } else if (before_ && now) {
    const plan::Document &a = now->document, &b = before_->document;
    text = QStringList{told(tr("step"), a.step_seconds, b.step_seconds, Unit::seconds),
                       told(tr("exposed"), a.exposed_seconds, b.exposed_seconds, Unit::seconds),
                       told(tr("memory"), static_cast<double>(a.peak_bytes),
                            static_cast<double>(b.peak_bytes), Unit::bytes)}
               .join(QStringLiteral("&nbsp; "));
  }
  differences_->setText(text);
  differences_->setVisible(!text.isEmpty());
  adjustSize();
}

}  // namespace heddle::gui
