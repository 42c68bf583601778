#include "gui/widgets/search_field.h"

#include <QCoreApplication>
#include <QInputMethodEvent>
#include <QTextCharFormat>

#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

SearchField::SearchField(const QString& placeholder, const QString& iconName, QWidget* parent)
    : QLineEdit(parent) {
  setPlaceholderText(placeholder);
  setAccessibleName(placeholder);
  addAction(icon(iconName, Tone::muted), QLineEdit::LeadingPosition);
  setClearButtonEnabled(true);
}

// A line edit takes formats from an input method alone.
void SearchField::mark(qsizetype at, qsizetype length) {
  QList<QInputMethodEvent::Attribute> attributes;
  if (length > 0) {
    QTextCharFormat format;
    format.setUnderlineStyle(QTextCharFormat::SpellCheckUnderline);
    format.setUnderlineColor(colors().bad);
    format.setForeground(colors().badText);
    attributes << QInputMethodEvent::Attribute(QInputMethodEvent::TextFormat,
                                               static_cast<int>(at) - cursorPosition(),
                                               static_cast<int>(length), format);
  }
  QInputMethodEvent event({}, attributes);
  QCoreApplication::sendEvent(this, &event);
}

}  // namespace heddle::gui
