#include "gui/views/live/log_card.h"

#include <QDateTime>
#include <QScrollBar>
#include <QTextBlockFormat>
#include <QTextCursor>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kTimeWidth = 62;

QTextBlockFormat blockFormat(telemetry::Level level) {
  const Colors& c = colors();
  QTextBlockFormat format;
  format.setLeftMargin(kTimeWidth);
  format.setTextIndent(-kTimeWidth);
  format.setTabPositions({QTextOption::Tab(kTimeWidth, QTextOption::LeftTab)});
  format.setTopMargin(2);
  format.setBottomMargin(2);
  format.setLineHeight(125, QTextBlockFormat::ProportionalHeight);
  if (level != telemetry::Level::info) {
    format.setBackground(
        blend(c.surface, level == telemetry::Level::warning ? c.warn : c.bad, 0.1));
  }
  return format;
}

QColor textColor(telemetry::Level level) {
  const Colors& c = colors();
  if (level == telemetry::Level::info) return c.text;
  return level == telemetry::Level::warning ? c.warnText : c.badText;
}

QString origin(int32_t rank) { return rank < 0 ? QString() : QStringLiteral("[%1] ").arg(rank); }

}  // namespace

LogCard::LogCard(QWidget* parent) : Card(tr("Log"), parent) {
  level_ = new Segment({tr("all"), tr("warnings")});
  addControl(level_);
  view_ = new QTextEdit;
  view_->setReadOnly(true);
  view_->setUndoRedoEnabled(false);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setStyleSheet(QStringLiteral("QTextEdit { border: none; background: transparent; }"));
  view_->setFont(font::mono(11));
  view_->document()->setMaximumBlockCount(kShown);
  view_->document()->setDocumentMargin(0);
  view_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view_->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  view_->setAccessibleName(tr("Log"));
  view_->setPlaceholderText(tr("The ranks have written no line yet"));
  setBodyMargins(16, 0, 0, 0);
  body()->setSpacing(0);
  body()->addWidget(view_, 1);

  auto* foot = new QWidget;
  foot->setFixedHeight(34);
  auto* row = new QHBoxLayout(foot);
  row->setContentsMargins(0, 0, 12, 0);
  state_ = caption({});
  jump_ = linkButton(tr("to the end"));
  count_ = caption({});
  row->addWidget(state_);
  row->addWidget(jump_);
  row->addStretch(1);
  row->addWidget(count_);
  body()->addWidget(foot);

  connect(level_, &Segment::currentChanged, this, &LogCard::rebuild);
  connect(jump_, &QPushButton::clicked, this, &LogCard::toEnd);
  connect(view_->verticalScrollBar(), &QScrollBar::valueChanged, this, &LogCard::scrolled);
  connect(view_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this] {
    if (follows_) toEnd();
  });
  connect(&Theme::instance(), &Theme::changed, this, &LogCard::rebuild);
  showCounts();
}

void LogCard::clear() {
  lines_.clear();
  warnings_ = 0;
  follows_ = true;
  view_->clear();
  showCounts();
}

void LogCard::append(const std::vector<storage::LogLine>& lines) {
  if (lines.empty()) return;
  const int kept = view_->verticalScrollBar()->value();
  const bool follows = follows_;
  view_->setUpdatesEnabled(false);
  for (const storage::LogLine& line : lines) {
    lines_.push_back(line);
    if (line.level != telemetry::Level::info) ++warnings_;
    if (accepts(line)) insert(line);
  }
  view_->setUpdatesEnabled(true);
  follows_ = follows;
  if (follows_) {
    toEnd();
  } else {
    view_->verticalScrollBar()->setValue(kept);
  }
  showCounts();
}

bool LogCard::accepts(const storage::LogLine& line) const {
  return level_->current() == 0 || line.level != telemetry::Level::info;
}

void LogCard::insert(const storage::LogLine& line) {
  QTextCursor cursor(view_->document());
  cursor.movePosition(QTextCursor::End);
  QTextCharFormat digits;
  digits.setFont(font::mono(11));
  digits.setForeground(colors().muted);
  const QTextBlockFormat block = blockFormat(line.level);
  if (view_->document()->isEmpty()) {
    cursor.setBlockFormat(block);
  } else {
    cursor.insertBlock(block);
  }
  const auto time = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(line.time * 1000));
  cursor.insertText(
      time.toString(QStringLiteral("HH:mm:ss")) + QLatin1Char('\t') + origin(line.rank), digits);
  QTextCharFormat words = digits;
  words.setForeground(textColor(line.level));
  cursor.insertText(
      QString::fromStdString(line.text).trimmed().replace(QLatin1Char('\n'), QChar::LineSeparator),
      words);
}

void LogCard::rebuild() {
  view_->setUpdatesEnabled(false);
  view_->clear();
  size_t accepted = 0;
  size_t first = lines_.size();
  while (first > 0 && accepted < kShown) accepted += accepts(lines_[--first]) ? 1 : 0;
  for (size_t i = first; i < lines_.size(); ++i) {
    if (accepts(lines_[i])) insert(lines_[i]);
  }
  view_->setUpdatesEnabled(true);
  toEnd();
  showCounts();
}

void LogCard::toEnd() {
  follows_ = true;
  view_->verticalScrollBar()->setValue(view_->verticalScrollBar()->maximum());
  showCounts();
}

void LogCard::scrolled(int value) {
  const bool atEnd = value >= view_->verticalScrollBar()->maximum() - 4;
  if (atEnd == follows_) return;
  follows_ = atEnd;
  showCounts();
}

void LogCard::showCounts() {
  level_->setText(1, warnings_ == 0
                         ? tr("warnings")
                         : tr("warnings %1").arg(format::count(static_cast<qint64>(warnings_))));
  state_->setText(follows_ ? tr("following the end") : tr("scrolled back:"));
  jump_->setVisible(!follows_);
  const auto count = static_cast<qint64>(lines_.size());
  count_->setText(count > kShown
                      ? tr("last %1 of %2").arg(format::count(kShown), format::count(count))
                      : format::plural(count, tr("line")));
}

}  // namespace heddle::gui
