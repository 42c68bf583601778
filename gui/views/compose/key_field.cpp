#include "gui/views/compose/key_field.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QLocale>
#include <QRegularExpression>
#include <QStyle>
#include <cmath>

#include "engine/recipe/presets.h"
#include "engine/recipe/text.h"
#include "gui/theme/icons.h"

namespace heddle::gui {
namespace {

QString quoted(const QString& text) {
  return QString::fromStdString(recipe::quote(text.toStdString()));
}

/// A string of the values' TOML (basic strings only, as `flatten` writes them) is a JSON string
/// too.
QString unquoted(const QString& toml) {
  return QJsonDocument::fromJson(QStringLiteral("[%1]").arg(toml).toUtf8())
      .array()
      .at(0)
      .toString();
}

class SpinBox : public QSpinBox {
 public:
  explicit SpinBox(int lowest) {
    setRange(lowest, 1 << 30);
    setLocale(QLocale(QLocale::English));
    setGroupSeparatorShown(true);
    setFocusPolicy(Qt::StrongFocus);
    FieldFilter::install(this);
  }

  // -1 stands for something, 0 for nothing.
  void stepBy(int steps) override {
    QSpinBox::stepBy(steps);
    if (minimum() == -1 && value() == 0) QSpinBox::stepBy(steps > 0 ? 1 : -1);
  }
};

class IntegerField : public KeyField {
 public:
  IntegerField(RecipeDocument& document, const QString& key, int lowest, const QString& special)
      : KeyField(document, key, new SpinBox(lowest)) {
    spin()->setSpecialValueText(special);
    connect(spin(), &QSpinBox::valueChanged, this,
            [this](int value) { this->document().setKey(this->key(), QString::number(value)); });
    connect(spin(), &QSpinBox::editingFinished, this, [this] { this->document().endEdit(); });
  }

 protected:
  void showValue(const QString& toml) override {
    const int value = toml.toInt();
    if (spin()->value() == value) return;
    const QSignalBlocker quiet(spin());
    spin()->setValue(value);
  }

 private:
  QSpinBox* spin() const { return static_cast<QSpinBox*>(editor()); }
};

class TextField : public KeyField {
 public:
  TextField(RecipeDocument& document, const QString& key) : KeyField(document, key, new QLineEdit) {
    line()->setProperty("role", "mono");
    FieldFilter::install(line());
    connect(line(), &QLineEdit::editingFinished, this, [this] { this->document().endEdit(); });
  }

 protected:
  QLineEdit* line() const { return static_cast<QLineEdit*>(editor()); }
};

class NumberField : public TextField {
 public:
  NumberField(RecipeDocument& document, const QString& key) : TextField(document, key) {
    connect(line(), &QLineEdit::textEdited, this, [this](const QString& text) {
      typing_ = true;
      take(text);
      typing_ = false;
    });
  }

 protected:
  void showValue(const QString& toml) override {
    // What is being typed stays as it is typed while it means the same.
    bool number = false;
    const double shown = line()->text().toDouble(&number);
    if (!typing_ && (!number || shown != toml.toDouble())) line()->setText(toml);
  }

 private:
  void take(const QString& text) {
    static const QRegularExpression toml(
        QStringLiteral("^[+-]?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"));
    bool number = false;
    const double value = text.toDouble(&number);
    if (!number || !std::isfinite(value)) {
      setOwnFault(tr("%1 is no number, as in 3e-4").arg(text.isEmpty() ? tr("nothing") : text));
      return;
    }
    setOwnFault({});
    document().setKey(key(), toml.match(text).hasMatch()
                                 ? text
                                 : QString::fromStdString(recipe::number_text(value)));
  }

  bool typing_ = false;
};

class ChoiceField : public KeyField {
 public:
  ChoiceField(RecipeDocument& document, const QString& key, const QStringList& words,
              const QStringList& labels)
      : KeyField(document, key, new QComboBox) {
    for (int i = 0; i < words.size(); ++i) combo()->addItem(labels[i], words[i]);
    combo()->setFocusPolicy(Qt::StrongFocus);
    FieldFilter::install(combo());
    connect(combo(), &QComboBox::activated, this, [this](int index) {
      take(combo()->itemData(index).toString());
      this->document().endEdit();
    });
  }

