#include <QLineEdit>
#include <QRegularExpression>

#include "engine/recipe/text.h"
#include "engine/recipe/units.h"
#include "gui/views/compose/field_kinds.h"
#include "gui/views/compose/step_boxes.h"

namespace heddle::gui {
namespace {

class IntegerField : public KeyField {
 public:
  IntegerField(RecipeDocument& document, const recipe::KeyInfo& info)
      : KeyField(document, info, new IntegerBox(info)) {
    connect(box(), &QSpinBox::valueChanged, this, [this](int value) {
      // A value below the range means the key's absence.
      take(value < this->info().low ? QString() : QString::number(value));
    });
    connect(box(), &QSpinBox::editingFinished, this, [this] { this->document().endEdit(); });
  }

  int widestText() const override {
    const QFontMetrics metrics = editor()->fontMetrics();
    return std::max(metrics.horizontalAdvance(QStringLiteral("131,072")),
                    metrics.horizontalAdvance(box()->specialValueText()));
  }
  QString shownValue() const override { return box()->text(); }
  QList<KeyValue> nextValues() const override {
    QList<KeyValue> all;
    for (const int direction : {1, -1}) {
      const int value = box()->next(direction);
      if (value == box()->value()) continue;
      const bool absent = value < info().low;
      const bool special = !box()->specialValueText().isEmpty() && value == box()->minimum();
      all << KeyValue{absent || special ? box()->specialValueText() : box()->textFromValue(value),
                      absent ? QString() : QString::number(value)};
    }
    return all;
  }

 protected:
  void showValue(const QString& toml) override {
    const int value = toml.toInt();
    if (box()->value() == value) return;
    const QSignalBlocker quiet(box());
    box()->setValue(value);
  }

 private:
  IntegerBox* box() const { return static_cast<IntegerBox*>(editor()); }
};

class RealField : public KeyField {
 public:
  RealField(RecipeDocument& document, const recipe::KeyInfo& info, RealBox* box)
      : KeyField(document, info, box) {
    connect(box, &QDoubleSpinBox::valueChanged, this, [this](double value) {
      if (value != shown_) takeText(this->box()->textFromValue(value));
    });
    auto* line = box->findChild<QLineEdit*>();
    connect(line, &QLineEdit::textEdited, this, [this](const QString& text) {
      typing_ = true;
      takeText(text);
      typing_ = false;
    });
    connect(box, &QDoubleSpinBox::editingFinished, this, [this] { this->document().endEdit(); });
  }

  int widestText() const override {
    const QString usual = QString::fromStdString(info().fallback);
    return editor()->fontMetrics().horizontalAdvance(usual.size() > 6 ? usual
                                                                      : QStringLiteral("0.0001"));
  }
  QString shownValue() const override { return box()->text(); }
  QList<KeyValue> nextValues() const override {
    QList<KeyValue> all;
    for (const int direction : {1, -1}) {
      const double value = box()->next(direction);
      const QString text = box()->textFromValue(value);
      if (value != box()->value()) all << KeyValue{text, toToml(text)};
    }
    return all;
  }

 protected:
  virtual double fromToml(const QString& toml) const { return toml.toDouble(); }
  virtual QString toToml(const QString& text) const {
    static const QRegularExpression number(
        QStringLiteral("^[+-]?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"));
    return number.match(text).hasMatch()
               ? text
               : QString::fromStdString(recipe::number_text(*box()->read(text)));
  }
  virtual QString example() const { return tr("%1 is no number, as in 3e-4"); }

  void showValue(const QString& toml) override {
    shown_ = fromToml(toml);
    // Text that is being typed stays while it means the same.
    if (typing_) return;
    const QSignalBlocker quiet(box());
    box()->setValue(shown_);
  }

 private:
  RealBox* box() const { return static_cast<RealBox*>(editor()); }

  void takeText(const QString& text) {
    if (!box()->read(text)) {
      setOwnFault(example().arg(text.isEmpty() ? tr("nothing") : text));
      return;
    }
    setOwnFault({});
    take(toToml(text));
  }

  double shown_ = 0;
  bool typing_ = false;
};

class SizeField : public RealField {
 public:
  SizeField(RecipeDocument& document, const recipe::KeyInfo& info)
      : RealField(document, info, new SizeBox(info)) {}

 protected:
  double fromToml(const QString& toml) const override {
    return static_cast<double>(recipe::parse_bytes(unquoted(toml).toStdString()).value_or(0));
  }
  QString toToml(const QString& text) const override {
    const SizeBox* box = static_cast<SizeBox*>(editor());
    return quoted(*box->read(text) == 0 ? QString() : text);
  }
  QString example() const override { return tr("%1 is no size, as in 60 GiB"); }
};

}  // namespace

KeyField* integerField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new IntegerField(document, info);
}

KeyField* realField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new RealField(document, info, new RealBox(info));
}

KeyField* sizeField(RecipeDocument& document, const recipe::KeyInfo& info) {
  return new SizeField(document, info);
}

}  // namespace heddle::gui
