#include "gui/views/compose/key_field.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QStyle>

#include "gui/format.h"
#include "gui/views/compose/bucket_edits.h"
#include "gui/views/compose/field_kinds.h"

namespace heddle::gui {

KeyField::KeyField(RecipeDocument& document, const recipe::KeyInfo& info, QWidget* editor)
    : QObject(editor),
      document_(document),
      info_(info),
      key_(QString::fromStdString(info.key)),
      editor_(editor) {
  editor_->setObjectName(key_);
  editor_->setAccessibleName(QString::fromStdString(info.label));
  FieldFilter::install(editor_);
}

void KeyField::take(const QString& toml) {
  if (!document_.isWritten(key_) && document_.value(key_) == toml) return;
  document_.setKeys(pairsFor(toml), key_.section(QChar('.'), 1));
}

KeyValues KeyField::pairsFor(const QString& toml) const {
  return withBuckets(document_, {{key_, toml}});
}

void KeyField::refresh() {
  if (document_.isReadable()) {
    // Rejected text goes when the key gets another value, as by undo.
    const QString value = document_.value(key_);
    if (value != valueAtFault_) ownFault_.clear();
    if (ownFault_.isEmpty()) showValue(value);
  }
  const QString found = fault();
  const bool invalid = !found.isEmpty() && !isOpen();
  // A path is longer than its field.
  const QString path = info_.files.empty() ? QString() : document_.value(key_);
  const QString tip = !found.isEmpty()  ? QString()
                      : path.size() > 2 ? path + QStringLiteral("\n\n") + helpOf(info_)
                                        : helpOf(info_);
  if (editor_->toolTip() != tip) editor_->setToolTip(tip);
  if (editor_->property("invalid").toBool() == invalid) return;
  editor_->setProperty("invalid", invalid);
  editor_->style()->unpolish(editor_);
  editor_->style()->polish(editor_);
}

QString KeyField::fault() const {
  if (!ownFault_.isEmpty()) return ownFault_;
  const recipe::Fault* fault = document_.faultOf(key_);
  if (fault == nullptr) return {};
  const QString what = QString::fromStdString(fault->what);
  return fault->valid.empty() ? what
                              : tr("%1; valid: %2").arg(what, QString::fromStdString(fault->valid));
}

bool KeyField::isOpen() const {
  const recipe::Fault* fault = ownFault_.isEmpty() ? document_.faultOf(key_) : nullptr;
  return fault != nullptr && document_.isOpen(*fault);
}

std::vector<recipe::Offer> KeyField::offers() const {
  return ownFault_.isEmpty() ? document_.offers(key_) : std::vector<recipe::Offer>();
}

void KeyField::setOwnFault(const QString& fault) {
  if (ownFault_ == fault) return;
  ownFault_ = fault;
  valueAtFault_ = document_.value(key_);
  Q_EMIT document_.changed();
}

KeyField* fieldFor(RecipeDocument& document, const recipe::KeyInfo& info) {
  if (info.key == "model.preset") return presetField(document, info);
  if (info.key == "model.rope_scaling") return ropeScalingField(document, info);
  if (info.key == "hardware.name") return hardwareField(document, info);
  if (info.key == "wrapping.reshard_after_forward") return reshardField(document, info);
  if (info.key == "wrapping.memory_limit") return sizeField(document, info);
  if (info.key == "precision.float8_except") return namesField(document, info);
  if (!info.choices.empty()) return choiceField(document, info);
  if (!info.files.empty()) return pathField(document, info);
  if (info.type == "integer") return integerField(document, info);
  if (info.type == "number") return realField(document, info);
  if (info.type == "list") return listField(document, info);
  return textField(document, info);
}

QString wordsOf(const recipe::KeyInfo& info) {
  const auto text = [](const std::string& words) { return QString::fromStdString(words); };
  QString words = text(info.key);
  const bool isPart = info.unit.starts_with("of ");
  if (!info.unit.empty())
    words += (isPart ? QObject::tr(", a part %1") : QObject::tr(", in %1")).arg(text(info.unit));
  if (!info.valid.empty()) words += QObject::tr("; valid: %1").arg(text(info.valid));
  if (!info.fallback.empty()) words += QObject::tr("; default: %1").arg(text(info.fallback));
  return text(info.help) + QStringLiteral("\n\n") + words;
}

QString helpOf(const recipe::KeyInfo& info) {
  QStringList parts = wordsOf(info).split(QStringLiteral("\n\n"));
  for (QString& part : parts) part = format::inLines(part);
  return parts.join(QStringLiteral("\n\n"));
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
