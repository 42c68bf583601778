#include "gui/views/live/rank_card.h"

#include <QScrollArea>

namespace heddle::gui {

RankCard::RankCard(QWidget* parent) : Card(tr("Ranks"), parent) {
  bars_ = new RankBars;
  facts_ = new QGridLayout;
  facts_->setHorizontalSpacing(8);
  facts_->setVerticalSpacing(4);
  facts_->setColumnStretch(0, 1);
  auto* inside = new QWidget;
  auto* rows = new QVBoxLayout(inside);
  rows->setContentsMargins(0, 0, 4, 0);
  rows->setSpacing(8);
  rows->addWidget(bars_);
  rows->addWidget(line());
  rows->addLayout(facts_);
  rows->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setWidget(inside);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->viewport()->setAutoFillBackground(false);
  inside->setAutoFillBackground(false);
  setBodyMargins(16, 0, 8, 8);
  body()->addWidget(scroll, 1);
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

void RankCard::setStale(bool stale) {
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
