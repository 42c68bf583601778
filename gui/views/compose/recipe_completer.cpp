#include "gui/views/compose/recipe_completer.h"

#include <QTextBlock>
#include <QToolTip>
#include <utility>

#include "gui/format.h"
#include "gui/views/compose/field_kinds.h"
#include "gui/views/compose/help_key.h"

namespace heddle::gui {
namespace {

using Expects = recipe::Completion::Expects;

QString textOf(const std::string& text) { return QString::fromStdString(text); }

/// The catalogue's names for hardware.name.
const std::vector<recipe::Candidate>& hardwareNames() {
  static const std::vector<recipe::Candidate> all = [] {
    std::vector<recipe::Candidate> names = {
        {hardware::kThisMachine, QObject::tr("this machine, as it was calibrated").toStdString()}};
    for (const auto& [name, node] : catalogue().nodes) names.push_back({name, node.title});
    return names;
  }();
  return all;
}

/// A candidate without the signs that TOML has around it.
QString bareWord(const std::string& text) {
  return textOf(text)
      .remove(QChar('"'))
      .remove(QChar('['))
      .remove(QChar(']'))
      .section(QStringLiteral(" ="), 0, 0);
}

}  // namespace

RecipeCompleter::RecipeCompleter(RecipeDocument& document, QPlainTextEdit* editor)
    : QObject(editor),
      recipe_(document),
      editor_(editor),
      popup_(new CompletionPopup(editor, CompletionPopup::Enter::takesFirst)) {
  popup_->list()->setObjectName(QStringLiteral("recipeCompletion"));
  editor_->installEventFilter(this);
  connect(editor_->document(), &QTextDocument::contentsChange, this,
          [this](int, int, int added) { added_ = added; });
  connect(editor_, &QPlainTextEdit::textChanged, this, [this] {
    QToolTip::hideText();
    if (!taking_ && (added_ == 1 || popup_->isVisible())) offer(Asked::byTyping);
  });
  connect(editor_, &QPlainTextEdit::cursorPositionChanged, this, [this] {
    if (editor_->textCursor().position() != offered_) popup_->hide();
  });
  connect(popup_, &CompletionPopup::wanted, this, [this] { offer(Asked::byKey); });
  connect(popup_, &CompletionPopup::taken, this, &RecipeCompleter::take);
}

void RecipeCompleter::offer(Asked asked) {
  const QString text = editor_->toPlainText();
  offered_ = editor_->textCursor().position();
  const auto cursor = static_cast<size_t>(text.left(offered_).toUtf8().size());
  completion_ = recipe::complete(text.toStdString(), cursor, hardwareNames());
  auto& candidates = completion_.candidates;
  if (asked == Asked::byTyping) {
    // Numbers and keys that nobody began to type would be in the way of Enter.
    const bool begun = completion_.expects == Expects::value ? completion_.enumerated
                                                             : completion_.piece.length > 0;
    const bool whole =
        !candidates.empty() && bareWord(candidates.front().text) == textOf(completion_.typed);
    if (!begun || whole) candidates.clear();
  }
  QList<Suggestion> suggestions;
  for (const recipe::Candidate& one : candidates) {
    const QString shown = textOf(one.text).section(QStringLiteral(" ="), 0, 0);
    suggestions << Suggestion{shown, textOf(one.detail),
                              one.info == nullptr ? QString() : wordsOf(*one.info)};
  }
  const int begin = static_cast<int>(
      QString::fromUtf8(text.toUtf8().left(static_cast<qsizetype>(completion_.piece.at))).size());
  QTextCursor piece(editor_->document());
  piece.setPosition(begin);
  popup_->offer(suggestions, editor_->cursorRect(piece).translated(editor_->viewport()->pos()));
}

void RecipeCompleter::take(int index) {
  const recipe::Candidate chosen = completion_.candidates[static_cast<size_t>(index)];
  const QByteArray text = editor_->toPlainText().toUtf8();
  const auto placeOf = [&](size_t byte) {
    return static_cast<int>(QString::fromUtf8(text.left(static_cast<qsizetype>(byte))).size());
  };
  QTextCursor cursor(editor_->document());
  cursor.setPosition(placeOf(completion_.piece.at));
  cursor.setPosition(placeOf(completion_.piece.end()), QTextCursor::KeepAnchor);
  popup_->hide();
  taking_ = true;
  recipe_.endEdit();
  cursor.insertText(textOf(chosen.text));
  recipe_.endEdit();
  taking_ = false;
  editor_->setTextCursor(cursor);
  if (chosen.text.ends_with("= ")) offer(Asked::byTyping);
}

QString RecipeCompleter::helpAt(int position) const {
  const QString text = editor_->toPlainText();
  const auto place = static_cast<size_t>(text.left(position).toUtf8().size());
  const recipe::KeyInfo* info = recipe::key_at(text.toStdString(), place);
  return info == nullptr ? QString() : helpOf(*info);
}

void RecipeCompleter::showHelp() {
  const QRect at = editor_->cursorRect();
  QToolTip::showText(editor_->viewport()->mapToGlobal(at.bottomLeft()),
                     helpAt(editor_->textCursor().position()), editor_);
}

bool RecipeCompleter::eventFilter(QObject*, QEvent* event) {
  const bool override = event->type() == QEvent::ShortcutOverride;
  if (!override && event->type() != QEvent::KeyPress) return false;
  if (!isHelpOnKey(*static_cast<QKeyEvent*>(event))) return false;
  if (helpAt(editor_->textCursor().position()).isEmpty()) return false;
  if (override)
    event->accept();
  else
    showHelp();
  return true;
}

}  // namespace heddle::gui