 protected:
  virtual void take(const QString& word) { document().setKey(key(), quoted(word)); }
  void showValue(const QString& toml) override { show(unquoted(toml)); }
  void show(const QString& word) { combo()->setCurrentIndex(combo()->findData(word)); }

 private:
  QComboBox* combo() const { return static_cast<QComboBox*>(editor()); }
};

class PresetField : public ChoiceField {
 public:
  using ChoiceField::ChoiceField;

 protected:
  void take(const QString& word) override {
    QList<std::pair<QString, QString>> pairs;
    static const QStringList numbers = {
        "dim",         "n_layers", "n_heads",    "n_kv_heads",   "ffn_dim",        "vocab_size",
        "max_seq_len", "norm_eps", "rope_theta", "rope_scaling", "tied_embeddings"};
    for (const QString& name : numbers) {
      const QString number = QStringLiteral("model.") + name;
      pairs.append({number, word.isEmpty() ? document().value(number) : QString()});
    }
    // Without a preset its numbers must stand in the text; defaults need not.
    if (word.isEmpty()) {
      const recipe::Recipe plain;
      const auto usual = recipe::flatten(plain);
      for (auto& [name, value] : pairs) {
        const auto fallback = std::ranges::find(usual, name.toStdString(),
                                                &std::pair<std::string, std::string>::first);
        if (fallback->second == value.toStdString()) value.clear();
      }
    }
    const QString preset = word.isEmpty() ? QString() : quoted(word);
    pairs.prepend({key(), preset});
    document().setKeys(pairs, tr("preset"));
  }
};

class YesNoField : public ChoiceField {
 public:
  using ChoiceField::ChoiceField;

 protected:
  void take(const QString& word) override { document().setKey(key(), word); }
  void showValue(const QString& toml) override { show(toml); }
};

class PathField : public TextField {
 public:
  enum class Kind { file, files, folder };

  PathField(RecipeDocument& document, const QString& key, Kind kind, const QString& title,
            const QString& filter, const QString& empty)
      : TextField(document, key), kind_(kind), list_(kind == Kind::files) {
    line()->setPlaceholderText(empty);
    QAction* browse =
        line()->addAction(icon(QStringLiteral("open"), Tone::muted), QLineEdit::TrailingPosition);
    browse->setToolTip(title);
    connect(browse, &QAction::triggered, this, [this, title, filter] { choose(title, filter); });
    connect(line(), &QLineEdit::textEdited, this, &PathField::take);
  }

 protected:
  void showValue(const QString& toml) override {
    const QString text = list_ ? joined(toml) : unquoted(toml);
    line()->setToolTip(text);
    if (line()->hasFocus() && split(line()->text()) == split(text)) return;
    if (line()->text() != text) line()->setText(text);
  }

 private:
  static QString joined(const QString& toml) {
    QStringList paths;
    for (const QJsonValue path : QJsonDocument::fromJson(toml.toUtf8()).array()) {
      paths << path.toString();
    }
    return paths.join(QStringLiteral("; "));
  }

  static QStringList split(const QString& text) {
    QStringList paths;
    for (const QString& path : text.split(QChar(';'))) {
      if (!path.trimmed().isEmpty()) paths << path.trimmed();
    }
    return paths;
  }

  void take(const QString& text) {
    if (!list_) return document().setKey(key(), quoted(text));
    QStringList paths;
    for (const QString& path : split(text)) paths << quoted(path);
    document().setKey(key(), QStringLiteral("[%1]").arg(paths.join(QStringLiteral(", "))));
  }

  void choose(const QString& title, const QString& filter) {
    const QString folder = document().file().isEmpty()
                               ? QDir::homePath()
                               : QFileInfo(document().file()).absolutePath();
    const QString first = split(line()->text()).value(0);
    const QString start = first.isEmpty() ? folder : QDir(folder).absoluteFilePath(first);
    const QString chosen = kind_ == Kind::folder
                               ? QFileDialog::getExistingDirectory(line(), title, start)
                               : QFileDialog::getOpenFileName(line(), title, start, filter);
    if (chosen.isEmpty()) return;
    line()->setText(chosen);
    take(chosen);
    document().endEdit();
  }

