// Colours of TOML in the editor.
#pragma once

#include <QSyntaxHighlighter>

namespace heddle::gui {

class TomlHighlighter : public QSyntaxHighlighter {
  Q_OBJECT

 public:
  explicit TomlHighlighter(QTextDocument* document);

 protected:
  void highlightBlock(const QString& text) override;
};

}  // namespace heddle::gui
