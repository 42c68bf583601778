#include "gui/views/live/rank_card.h"

namespace heddle::gui {
namespace {

constexpr int kSpacing = 8;
constexpr int kAlways = 2;

}  // namespace

RankCard::RankCard(QWidget* parent) : Card(tr("Ranks"), parent) {
  bars_ = new RankBars;
  facts_ = new QGridLayout;
  facts_->setHorizontalSpacing(8);
  facts_->setVerticalSpacing(4);
  facts_->setColumnStretch(0, 1);
  auto* inside = new QWidget;
  auto* rows = new QVBoxLayout(inside);
  rows->setContentsMargins(0, 0, 4, 0);
  rows->setSpacing(kSpacing);
  rows->addWidget(bars_);
  rows->addWidget(line());
  rows->addLayout(facts_);
  rows->addStretch(1);
  scroll_ = new QScrollArea;
  scroll_->setWidget(inside);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  // What fits must not ask for room.
  scroll_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->viewport()->setAutoFillBackground(false);
  inside->setAutoFillBackground(false);
  setBodyMargins(16, 0, 8, 8);
  body()->addWidget(scroll_, 1);
}

void RankCard::clear() {
  setBars({}, {}, {});
  setFacts({});
}

void RankCard::setBars(const QString& what, std::vector<int32_t> ranks,
                       std::vector<double> seconds) {
  setNote(what);
  bars_->setValues(std::move(ranks), std::move(seconds));
  showWhatFits();
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
  showWhatFits();
}

void RankCard::showWhatFits() {
  int end = bars_->sizeHint().height() + 2 * kSpacing + 1;
  for (int row = 0; row < facts_->count() / 2; ++row) {
    QWidget* name = facts_->itemAtPosition(row, 0)->widget();
    QWidget* value = facts_->itemAtPosition(row, 1)->widget();
    end += std::max(name->sizeHint().height(), value->sizeHint().height());
    const bool fits = row < kAlways || end <= scroll_->height();
    name->setVisible(fits);
    value->setVisible(fits);
    end += facts_->verticalSpacing();
  }
}

void RankCard::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  showWhatFits();
}

}  // namespace heddle::gui
