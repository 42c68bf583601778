#include "gui/views/compose/published_line.h"

#include <QHBoxLayout>

#include "gui/format.h"
#include "gui/views/compose/why_popup.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {

PublishedLine::PublishedLine(QWidget* parent) : QWidget(parent) {
  QHBoxLayout* row = rowOf(this, {}, 8);
  words_ = caption({});
  words_->setObjectName(QStringLiteral("published"));
  words_->setWordWrap(true);
  QPushButton* all = linkButton(tr("more"));
  all->setObjectName(QStringLiteral("allPublished"));
  all->setToolTip(tr("The most similar published runs, with layout, program and source"));
  row->addWidget(words_, 1);
  row->addWidget(all, 0, Qt::AlignTop);
  connect(all, &QPushButton::clicked, this, &PublishedLine::openAll);
}

void PublishedLine::display(const plan::Document& document) {
  rows_.clear();
  for (const std::string& each : document.published) rows_ << QString::fromStdString(each);
  setVisible(!rows_.isEmpty());
  if (rows_.isEmpty()) return;
  // The figure, and of what; the layout and the source are for the popup.
  words_->setText(
      tr("Closest published run: %1").arg(rows_.first().section(QStringLiteral(", "), 0, 0)));
}

void PublishedLine::openAll() {
  constexpr qsizetype kLine = 90;
  Why why;
  why.title = tr("The most similar published runs");
  for (const QString& row : rows_) why.formula << format::inLines(row, kLine);
  (new WhyPopup(why, this))->open(this);
}

}  // namespace heddle::gui
