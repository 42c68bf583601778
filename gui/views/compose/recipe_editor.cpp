#include "gui/views/compose/recipe_editor.h"

#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolTip>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/changed_lines.h"
#include "gui/views/compose/key_field.h"
#include "gui/views/compose/recipe_completer.h"
#include "gui/views/compose/toml_highlighter.h"

namespace heddle::gui {
namespace {

constexpr int kLinesAround = 3;  // lines that are shown above an edit

/// "unknown key (did you mean steps)": there is no room for what would be valid.
QString shortWords(const recipe::Fault& fault) {
  const QString what = QString::fromStdString(fault.what);
  return fault.suggestion.empty() ? what
                                  : QObject::tr("%1 (did you mean %2)")
                                        .arg(what, QString::fromStdString(fault.suggestion));
}

}  // namespace

/// The column of line numbers.
class Gutter : public QWidget {
 public:
  explicit Gutter(RecipeEditor* editor) : QWidget(editor), editor_(editor) {}
  QSize sizeHint() const override { return {editor_->gutterWidth(), 0}; }

 protected:
  void paintEvent(QPaintEvent* event) override { editor_->paintGutter(event); }

 private:
  RecipeEditor* editor_;
};

RecipeEditor::RecipeEditor(RecipeDocument& document, QWidget* parent)
    : QPlainTextEdit(parent), recipe_(document), gutter_(new Gutter(this)) {
  setObjectName(QStringLiteral("recipeText"));
  setAccessibleName(tr("Recipe text"));
  setProperty("role", "code");
  setFont(font::mono());
  setLineWrapMode(NoWrap);
  setUndoRedoEnabled(false);
  setTabChangesFocus(true);  // the keyboard gets out again
  setFrameShape(NoFrame);
  new TomlHighlighter(QPlainTextEdit::document());
  FieldFilter::install(this);
  completer_ = new RecipeCompleter(recipe_, this);
  connect(this, &QPlainTextEdit::textChanged, this, &RecipeEditor::takeText);
  connect(this, &QPlainTextEdit::updateRequest, gutter_, [this](const QRect& rect, int dy) {
    if (dy != 0) {
      gutter_->scroll(0, dy);
    } else {
      gutter_->update(0, rect.y(), gutter_->width(), rect.height());
    }
  });
  connect(this, &QPlainTextEdit::cursorPositionChanged, gutter_, qOverload<>(&QWidget::update));
  connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
    if (marked_.isEmpty() || marked_.contains(textCursor().blockNumber())) return;
    marked_.clear();
    markLines();
  });
  connect(this, &QPlainTextEdit::blockCountChanged, this,
          [this] { setViewportMargins(gutterWidth(), 8, 0, 0); });
  connect(&recipe_, &RecipeDocument::changed, this, &RecipeEditor::showText);
  connect(&recipe_, &RecipeDocument::loaded, this, &RecipeEditor::begin);
  connect(&Theme::instance(), &Theme::changed, this, &RecipeEditor::markLines);
  showText();
  begin();
  setViewportMargins(gutterWidth(), 8, 0, 0);
}

void RecipeEditor::begin() {
  marked_.clear();
  moveCursor(QTextCursor::Start);
  verticalScrollBar()->setValue(0);
  markLines();
}

int RecipeEditor::gutterWidth() const {
  const int digits = std::max(2, static_cast<int>(QString::number(blockCount()).size()));
  return 32 + digits * fontMetrics().horizontalAdvance(QChar('0'));
}

void RecipeEditor::takeText() {
  marked_.clear();
  recipe_.setText(toPlainText());
}

void RecipeEditor::showText() {
  const QString now = toPlainText();
  const QString& wanted = recipe_.text();
  if (now != wanted) {
    // Replaces only the difference: cursor, selection and scroll position stay.
    const qsizetype shorter = std::min(now.size(), wanted.size());
    qsizetype from = 0;
    while (from < shorter && now[from] == wanted[from]) ++from;
    qsizetype same = 0;
    while (same < shorter - from &&
           now[now.size() - 1 - same] == wanted[wanted.size() - 1 - same]) {
      ++same;
    }
    const QSignalBlocker quiet(this);
    QTextCursor cursor(QPlainTextEdit::document());
    cursor.setPosition(static_cast<int>(from));
    cursor.setPosition(static_cast<int>(now.size() - same), QTextCursor::KeepAnchor);
    cursor.insertText(wanted.mid(from, wanted.size() - same - from));
    setViewportMargins(gutterWidth(), 8, 0, 0);
    follow(now, wanted);
  }
  markLines();
}

void RecipeEditor::follow(const QString& before, const QString& after) {
  const ChangedLines changed = changedLines(before, after);
  marked_ = changed.lines;
  // QPlainTextEdit scrolls by lines.
  QScrollBar* bar = verticalScrollBar();
  const int seen = bar->pageStep();
  const int last = changed.lines.isEmpty() ? changed.at : changed.lines.last();
  const int around = std::min(kLinesAround, seen / 4);
  if (changed.at < bar->value() || last >= bar->value() + seen)
    bar->setValue(last - changed.at < seen - around ? changed.at - around : changed.at);
}

