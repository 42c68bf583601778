#include "gui/views/live/log_card.h"

#include <QActionGroup>
#include <QDateTime>
#include <QMenu>
#include <QScrollBar>
#include <QTextBlockFormat>
#include <QTextCursor>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

constexpr int kHanging = 12;  // how far a line's second row is in: the card may be narrow

QTextBlockFormat blockFormat(telemetry::Level level) {
  const Colors& c = colors();
  QTextBlockFormat format;
  format.setLeftMargin(kHanging);
  format.setTextIndent(-kHanging);
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
  addStepMenu();
  wide_ = iconButton(QStringLiteral("expand"), tr("Show the log in place of the timeline"));
  wide_->setObjectName(QStringLiteral("wideLog"));
  wide_->setCheckable(true);
  connect(wide_, &QToolButton::toggled, this, [this](bool wide) {
    Q_EMIT wideWanted(wide);
    rebuild();
  });
  addControl(wide_);
  view_ = new QTextBrowser;
  view_->setOpenLinks(false);
  new FocusLine(view_);
  view_->setUndoRedoEnabled(false);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setStyleSheet(QStringLiteral("QTextBrowser { border: none; background: transparent; }"));
  view_->setFont(font::mono(11));
  view_->document()->setMaximumBlockCount(kShown);
  view_->document()->setDocumentMargin(0);
  view_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view_->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  view_->setAccessibleName(tr("Log"));
  view_->setPlaceholderText(tr("No rank has written a line yet"));
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

  connect(level_, &Segment::currentChanged, this, [this] {
    follows_ = true;
    rebuild();
  });
  connect(view_, &QTextBrowser::anchorClicked, this, [this](const QUrl& line) {
    lines_.toggle(line.toString().toLongLong());
    rebuild();
  });
  connect(jump_, &QPushButton::clicked, this, &LogCard::toEnd);
  connect(view_->verticalScrollBar(), &QScrollBar::valueChanged, this, &LogCard::scrolled);
  connect(view_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this] {
    if (follows_) toEnd();
  });
  connect(&Theme::instance(), &Theme::changed, this, &LogCard::rebuild);
  showCounts();
}

void LogCard::addStepMenu() {
  steps_ = iconButton(QStringLiteral("columns"), tr("Step lines"));
  steps_->setObjectName(QStringLiteral("stepLines"));
  steps_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(steps_);
  auto* group = new QActionGroup(menu);
  for (const auto& [text, every] : {std::pair(tr("No step lines"), 0),
                                    {tr("Every step"), 1},
                                    {tr("Every 10th step"), 10},
                                    {tr("Every 100th step"), 100}}) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(every == everyStep_);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, every = every] {
      everyStep_ = every;
      rebuild();
    });
  }
  steps_->setMenu(menu);
  addControl(steps_);
}

LogLines::Filter LogCard::filter() const {
  return {level_->current() == 1, everyStep_, wide_->isChecked()};
}

void LogCard::clear() {
  lines_.clear();
  follows_ = true;
  view_->clear();
  showCounts();
}

void LogCard::append(const std::vector<storage::LogLine>& lines,
                     const std::vector<StepPoint>& steps) {
  if (lines.empty() && steps.empty()) return;
  if (!lines_.add(lines, steps)) return rebuild();
  const int kept = view_->verticalScrollBar()->value();
  const bool follows = follows_;
  view_->setUpdatesEnabled(false);
  for (const LogLines::Shown& line : lines_.added(filter())) insert(line);
  view_->setUpdatesEnabled(true);
  follows_ = follows;
  if (follows_) {
    toEnd();
  } else {
    view_->verticalScrollBar()->setValue(kept);
  }
  showCounts();
}

void LogCard::insert(const LogLines::Shown& line) {
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
  cursor.insertText(time.toString(QStringLiteral("HH:mm:ss ")) + origin(line.rank), digits);
  QTextCharFormat words;
  words.setFont(font::text(12));  // more of it in a row than in mono
  words.setForeground(line.id == 0 ? colors().muted : textColor(line.level));
  cursor.insertText(QString(line.text).replace(QLatin1Char('\n'), QChar::LineSeparator), words);
  if (!line.folds) return;
  QTextCharFormat link = digits;
  link.setForeground(colors().accent);
  link.setAnchor(true);
  link.setAnchorHref(QString::number(line.id));
  cursor.insertText(QStringLiteral(" "), words);
  cursor.insertText(lines_.isUnfolded(line.id) ? tr("less") : tr("… more"), link);
}

void LogCard::rebuild() {
  const int kept = view_->verticalScrollBar()->value();
  const bool follows = follows_;
  view_->setUpdatesEnabled(false);
  view_->clear();
  for (const LogLines::Shown& line : lines_.last(filter(), kShown)) insert(line);
  view_->setUpdatesEnabled(true);
  follows_ = follows;
  if (follows_) {
    toEnd();
  } else {
    view_->verticalScrollBar()->setValue(kept);
  }
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
  const auto warnings = static_cast<qint64>(lines_.warnings());
  level_->setText(1,
                  warnings == 0 ? tr("warnings") : tr("warnings %1").arg(format::count(warnings)));
  state_->setText(follows_ ? tr("following the end") : tr("scrolled back:"));
  jump_->setVisible(!follows_);
  const auto count = static_cast<qint64>(lines_.size());
  count_->setText(count > kShown
                      ? tr("last %1 of %2").arg(format::count(kShown), format::count(count))
                      : format::plural(count, tr("line")));
}

}  // namespace heddle::gui
