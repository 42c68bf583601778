#include "gui/widgets/tile.h"

#include <QHBoxLayout>

#include "gui/theme/theme.h"

namespace heddle::gui {

Tile::Tile(const QString& name, QWidget* parent) : QFrame(parent) {
  setProperty("role", "card");
  setFixedHeight(96);
  setMinimumWidth(96);
  auto* title = label(name, "muted");
  title->setStyleSheet(QStringLiteral("font-size: 12px;"));
  sign_ = new QLabel;
  sign_->setFixedSize(16, 16);
  auto* top = new QHBoxLayout;
  top->addWidget(title, 1);
  top->addWidget(sign_);

  value_ = new QLabel;
  value_->setStyleSheet(
      QStringLiteral("font-family: 'JetBrains Mono'; font-size: 20px; font-weight: 600;"));
  value_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
  unit_ = new ElidedLabel({}, "mono-muted");
  auto* number = new QHBoxLayout;
  number->setSpacing(6);
  number->addWidget(value_, 0, Qt::AlignBottom);
  number->addWidget(unit_, 1, Qt::AlignBottom);
  note_ = new ElidedLabel({}, "mono-muted");
  note_->setStyleSheet(QStringLiteral("font-size: 11px;"));
  sparkline_ = new Sparkline;

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 8, 12, 6);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addLayout(number);
  layout->addWidget(note_);
  layout->addStretch(1);
  layout->addWidget(sparkline_);
}

void Tile::setValue(const QString& value, const QString& unit) {
  QString number = value, rest = unit;
  if (unit.isEmpty()) {
    const qsizetype space = value.indexOf(QChar(' '));
    if (space > 0) number = value.left(space), rest = value.mid(space + 1);
  }
  value_->setText(number);
  unit_->setFullText(rest);
}

void Tile::setNote(const QString& note) { note_->setFullText(note); }
void Tile::setSeries(QVector<double> values) { sparkline_->setValues(std::move(values)); }
QString Tile::value() const { return value_->text(); }
QString Tile::unit() const { return unit_->fullText(); }

void Tile::setTone(Tone tone) {
  tone_ = tone;
  showTone();
}

void Tile::setStale(bool stale) {
  if (std::exchange(stale_, stale) != stale) showTone();
}

void Tile::showTone() {
  const bool alarming = !stale_ && (tone_ == Tone::warn || tone_ == Tone::bad);
  gui::setTone(value_, stale_                ? "muted"
                       : tone_ == Tone::warn ? "warn"
                       : tone_ == Tone::bad  ? "bad"
                                             : "");
  sign_->setPixmap(
      alarming ? iconPixmap(QStringLiteral("warning"), 16, colorOf(tone_), devicePixelRatioF())
               : QPixmap());
  const Colors& c = colors();
  sparkline_->setColor(stale_ ? c.muted : tone_ == Tone::bad ? c.bad : QColor());
}

}  // namespace heddle::gui
