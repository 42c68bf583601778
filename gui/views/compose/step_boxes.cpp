#include "gui/views/compose/step_boxes.h"

#include <QLineEdit>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "engine/recipe/text.h"
#include "engine/recipe/units.h"

namespace heddle::gui {
namespace {

constexpr double kGiB = 1 << 30, kMiB = 1 << 20, kMax = 1e18;

/// One leading digit more or less: 300 to 400, 1e-3 to 9e-4.
double nextDigit(double value, int direction) {
  constexpr double kRound = 1e-9;  // 0.3 is not quite three tenths
  if (value <= 0) return direction > 0 ? 0.1 : 0;
  double unit = std::pow(10, std::floor(std::log10(value) + kRound));
  const double digits = value / unit;
  if (direction > 0) return (std::floor(digits + kRound) + 1) * unit;
  if (digits < 1 + kRound) unit /= 10;
  return (std::ceil(value / unit - kRound) - 1) * unit;
}

}  // namespace

double nextValue(double value, int direction, recipe::Step step) {
  if (step == recipe::Step::doubling && value >= 1) {
    return direction > 0 ? value * 2 : std::floor(value / 2);
  }
  if (step == recipe::Step::digit && (value > 10 || (value == 10 && direction > 0))) {
    return nextDigit(value, direction);
  }
  return value + direction;
}

IntegerBox::IntegerBox(const recipe::KeyInfo& info) : step_(info.step) {
  // 0, which is no value of its own, means the key's absence.
  const double low = info.zero.empty() ? info.low : std::min(info.low, 0.0);
  setRange(static_cast<int>(low), static_cast<int>(std::min(info.high, double{1 << 30})));
  setSpecialValueText(QString::fromStdString(info.zero));
  setLocale(QLocale(QLocale::English));
  setGroupSeparatorShown(true);
  setFocusPolicy(Qt::StrongFocus);
}

int IntegerBox::next(int steps) const {
  double next = value();
  for (int i = 0; i < std::abs(steps); ++i) {
    next = nextValue(next, steps > 0 ? 1 : -1, step_);
    // -1 has a meaning, 0 has none.
    if (minimum() == -1 && next == 0) next = steps > 0 ? 1 : -1;
  }
  return static_cast<int>(std::clamp<double>(next, minimum(), maximum()));
}

void IntegerBox::stepBy(int steps) {
  setValue(next(steps));
  selectAll();
}

RealBox::RealBox(const recipe::KeyInfo& info)
    : zero_(QString::fromStdString(info.zero)),
      low_(info.low),
      high_(info.high > info.low ? std::min(info.high, kMax) : kMax) {
  setDecimals(30);
  setRange(-kMax, kMax);
  setKeyboardTracking(false);
  setLocale(QLocale::c());
  setFocusPolicy(Qt::StrongFocus);
}

double RealBox::next(int steps) const {
  double next = value();
  for (int i = 0; i < std::abs(steps); ++i) next = nextDigit(next, steps > 0 ? 1 : -1);
  // Rounds the decimal that one writes, not the binary fraction of a double.
  return std::clamp(QString::number(next, 'g', 12).toDouble(), low_, high_);
}

void RealBox::go(double value) {
  setValue(value);
  selectAll();
}

QString RealBox::textFromValue(double value) const {
  return QString::fromStdString(recipe::number_text(value));
}

double RealBox::valueFromText(const QString& text) const { return read(text).value_or(value()); }

QValidator::State RealBox::validate(QString& text, int&) const {
  return read(text) ? QValidator::Acceptable : QValidator::Intermediate;
}

std::optional<double> RealBox::read(const QString& text) const {
  bool number = false;
  const double value = text.toDouble(&number);
  return number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double SizeBox::next(int steps) const {
  double next = value();
  for (int i = 0; i < std::abs(steps); ++i) {
    const bool large = next >= 2 * kGiB || (next >= kGiB && steps > 0) || next == 0;
    const double unit = large ? kGiB : kMiB;
    next = nextValue(next / unit, steps > 0 ? 1 : -1, recipe::Step::digit) * unit;
  }
  return std::clamp(next, 0.0, kMax);
}

QString SizeBox::textFromValue(double bytes) const {
  return bytes == 0 ? zero_
                    : QString::fromStdString(recipe::format_bytes(static_cast<int64_t>(bytes)));
}

std::optional<double> SizeBox::read(const QString& text) const {
  if (text.isEmpty() || text == zero_) return 0;
  const auto bytes = recipe::parse_bytes(text.toStdString());
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

}  // namespace heddle::gui
