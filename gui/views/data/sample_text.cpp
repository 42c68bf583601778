#include "gui/views/data/sample_text.h"

#include <QRegularExpression>
#include <QSyntaxHighlighter>
#include <QTextBlock>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

/// Colours special tokens. Their brackets have another format, so that the font draws "<|" as two
/// characters and not as one sign.
class SpecialTokens : public QSyntaxHighlighter {
 public:
  using QSyntaxHighlighter::QSyntaxHighlighter;

 protected:
  void highlightBlock(const QString& text) override {
    static const QRegularExpression token(QStringLiteral(R"(<(\|[^|<>\s]+\|)>)"));
    QTextCharFormat bracket, name;
    bracket.setForeground(colors().muted);
    name.setForeground(colors().accentText);
    for (auto found = token.globalMatch(text); found.hasNext();) {
      const QRegularExpressionMatch match = found.next();
      setFormat(static_cast<int>(match.capturedStart()), static_cast<int>(match.capturedLength()),
                bracket);
      setFormat(static_cast<int>(match.capturedStart(1)), static_cast<int>(match.capturedLength(1)),
                name);
    }
  }
};

}  // namespace

SampleText::SampleText(QWidget* parent) : QPlainTextEdit(parent) {
  setProperty("role", "code");
  setReadOnly(true);
  setUndoRedoEnabled(false);
  setAccessibleName(tr("A sample as the model sees it"));
  new FocusLine(this);
  auto* tokens = new SpecialTokens(document());
  connect(&Theme::instance(), &Theme::changed, tokens, &QSyntaxHighlighter::rehighlight);
  connect(&Theme::instance(), &Theme::changed, this, &SampleText::paintMarks);
}

void SampleText::setSample(const data::DescribedSample& sample) {
  QStringList lines;
  marks_.clear();
  for (const std::string& document : sample.documents) {
    if (&document != &sample.documents.front()) {
      marks_ << static_cast<int>(lines.size());
      lines << tr("▸ another document begins");
    }
    QString text = QString::fromStdString(document);
    // Two line ends that Qt knows and the text's lines are not counted by.
    text.replace(QChar::ParagraphSeparator, QChar(' ')).replace(QChar::LineSeparator, QChar(' '));
    text.remove(QChar('\r'));
    lines += text.split(QChar('\n'));
  }
  if (!sample.whole)
    lines << tr("… more: the sample has %1 tokens").arg(format::count(sample.tokens));
  setPlainText(lines.join(QChar('\n')));
  paintMarks();
}

void SampleText::paintMarks() {
  QList<QTextEdit::ExtraSelection> selections;
  for (const int mark : marks_) {
    QTextEdit::ExtraSelection selection;
    selection.cursor = QTextCursor(document()->findBlockByNumber(mark));
    selection.cursor.select(QTextCursor::BlockUnderCursor);
    selection.format.setForeground(colors().accentText);
    selection.format.setBackground(blend(colors().surface, colors().accent, 0.14));
    selection.format.setProperty(QTextFormat::FullWidthSelection, true);
    selections << selection;
  }
  setExtraSelections(selections);
}

}  // namespace heddle::gui
