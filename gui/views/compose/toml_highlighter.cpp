#include "gui/views/compose/toml_highlighter.h"

#include <QRegularExpression>

#include "gui/theme/theme.h"

namespace heddle::gui {

TomlHighlighter::TomlHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) {
  connect(&Theme::instance(), &Theme::changed, this, &TomlHighlighter::rehighlight);
}

void TomlHighlighter::highlightBlock(const QString& text) {
  // One token after the other: a comment ends the line, a # within a string does not begin one.
  static const QRegularExpression token(
      QStringLiteral("(?<comment>#.*)|(?<string>\"(?:[^\"\\\\]|\\\\.)*\"?|'[^']*'?)"
                     "|(?<header>^\\s*\\[\\[?[^\\]=]*\\]\\]?(?=\\s*(?:#|$)))"
                     "|(?<key>[A-Za-z0-9_.-]+(?=\\s*=))|(?<flag>\\b(?:true|false)\\b)"
                     "|(?<number>[+-]?\\b[0-9][0-9_.eE+-]*\\b)"));
  const Colors& c = colors();
  auto matches = token.globalMatch(text);
  while (matches.hasNext()) {
    const QRegularExpressionMatch match = matches.next();
    const auto paint = [&](const char* group, const QColor& color, QFont::Weight weight) {
      const QString name = QString::fromLatin1(group);
      if (match.capturedLength(name) == 0) return;
      QTextCharFormat format;
      format.setForeground(color);
      format.setFontWeight(weight);
      setFormat(static_cast<int>(match.capturedStart(name)),
                static_cast<int>(match.capturedLength(name)), format);
    };
    paint("comment", c.muted, QFont::Normal);
    paint("string", c.goodText, QFont::Normal);
    paint("header", c.text, QFont::DemiBold);
    paint("key", c.text, QFont::Normal);
    paint("flag", c.accentText, QFont::Normal);
    paint("number", c.warnText, QFont::Normal);
  }
}

}  // namespace heddle::gui
