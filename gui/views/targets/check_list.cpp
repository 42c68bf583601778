#include "gui/views/targets/check_list.h"

#include <QPainter>

#include "gui/models/state_look.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

class CheckRow : public QWidget {
 public:
  CheckRow(const probe::Check& check, bool stale)
      : marked_(check.status == probe::Status::fail && !stale) {
    const StateLook look = lookOf(check.status);
    auto* symbol = new Symbol(16, look.icon, stale ? Tone::muted : look.tone);
    symbol->setAccessibleName(QString::fromStdString(std::string(probe::word(check.status))));
    symbol->setFixedSize(16, 20);
    auto* name = new ElidedLabel(QString::fromStdString(check.name));
    name->setFixedSize(132, 20);
    auto* value = new ElidedLabel(QString::fromStdString(check.value), "mono");
    value->setFixedHeight(20);
    setTone(value, stale                                 ? "muted"
                   : check.status == probe::Status::fail ? "bad"
                   : check.status == probe::Status::warn ? "warn"
                                                         : "muted");
    auto* texts = new QVBoxLayout;
    texts->setSpacing(0);
    texts->addWidget(value);
    if (!check.advice.empty()) {
      auto* advice = muted(QString::fromStdString(check.advice));
      advice->setStyleSheet(QStringLiteral("font-size: 12px;"));
      advice->setWordWrap(true);
      advice->setTextInteractionFlags(Qt::TextSelectableByMouse);
      texts->addWidget(advice);
    }
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(12);
    row->addWidget(symbol, 0, Qt::AlignTop);
    row->addWidget(name, 0, Qt::AlignTop);
    row->addLayout(texts, 1);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    if (!marked_) return;
    QPainter painter(this);
    painter.fillRect(rect(), blend(colors().surface, colors().bad, 0.1));
  }

 private:
  bool marked_;
};

}  // namespace

CheckList::CheckList(QWidget* parent) : QWidget(parent), rows_(new QVBoxLayout(this)) {
  rows_->setContentsMargins(0, 0, 0, 0);
  rows_->setSpacing(0);
}

void CheckList::setChecks(const std::vector<probe::Check>& checks, bool stale) {
  clear(rows_);
  for (const probe::Check& check : checks) rows_->addWidget(new CheckRow(check, stale));
  rows_->addStretch(1);
}

}  // namespace heddle::gui
