#include "gui/views/runs/run_header.h"

#include <QMouseEvent>
#include <QPainter>
#include <QStyleOptionHeader>
#include <algorithm>

#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kArrowRoom = 14;  // which every section keeps at its right
constexpr int kHeaderBox = 16, kHeaderBoxLeft = 8;

/// Numbers are first asked for their largest, loss and times for their least, names for their
/// first.
bool beginsDescending(int column) {
  return column == RunsModel::Star || column == RunsModel::Steps || column == RunsModel::Rate ||
         column == RunsModel::Created;
}

}  // namespace

RunHeader::RunHeader(RunLines& lines, QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent), lines_(lines) {
  setSectionsClickable(true);
  setSectionsMovable(true);
  setSortIndicatorShown(true);
  setHighlightSections(false);
  setFixedHeight(32);
  setMinimumSectionSize(28);
  setAccessibleName(tr("Columns"));
  connect(this, &QHeaderView::sectionClicked, this, [this](int section) {
    if (section == RunsModel::Check)
      Q_EMIT allTicked(ticks_ != Qt::Checked);
    else
      sortBy(section, adds_);
  });
  connect(&lines, &RunLines::sortsChanged, this, &RunHeader::showSorts);
}

void RunHeader::mousePressEvent(QMouseEvent* event) {
  adds_ = event->modifiers() & Qt::ShiftModifier;
  QHeaderView::mousePressEvent(event);
}

void RunHeader::mouseReleaseEvent(QMouseEvent* event) {
  adds_ = event->modifiers() & Qt::ShiftModifier;
  QHeaderView::mouseReleaseEvent(event);
}

int RunHeader::placeOf(int section) const {
  const QString key = lines_.runs().keyOf(section);
  for (qsizetype i = 0; i < lines_.sorts().size(); ++i)
    if (lines_.sorts()[i].key == key) return static_cast<int>(i);
  return -1;
}

void RunHeader::sortBy(int section, bool adds) {
  QList<RunSort> sorts = lines_.sorts();
  const int place = placeOf(section);
  const RunSort fresh{lines_.runs().keyOf(section), beginsDescending(section)};
  if (place >= 0 && (adds || sorts.size() == 1))
    sorts[place].descending = !sorts[place].descending;
  else if (adds)
    sorts.append(fresh);
  else
    sorts = {fresh};
  lines_.setSorts(sorts);
}

/// The header's own arrow could show one sort only.
void RunHeader::showSorts() {
  setSortIndicator(-1, Qt::AscendingOrder);
  viewport()->update();
}

void RunHeader::setTicks(Qt::CheckState ticks) {
  if (ticks_ == ticks) return;
  ticks_ = ticks;
  viewport()->update();
}

void RunHeader::setPinned(int count) {
  pinned_ = count;
  viewport()->update();
}

void RunHeader::setCurrent(int section) {
  current_ = section;
  viewport()->update();
}

void RunHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
  painter->save();
  QHeaderView::paintSection(painter, rect, section);
  painter->restore();
  const Colors& c = colors();
  if (section == RunsModel::Check) {
    QStyleOptionButton box;
    box.rect = QRect(rect.left() + kHeaderBoxLeft, rect.center().y() - kHeaderBox / 2 + 1,
                     kHeaderBox, kHeaderBox);
    box.state = QStyle::State_Enabled;
    box.state.setFlag(QStyle::State_On, ticks_ == Qt::Checked);
    box.state.setFlag(QStyle::State_NoChange, ticks_ == Qt::PartiallyChecked);
    style()->drawPrimitive(QStyle::PE_IndicatorItemViewItemCheck, &box, painter, viewport());
    if (ticks_ == Qt::PartiallyChecked) painter->fillRect(box.rect.adjusted(4, 7, -4, -7), c.text);
  }
  if (section == RunsModel::Star) {
    painter->setPen(c.muted);
    painter->drawText(rect, Qt::AlignCenter, QStringLiteral("★"));
  }
  if (const int place = placeOf(section); place >= 0) paintSort(painter, rect, place);
  if (section == current_)
    painter->fillRect(QRect(rect.left() + 4, rect.bottom() - 1, rect.width() - 8, 2), c.accent);
  // The edge of what stays in place.
  if (pinned_ > 0 && visualIndex(section) == pinned_ - 1)
    painter->fillRect(QRect(rect.right(), rect.top(), 1, rect.height()), c.line);
}

/// An arrow in the room at the section's right; under it, of several sorts, which one it is.
void RunHeader::paintSort(QPainter* painter, const QRect& rect, int place) const {
  const bool several = lines_.sorts().size() > 1;
  const int size = kArrowRoom - 2;
  const QRect arrow(rect.right() - size, rect.center().y() - (several ? size : size / 2), size,
                    size);
  icon(lines_.sorts()[place].descending ? QStringLiteral("chevron-down")
                                        : QStringLiteral("chevron-up"),
       Tone::accent)
      .paint(painter, arrow);
  if (!several) return;
  painter->setFont(font::mono(9));
  painter->setPen(colors().accentText);
  painter->drawText(arrow.translated(0, size - 1), Qt::AlignCenter, QString::number(place + 1));
}

int RunHeader::neededWidth(int section) const {
  return std::max(minimumSectionSize(), sectionSizeFromContents(section).width());
}

QSize RunHeader::sectionSizeFromContents(int section) const {
  QSize size = QHeaderView::sectionSizeFromContents(section);
  size.rwidth() += kArrowRoom;
  return size;
}

}  // namespace heddle::gui