  Kind kind_;
  bool list_;
};

}  // namespace

KeyField::KeyField(RecipeDocument& document, QString key, QWidget* editor)
    : QObject(editor), document_(document), key_(std::move(key)), editor_(editor) {
  editor_->setObjectName(key_);
}

void KeyField::refresh() {
  if (document_.isReadable()) {
    // What could not be taken goes when the key gets another value, as by undo.
    const QString value = document_.value(key_);
    if (value != valueAtFault_) ownFault_.clear();
    if (ownFault_.isEmpty()) showValue(value);
  }
  const QString found = fault();
  editor_->setToolTip(found.isEmpty() ? key_ : found);
  if (editor_->property("invalid").toBool() == !found.isEmpty()) return;
  editor_->setProperty("invalid", !found.isEmpty());
  editor_->style()->unpolish(editor_);
  editor_->style()->polish(editor_);
}

QString KeyField::fault() const {
  if (!ownFault_.isEmpty()) return ownFault_;
  const std::string key = key_.toStdString();
  for (const recipe::Fault& fault : document_.faults()) {
    if (fault.key != key) continue;
    const QString what = QString::fromStdString(fault.what);
    return fault.valid.empty() ? what
                               : tr("%1; valid: %2").arg(what, QString::fromStdString(fault.valid));
  }
  return {};
}

void KeyField::setOwnFault(const QString& fault) {
  if (ownFault_ == fault) return;
  ownFault_ = fault;
  valueAtFault_ = document_.value(key_);
  Q_EMIT document_.changed();
}

KeyField* integerField(RecipeDocument& document, const QString& key, int lowest,
                       const QString& special) {
  return new IntegerField(document, key, lowest, special);
}

KeyField* numberField(RecipeDocument& document, const QString& key) {
  return new NumberField(document, key);
}

KeyField* choiceField(RecipeDocument& document, const QString& key, const QStringList& words,
                      const QStringList& labels) {
  return new ChoiceField(document, key, words, labels);
}

KeyField* presetField(RecipeDocument& document) {
  QStringList words = {QString()};
  QStringList labels = {QObject::tr("own numbers")};
  for (const std::string& name : recipe::preset_names()) {
    words << QString::fromStdString(name);
    labels << QString::fromStdString(name);
  }
  return new PresetField(document, QStringLiteral("model.preset"), words, labels);
}

KeyField* yesNoField(RecipeDocument& document, const QString& key, const QString& yes,
                     const QString& no) {
  return new YesNoField(document, key, {QStringLiteral("true"), QStringLiteral("false")},
                        {yes, no});
}

KeyField* fileField(RecipeDocument& document, const QString& key, const QString& dialogTitle,
                    const QString& filter, const QString& empty) {
  return new PathField(document, key, PathField::Kind::file, dialogTitle, filter, empty);
}

KeyField* filesField(RecipeDocument& document, const QString& key, const QString& dialogTitle,
                     const QString& filter, const QString& empty) {
  return new PathField(document, key, PathField::Kind::files, dialogTitle, filter, empty);
}

KeyField* folderField(RecipeDocument& document, const QString& key, const QString& dialogTitle,
                      const QString& empty) {
  return new PathField(document, key, PathField::Kind::folder, dialogTitle, {}, empty);
}

void FieldFilter::install(QWidget* widget) {
  auto* filter = new FieldFilter(widget);
  widget->installEventFilter(filter);
  for (QWidget* inner : widget->findChildren<QWidget*>()) inner->installEventFilter(filter);
}

bool FieldFilter::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
      event->ignore();
      return true;
    }
  }
  if (event->type() == QEvent::Wheel) {
    const auto* widget = static_cast<QWidget*>(watched);
    const bool focused =
        widget->hasFocus() || (widget->focusProxy() && widget->focusProxy()->hasFocus());
    if (!focused && qobject_cast<const QLineEdit*>(widget) == nullptr) {
      event->ignore();
      return true;
    }
  }
  return false;
}

}  // namespace heddle::gui
