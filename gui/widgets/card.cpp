#include "gui/widgets/card.h"

namespace heddle::gui {

Card::Card(const QString& title, QWidget* parent) : QFrame(parent) {
  setProperty("role", "card");
  head_ = new QWidget(this);
  head_->setFixedHeight(40);
  title_ = label(title, "section");
  note_ = new ElidedLabel({}, "caption");
  note_->setMinimumWidth(1);  // it gives way to the title
  row_ = new QHBoxLayout(head_);
  row_->setContentsMargins(16, 4, 16, 0);
  row_->setSpacing(12);
  row_->addWidget(title_);
  row_->addWidget(note_, 1, Qt::AlignVCenter);
  head_->setVisible(!title.isEmpty());

  body_ = new QVBoxLayout;
  body_->setContentsMargins(16, 0, 16, 12);
  body_->setSpacing(8);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 1, 1, 1);
  layout->setSpacing(0);
  layout->addWidget(head_);
  layout->addLayout(body_, 1);
}

void Card::setTitle(const QString& title) {
  title_->setText(title);
  head_->setVisible(!title.isEmpty());
}

void Card::setNote(const QString& note) { note_->setFullText(note); }

void Card::addControl(QWidget* control) { row_->addWidget(control); }

void Card::setBodyMargins(int left, int top, int right, int bottom) {
  body_->setContentsMargins(left, top, right, bottom);
}

}  // namespace heddle::gui
