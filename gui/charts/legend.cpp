#include "gui/charts/legend.h"

#include <QFontMetrics>
#include <QPainter>
#include <algorithm>

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kStroke = 18;
constexpr int kGap = 6;
constexpr int kBetween = 14;
constexpr int kLegendHeight = 18;
// Pixels. Names are shortened to kShortName before any is left out.
constexpr int kMaxName = 200, kShortName = 90, kMinName = 30;
constexpr int kMaxList = 320;  // the list's height

int widthOf(const LegendEntry& entry, int nameRoom = kMaxName) {
  return kStroke + kGap +
         std::min(nameRoom, QFontMetrics(font::caption()).horizontalAdvance(entry.name));
}

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent), more_(linkButton({})) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  more_->setParent(this);
  more_->setObjectName(QStringLiteral("moreCurves"));
  more_->setFont(font::caption());
  more_->hide();
  connect(more_, &QPushButton::clicked, this, &Legend::listAll);
}

void Legend::setEntries(QVector<LegendEntry> entries) {
  if (entries == entries_) return;
  entries_ = std::move(entries);
  QStringList names;
  for (const LegendEntry& entry : entries_) names << entry.name;
  setAccessibleName(names.join(QStringLiteral(", ")));
  setToolTip(names.join(QLatin1Char('\n')));
  updateGeometry();
  place();
  update();
}

QString Legend::restText(qsizetype shown) const {
  return shown == 0 ? tr("%1 curves").arg(entries_.size())
                    : tr("+%1 more").arg(entries_.size() - shown);
}

int Legend::restWidth(qsizetype shown) const {
  return QFontMetrics(font::caption()).horizontalAdvance(restText(shown)) + 2;
}

QSize Legend::sizeHint() const { return {std::max(0, widthOfAll(kMaxName)), kLegendHeight}; }

QSize Legend::minimumSizeHint() const {
  const int least = entries_.size() > 1 ? restWidth(0) : kStroke;
  return {std::min(sizeHint().width(), least), kLegendHeight};
}

int Legend::widthOfAll(int nameRoom) const {
  int width = -kBetween;
  for (const LegendEntry& entry : entries_) width += widthOf(entry, nameRoom) + kBetween;
  return width;
}

/// Finds how many entries fit. Names are shortened before any is left out, and the last one shown
/// further.
void Legend::place() {
  nameRoom_ = kShortName;
  const bool allFit = widthOfAll(kShortName) <= width() + 1;
  while (allFit && nameRoom_ < kMaxName && widthOfAll(nameRoom_ + 1) <= width() + 1) ++nameRoom_;
  lastRoom_ = nameRoom_;
  left_ = 0;
  shown_ = allFit ? entries_.size() : 0;
  int x = 0;
  for (; shown_ < entries_.size(); ++shown_) {
    const int needed = widthOf(entries_[shown_], nameRoom_) + kBetween;
    if (x + needed + restWidth(shown_ + 1) > width()) break;
    x += needed;
  }
  if (shown_ < entries_.size()) {
    const bool more = shown_ + 1 < entries_.size();
    const int room = width() - x - kStroke - kGap - (more ? kBetween + restWidth(shown_ + 1) : 0);
    if (room >= kMinName || entries_.size() == 1) {
      lastRoom_ = std::max(0, room);
      x += widthOf(entries_[shown_++], lastRoom_) + kBetween;
    }
  }
  more_->setVisible(shown_ < entries_.size());
  if (shown_ == entries_.size()) return;
  more_->setText(restText(shown_));
  more_->setAccessibleName(tr("All %1 curves").arg(entries_.size()));
  left_ = std::max(0, width() - x - restWidth(shown_));
  more_->setGeometry(left_ + x, 0, restWidth(shown_), height());
}

void Legend::resizeEvent(QResizeEvent*) { place(); }

/// Lists every curve on a line of its own.
void Legend::listAll() {
  auto* list = new QFrame(this, Qt::Popup);
  list->setObjectName(QStringLiteral("allCurves"));
  list->setAttribute(Qt::WA_DeleteOnClose);
  list->setProperty("role", "popup");
  auto* lines = new QWidget;
  QVBoxLayout* column = columnOf(lines, {0, 0, 8, 0}, 4);
  for (const LegendEntry& entry : entries_) {
    auto* one = new Legend;
    one->setEntries({entry});
    column->addWidget(one);
  }
  QScrollArea* area = scrolled(lines);
  area->setAccessibleName(more_->accessibleName());
  columnOf(list, {8, 8, 8, 8})->addWidget(area);
  list->resize(kStroke + kGap + kMaxName + 40, std::min(kMaxList, lines->sizeHint().height() + 18));
  list->move(more_->mapToGlobal(QPoint(0, more_->height())));
  list->show();
  area->setFocus();
}

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font::caption());
  int x = left_;
  for (qsizetype i = 0; i < shown_; ++i) {
    const LegendEntry& entry = entries_[i];
    paintRunStroke(painter, QRectF(x, 0, kStroke, height()), {entry.color, entry.marker},
                   entry.width);
    painter.setPen(colors().muted);
    // A long name must not hide the others.
    const int room = i + 1 == shown_ ? lastRoom_ : nameRoom_;
    const QString name = painter.fontMetrics().elidedText(entry.name, Qt::ElideMiddle, room);
    const int wide = widthOf(entry, room);
    painter.drawText(QRect(x + kStroke + kGap, 0, wide, height()), Qt::AlignVCenter, name);
    x += wide + kBetween;
  }
}

}  // namespace heddle::gui
