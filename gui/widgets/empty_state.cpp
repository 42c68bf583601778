#include "gui/widgets/empty_state.h"

#include <algorithm>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kTextWidth = 420;

}  // namespace

EmptyState::EmptyState(const QString& iconName, const QString& title, const QString& text,
                       const QString& buttonText, QWidget* parent)
    : QWidget(parent) {
  auto* symbol = new QLabel;
  symbol->setAlignment(Qt::AlignCenter);
  const auto tint = [symbol, iconName] {
    symbol->setPixmap(iconPixmap(iconName, 32, colors().muted, symbol->devicePixelRatioF()));
  };
  tint();
  connect(&Theme::instance(), &Theme::changed, symbol, tint);
  auto* head = heading(title);
  head->setAlignment(Qt::AlignCenter);
  text_ = muted({});
  text_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  text_->setWordWrap(true);
  text_->setFixedWidth(kTextWidth);
  setText(text);
  button_ = primaryButton(buttonText);
  if (buttonText.isEmpty()) button_->hide();
  connect(button_, &QPushButton::clicked, this, &EmptyState::triggered);

  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(8);
  layout->addStretch(2);
  layout->addWidget(symbol, 0, Qt::AlignHCenter);
  layout->addWidget(head, 0, Qt::AlignHCenter);
  layout->addWidget(text_, 0, Qt::AlignHCenter);
  layout->addSpacing(8);
  layout->addWidget(button_, 0, Qt::AlignHCenter);
  layout->addStretch(3);
}

void EmptyState::setText(const QString& text) {
  text_->setText(text);
  // A layout gives a centred label the height of one line.
  text_->ensurePolished();
  text_->setMinimumHeight(std::max(0, text_->heightForWidth(kTextWidth)));
}

}  // namespace heddle::gui
