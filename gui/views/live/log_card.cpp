#include "gui/views/live/log_card.h"

#include <QActionGroup>
#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QMenu>
#include <QScrollBar>
#include <QTextBlockFormat>
#include <QTextCursor>
#include <limits>

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

QString timeText(double seconds) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000))
      .toString(QStringLiteral("HH:mm:ss "));
}

QString origin(int32_t rank) { return rank < 0 ? QString() : QStringLiteral("[%1] ").arg(rank); }

}  // namespace

LogCard::LogCard(QWidget* parent) : Card(tr("Log"), parent) {
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
  view_->setPlaceholderText(tr("No rank has written a line"));
  search_ = new LogSearch(view_);
  search_->hide();
  addControls();
  level_ = new Segment({tr("all"), tr("warnings"), tr("errors")});
  auto* levels = new QHBoxLayout;
  levels->setContentsMargins(0, 0, 12, 4);
  levels->addWidget(level_);
  levels->addStretch(1);
  samples_ = linkButton(tr("samples"));
  samples_->setToolTip(tr("Show the text that the run generated after its validations"));
  samples_->hide();
  connect(samples_, &QPushButton::clicked, this, &LogCard::samplesWanted);
  levels->addWidget(samples_);
  setBodyMargins(16, 0, 0, 0);
  body()->setSpacing(0);
  body()->addLayout(levels);
  body()->addWidget(search_);
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

  // Folded lines are searched whole.
  connect(search_, &LogSearch::wantedChanged, this, [this] {
    if (filter().whole == laidOutWhole_) return search_->refresh();
    rebuild();
  });
  connect(search_, &LogSearch::wentTo, this, [this] { follows_ = false; });
  connect(search_, &LogSearch::closed, this, [this] {
    searching_->setChecked(false);
    takeFocus();
  });
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

void LogCard::addControls() {
  searching_ = iconButton(QStringLiteral("search"), tr("Search the log (Ctrl+F)"));
  searching_->setObjectName(QStringLiteral("searchLog"));
  searching_->setProperty("opensSearch", true);
  searching_->setCheckable(true);
  connect(searching_, &QToolButton::toggled, this, [this](bool on) {
    search_->setVisible(on);
    if (on) search_->open();
    rebuild();
  });
  addControl(searching_);
  addStepMenu();
  auto* copying = iconButton(QStringLiteral("copy"), tr("Copy the selected lines, or all"));
  connect(copying, &QToolButton::clicked, this, &LogCard::copy);
  addControl(copying);
  wide_ = iconButton(QStringLiteral("expand"), tr("Show the log in place of the timeline"));
  wide_->setObjectName(QStringLiteral("wideLog"));
  wide_->setCheckable(true);
  connect(wide_, &QToolButton::toggled, this, [this](bool wide) {
    Q_EMIT wideWanted(wide);
    rebuild();
  });
  addControl(wide_);
}

/// All: every line that the filter lets through, not only those that are laid out.
void LogCard::copy() {
  const QTextCursor selected = view_->textCursor();
  if (selected.hasSelection()) return view_->copy();
  LogLines::Filter whole = filter();
  whole.whole = true;
  QString text;
  for (const LogLines::Shown& line : lines_.last(whole, std::numeric_limits<size_t>::max()))
    text += timeText(line.time) + origin(line.rank) + line.text + QLatin1Char('\n');
  QGuiApplication::clipboard()->setText(text);
}

void LogCard::addStepMenu() {
  steps_ = iconButton(QStringLiteral("columns"), tr("Step lines, of the newest steps"));
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
  const bool searches = searching_->isChecked() && !search_->wanted().isEmpty();
  return {static_cast<telemetry::Level>(level_->current()), everyStep_,
          wide_->isChecked() || searches};
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
  search_->refresh();
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
  cursor.insertText(timeText(line.time) + origin(line.rank), digits);
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
  laidOutWhole_ = filter().whole;
  for (const LogLines::Shown& line : lines_.last(filter(), kShown)) insert(line);
  view_->setUpdatesEnabled(true);
  search_->refresh();
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
  const auto named = [&](const QString& name, telemetry::Level level) {
    const auto count = static_cast<qint64>(lines_.count(level));
    return count == 0 ? name : name + QLatin1Char(' ') + format::count(count);
  };
  level_->setText(1, named(tr("warnings"), telemetry::Level::warning));
  level_->setText(2, named(tr("errors"), telemetry::Level::error));
  state_->setText(follows_ ? tr("following the end") : tr("scrolled back:"));
  jump_->setVisible(!follows_);
  const auto count = static_cast<qint64>(lines_.size());
  count_->setText(count > kShown
                      ? tr("last %1 of %2").arg(format::count(kShown), format::count(count))
                      : format::plural(count, counted::kLine));
}

}  // namespace heddle::gui
