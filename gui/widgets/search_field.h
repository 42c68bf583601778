// A line edit with a symbol at the left and a clear button.
#pragma once

#include <QLineEdit>

namespace heddle::gui {

class SearchField : public QLineEdit {
  Q_OBJECT

 public:
  explicit SearchField(const QString& placeholder,
                       const QString& iconName = QStringLiteral("search"),
                       QWidget* parent = nullptr);
};

}  // namespace heddle::gui
