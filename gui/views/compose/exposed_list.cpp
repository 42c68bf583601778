#include "gui/views/compose/exposed_list.h"

#include <algorithm>

#include "gui/format.h"
#include "gui/views/compose/exposed_folds.h"
#include "gui/views/compose/prediction_words.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

/// With places where "layers.11.feed_forward" may go on in the next line.
QString breakable(QString node) {
  static const QString kHere = QString(QChar(0x200b));
  return node.replace(QChar('_'), QChar('_') + kHere).replace(QChar('.'), QChar('.') + kHere);
}

}  // namespace

ExposedList::ExposedList(QWidget* parent) : QWidget(parent), rows_(new QVBoxLayout(this)) {
  setObjectName(QStringLiteral("exposed"));
  rows_->setContentsMargins(0, 8, 0, 0);
  rows_->setSpacing(2);
}

void ExposedList::display(const plan::Document& document, int most, bool stale) {
  clear(rows_);
  const QList<ExposedFold> folds = exposedFolds(document);
  const auto count = static_cast<int>(folds.size());
  rows_->addWidget(section(count == 0 ? noneExposed(document) : tr("Compute waits longest for")));
  for (int i = 0; i < std::min(count, most); ++i) {
    const ExposedFold& each = folds[i];
    QLabel* node = label(breakable(each.node));
    node->setWordWrap(true);
    QLabel* time = mono(format::seconds(each.seconds));
    setTone(time, stale ? "muted" : "bad");
    auto* line = new QHBoxLayout;
    line->setContentsMargins(0, 6, 0, 0);
    line->setSpacing(8);
    line->addWidget(node, 1);
    line->addWidget(time, 0, Qt::AlignTop);
    rows_->addLayout(line);
    QLabel* why = caption(each.why);
    why->setWordWrap(true);
    rows_->addWidget(why);
  }
  if (count > most) rows_->addWidget(caption(tr("and %1 shorter ones").arg(count - most)));
}

}  // namespace heddle::gui
