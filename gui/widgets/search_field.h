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

  /// Underlines a place of the text that is wrong; length 0: none is.
  void mark(qsizetype at, qsizetype length);
};

}  // namespace heddle::gui
