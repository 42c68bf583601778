#include "gui/views/data/mix_view.h"

#include "gui/format.h"
#include "gui/theme/source_colors.h"
#include "gui/views/data/data_words.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

MixView::MixView(QWidget* parent) : QWidget(parent), bar_(new StackedBar(12)) {
  setObjectName(QStringLiteral("mix"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 2, 0, 0);
  column->setSpacing(4);
  bar_->setAccessibleName(tr("Shares of the mix"));
  column->addWidget(bar_);
  rows_ = new QGridLayout;
  rows_->setHorizontalSpacing(8);
  rows_->setVerticalSpacing(1);
  rows_->setColumnStretch(1, 1);
  column->addLayout(rows_);
  connect(&Theme::instance(), &Theme::changed, this, &MixView::draw);
}

void MixView::setSources(const data::Description& description) {
  sources_ = description.sources;
  setVisible(sources_.size() > 1);
  draw();
}

void MixView::draw() {
  clear(rows_);
  QVector<StackedBar::Part> parts;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const data::DescribedSource& source = sources_[i];
    const QString name = QString::fromStdString(source.name), share = format::percent(source.share);
    parts << StackedBar::Part{source.share, sourceColor(i), name + QChar(' ') + share};
    const int row = static_cast<int>(i);
    rows_->addWidget(new Swatch(sourceColor(i)), row, 0);
    rows_->addWidget(new ElidedLabel(name, "caption", Qt::ElideMiddle), row, 1);
    const std::array<QString, 3> columns = {
        share, tr("%1 tok").arg(countText(source.known, source.tokens)),
        tr("%1 ep").arg(epochsText(source.epochs))};
    for (size_t column = 0; column < columns.size(); ++column) {
      QLabel* text = label(columns[column], "mono-muted");
      text->setStyleSheet(QStringLiteral("font-size: 11px;"));
      rows_->addWidget(text, row, static_cast<int>(column) + 2, Qt::AlignRight);
    }
  }
  bar_->setParts(parts);
}

}  // namespace heddle::gui
