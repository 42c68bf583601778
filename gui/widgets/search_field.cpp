#include "gui/widgets/search_field.h"

#include "gui/theme/icons.h"

namespace heddle::gui {

SearchField::SearchField(const QString& placeholder, const QString& iconName, QWidget* parent)
    : QLineEdit(parent) {
  setPlaceholderText(placeholder);
  setAccessibleName(placeholder);
  addAction(icon(iconName, Tone::muted), QLineEdit::LeadingPosition);
  setClearButtonEnabled(true);
}

}  // namespace heddle::gui
