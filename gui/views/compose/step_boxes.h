// Numbers with steppers that go where one wants to go: from 8 to 16, from 300 to 400, from 8e-5 to
// 9e-5, from 9 GiB to 10 GiB.
#pragma once

#include <QDoubleSpinBox>
#include <QSpinBox>
#include <optional>

#include "engine/recipe/parse.h"

namespace heddle::gui {

/// The next value up (1) or down (-1).
double nextValue(double value, int direction, recipe::Step step);

/// A whole number. Below its range, or at -1, it shows only the word for `zero`.
class IntegerBox : public QSpinBox {
 public:
  explicit IntegerBox(const recipe::KeyInfo& info);
  void stepBy(int steps) override;
  /// Where so many steps lead.
  int next(int steps) const;
  using QSpinBox::textFromValue;

 private:
  recipe::Step step_;
};

/// A number with a fraction or an exponent, as a recipe writes it. Accepts any text: the field
/// shows text that is no number, or out of range, like every other fault.
class RealBox : public QDoubleSpinBox {
 public:
  explicit RealBox(const recipe::KeyInfo& info);
  void stepBy(int steps) override { go(next(steps)); }
  /// Where so many steps lead.
  virtual double next(int steps) const;
  QString textFromValue(double value) const override;
  double valueFromText(const QString& text) const override;
  QValidator::State validate(QString& text, int& at) const override;
  virtual std::optional<double> read(const QString& text) const;

 protected:
  void go(double value);

  QString zero_;
  double low_, high_;
};

/// Bytes, as in "60 GiB".
class SizeBox : public RealBox {
 public:
  using RealBox::RealBox;
  double next(int steps) const override;
  QString textFromValue(double bytes) const override;
  std::optional<double> read(const QString& text) const override;
};

}  // namespace heddle::gui
