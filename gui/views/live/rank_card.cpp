#include "gui/views/live/rank_card.h"

#include <QEvent>

#include "gui/widgets/layouts.h"
#include "gui/widgets/more_below.h"
#include "gui/widgets/picture_menu.h"

namespace heddle::gui {
namespace {

constexpr int kLowest = 8;  // below the rows

}  // namespace

RankCard::RankCard(QWidget* parent) : Card(tr("Ranks"), parent) {
  bars_ = new RankBars;
  facts_ = new QGridLayout;
  facts_->setHorizontalSpacing(8);
  facts_->setVerticalSpacing(4);
  facts_->setColumnStretch(0, 1);
  inside_ = new QWidget;
  inside_->installEventFilter(this);
  auto* rows = new QVBoxLayout(inside_);
  rows->setContentsMargins(0, 0, 4, 0);
  rows->setSpacing(8);
  rows->addWidget(bars_);
  rows->addWidget(line());
  rows->addLayout(facts_);
  rows->addStretch(1);
  setBodyMargins(16, 0, 8, kLowest);
  QScrollArea* area = scrolled(inside_);
  area->setAccessibleName(tr("Facts of the ranks"));
  body()->addWidget(area, 1);
  addControl(new MoreBelow(area));
  setPictureMenu(this, [this] { return bars_->table(); });
}

void RankCard::clear() {
  setBars({}, {}, {});
  setFacts({});
}

void RankCard::setBars(const QString& what, std::vector<int32_t> ranks, std::vector<double> seconds,
                       const std::vector<int>& stages) {
  setNote(what);
  bars_->setValues(std::move(ranks), std::move(seconds), stages);
}

void RankCard::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  fit();
}

// The hint in the head comes and goes, and the rows find their places again.
bool RankCard::event(QEvent* event) {
  const bool done = Card::event(event);
  if (event->type() == QEvent::LayoutRequest) fit();
  return done;
}

bool RankCard::eventFilter(QObject* watched, QEvent* event) {
  // The rows find their new places after the event.
  if (watched == inside_ && event->type() == QEvent::Resize)
    QMetaObject::invokeMethod(this, &RankCard::fit, Qt::QueuedConnection);
  return Card::eventFilter(watched, event);
}

void RankCard::fit() {
  const int room = body()->geometry().height() - kLowest;
  int shown = room;
  if (inside_->layout()->totalSizeHint().height() > room) {
    for (int row = 0; row < facts_->rowCount(); ++row) {
      const int bottom = facts_->cellRect(row, 0).bottom() + 1;
      if (bottom > 1 && bottom <= room) shown = bottom;
    }
  }
  setBodyMargins(16, 0, 8, kLowest + room - shown);
}

void RankCard::setStale(bool stale) {
  bars_->setStale(stale);
  for (int row = 0; row < facts_->count() / 2; ++row)
    setTone(facts_->itemAtPosition(row, 1)->widget(), stale ? "muted" : "");
}

void RankCard::setFacts(const QVector<QPair<QString, QString>>& facts) {
  while (facts_->count() > 2 * facts.size()) {
    QLayoutItem* item = facts_->takeAt(facts_->count() - 1);
    delete item->widget();
    delete item;
  }
  for (int row = facts_->count() / 2; row < facts.size(); ++row) {
    auto* name = label({}, "muted");
    name->setStyleSheet(QStringLiteral("font-size: 12px;"));
    facts_->addWidget(name, row, 0);
    facts_->addWidget(mono({}), row, 1, Qt::AlignRight);
  }
  for (int row = 0; row < facts.size(); ++row) {
    qobject_cast<QLabel*>(facts_->itemAtPosition(row, 0)->widget())->setText(facts[row].first);
    qobject_cast<QLabel*>(facts_->itemAtPosition(row, 1)->widget())->setText(facts[row].second);
  }
}

}  // namespace heddle::gui