void RecipeEditor::markLines() {
  QList<QTextEdit::ExtraSelection> marks;
  const auto markLine = [&](int number, const QColor& color) {
    const QTextBlock block = QPlainTextEdit::document()->findBlockByNumber(number);
    if (number < 0 || !block.isValid()) return;
    QTextEdit::ExtraSelection line;
    line.cursor = QTextCursor(block);
    line.format.setBackground(blend(colors().window, color, 0.12));
    line.format.setProperty(QTextFormat::FullWidthSelection, true);
    marks.append(line);
  };
  const auto mark = [&](const std::vector<recipe::Fault>& faults, const QColor& color) {
    for (const recipe::Fault& fault : faults)
      if (!recipe_.isOpen(fault)) markLine(fault.line - 1, color);
  };
  for (const int line : marked_) markLine(line, colors().accent);
  mark(recipe_.unsupported(), colors().warn);
  mark(recipe_.faults(), colors().bad);
  setExtraSelections(marks);
  gutter_->update();
  viewport()->update();
}

const recipe::Fault* RecipeEditor::faultAt(int line) const {
  for (const auto* faults : {&recipe_.faults(), &recipe_.unsupported()}) {
    const auto found = std::ranges::find_if(*faults, [&](const recipe::Fault& fault) {
      return fault.line == line && !recipe_.isOpen(fault);
    });
    if (found != faults->end()) return &*found;
  }
  return nullptr;
}

bool RecipeEditor::isWarning(int line) const {
  return std::ranges::find(recipe_.faults(), line, &recipe::Fault::line) == recipe_.faults().end();
}

void RecipeEditor::goTo(int line, int column) {
  const QTextBlock block = QPlainTextEdit::document()->findBlockByNumber(std::max(line, 1) - 1);
  if (block.isValid()) {
    QTextCursor cursor(block);
    cursor.setPosition(block.position() + std::clamp(column - 1, 0, block.length() - 1));
    marked_ = {block.blockNumber()};
    setTextCursor(cursor);
    centerCursor();
    markLines();
  }
  setFocus();
}

void RecipeEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  gutter_->setGeometry(0, 0, gutterWidth(), height());
}

void RecipeEditor::paintEvent(QPaintEvent* event) {
  QPlainTextEdit::paintEvent(event);
  // After each faulty line its fault, as far as there is room.
  QPainter painter(viewport());
  const QFont small = font::text(11);
  painter.setFont(small);
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF box = blockBoundingGeometry(block).translated(contentOffset());
    if (box.top() > event->rect().bottom()) break;
    const int line = block.blockNumber() + 1;
    const recipe::Fault* fault = faultAt(line);
    if (fault == nullptr) continue;
    const double text = fontMetrics().horizontalAdvance(block.text()) + contentOffset().x();
    const QRectF room(text + 20, box.top(), viewport()->width() - text - 28, box.height());
    if (room.width() < 60) continue;
    painter.setPen(isWarning(line) ? colors().warnText : colors().badText);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetrics(small).elidedText(shortWords(*fault), Qt::ElideRight,
                                                    static_cast<int>(room.width())));
  }
}

void RecipeEditor::paintGutter(QPaintEvent* event) {
  QPainter painter(gutter_);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font());
  const int current = textCursor().blockNumber();
  const double top = viewport()->y();
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF box = blockBoundingGeometry(block).translated(contentOffset()).translated(0, top);
    if (box.top() > event->rect().bottom()) break;
    const int line = block.blockNumber() + 1;
    painter.setPen(block.blockNumber() == current ? colors().text : colors().muted);
    painter.drawText(QRectF(0, box.top(), gutter_->width() - 14, box.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
    const bool faulty = faultAt(line) != nullptr;
    if (!faulty && !marked_.contains(block.blockNumber())) continue;
    painter.setPen(Qt::NoPen);
    painter.setBrush(!faulty ? colors().accent : isWarning(line) ? colors().warn : colors().bad);
    painter.drawRect(QRectF(0, box.top(), 3, box.height()));
  }
}

/// The line's fault, and the help on the key under the pointer.
QString RecipeEditor::tipAt(const QPoint& position) const {
  const QTextCursor cursor = cursorForPosition(position);
  QStringList parts;
  if (const recipe::Fault* fault = faultAt(cursor.blockNumber() + 1))
    parts << format::inLines(QString::fromStdString(fault->str()));
  QTextCursor end = cursor;
  end.movePosition(QTextCursor::EndOfBlock);
  if (position.x() <= cursorRect(end).right())
    if (const QString help = completer_->helpAt(cursor.position()); !help.isEmpty()) parts << help;
  return parts.join(QStringLiteral("\n\n"));
}

bool RecipeEditor::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tipAt(viewport()->mapFrom(this, help->pos())), this);
    return true;
  }
  return QPlainTextEdit::event(event);
}

}  // namespace heddle::gui
