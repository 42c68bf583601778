#include "gui/views/launch/recent_launches.h"

#include <QDateTime>
#include <QHeaderView>
#include <algorithm>

#include "gui/format.h"
#include "gui/models/state_look.h"
#include "gui/theme/cell_font.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

enum Column { kRun, kState, kTarget, kLaunched, kOutcome, kColumns };
constexpr int kMinRun = 110, kUsualRun = 158, kMaxRun = 260;  // widths of the names
constexpr int kAroundName = 14;

QString launched(const storage::RunSummary& run) {
  return format::when(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(run.created * 1000)));
}

QString outcome(const storage::RunSummary& run) {
  if (!run.cause.empty()) return QString::fromStdString(run.cause).section(QLatin1Char('\n'), 0, 0);
  if (run.steps == 0) return RecentLaunches::tr("no step yet");
  QString text = RecentLaunches::tr("step %1").arg(format::count(run.steps));
  if (run.loss) text += RecentLaunches::tr(", loss %1").arg(format::loss(*run.loss));
  if (run.tokens_per_second_per_rank) {
    text += QStringLiteral(", ") + format::tokensPerSecond(*run.tokens_per_second_per_rank);
  }
  return text;
}

}  // namespace

RecentLaunches::RecentLaunches(QWidget* parent) : QTableWidget(0, kColumns, parent) {
  setHorizontalHeaderLabels({tr("run"), tr("state"), tr("target"), tr("launched"), tr("outcome")});
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);  // Tab leaves it
  setAccessibleName(tr("Recent launches"));
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(28);
  QHeaderView* header = horizontalHeader();
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->setHighlightSections(false);
  header->setSectionsClickable(false);
  header->setStretchLastSection(true);
  setColumnWidth(kRun, kUsualRun);
  setColumnWidth(kState, 100);
  setColumnWidth(kTarget, 116);
  setColumnWidth(kLaunched, 108);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setStyleSheet(QStringLiteral("QHeaderView::section { padding: 0 3px; }"));
  connect(this, &QTableWidget::cellActivated, this,
          [this](int row) { Q_EMIT opened(runs_[static_cast<size_t>(row)].id); });
}

void RecentLaunches::resizeEvent(QResizeEvent* event) {
  fitColumns();
  QTableWidget::resizeEvent(event);
}

void RecentLaunches::fitColumns() {
  static const CellFont cells(font::mono());
  int widest = 0;
  for (const storage::RunSummary& run : runs_)
    widest = std::max(widest, cells.widthOf(format::spelled(run.name)));
  const bool narrow = width() < 420;
  setColumnHidden(kTarget, ofOneTarget_ || width() < 700);
  setColumnHidden(kLaunched, width() < 350 || (!narrow && width() < 560));
  setColumnHidden(kOutcome, narrow);
  // Names of a sweep differ at their ends.
  const int rest = isColumnHidden(kLaunched) ? 112 : 220;
  const int room = narrow ? width() - rest : std::clamp(width() * 2 / 5, kUsualRun, kMaxRun);
  setColumnWidth(kRun, std::clamp(widest + kAroundName, std::min(kMinRun, room), room));
}

void RecentLaunches::setRuns(const std::vector<storage::RunSummary>& runs, Contacts contacts) {
  const int current = currentRow();
  runs_ = runs;
  contacts_ = std::move(contacts);
  setRowCount(static_cast<int>(runs_.size()));
  for (int row = 0; row < rowCount(); ++row) {
    const storage::RunSummary& run = runs_[static_cast<size_t>(row)];
    const auto set = [&](Column column, const QString& text, bool mono) {
      auto* item = new QTableWidgetItem(text);
      if (mono) item->setFont(font::mono());
      item->setToolTip(text);
      setItem(row, column, item);
      return item;
    };
    set(kRun, format::spelled(run.name), true);
    set(kState, QString::fromStdString(storage::to_string(run.state)), false);
    set(kTarget, QString::fromStdString(run.target), true);
    set(kLaunched, launched(run), false);
    QTableWidgetItem* text = set(kOutcome, outcome(run), run.cause.empty());
    if (!run.cause.empty()) {
      text->setToolTip(QString::fromStdString(run.cause));
      if (lookOf(run.state).tone == Tone::bad) text->setForeground(colors().badText);
    }
    showContact(row);
  }
  fitColumns();
  updateGeometry();
  if (current >= 0 && current < rowCount()) setCurrentCell(current, 0);
}

/// As Runs and Live say it: the state, and grey figures of a run that is not heard of.
void RecentLaunches::showContact(int row) {
  const storage::RunSummary& run = runs_[static_cast<size_t>(row)];
  const ContactLook contact = lookOf(contacts_.of(run), unixNow());
  const StateLook look = lookOf(run.state, contact);
  QTableWidgetItem* state = item(row, kState);
  state->setIcon(icon(look.icon, look.tone));
  if (contact.fresh())
    state->setData(Qt::ForegroundRole, {});
  else
    state->setForeground(colorOf(contact.tone));
  state->setToolTip(contact.fresh() ? state->text() : contact.text);
  if (!run.cause.empty()) return;
  if (contact.fresh())
    item(row, kOutcome)->setData(Qt::ForegroundRole, {});
  else
    item(row, kOutcome)->setForeground(colors().muted);
}

void RecentLaunches::tick() {
  for (int row = 0; row < rowCount(); ++row) {
    if (isFollowed(runs_[static_cast<size_t>(row)].state)) showContact(row);
    const QString text = launched(runs_[static_cast<size_t>(row)]);
    if (item(row, kLaunched)->text() == text) continue;
    item(row, kLaunched)->setText(text);
    item(row, kLaunched)->setToolTip(text);
  }
}

}  // namespace heddle::gui
