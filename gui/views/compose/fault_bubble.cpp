#include "gui/views/compose/fault_bubble.h"

#include <QCursor>
#include <QKeyEvent>
#include <QStyle>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/tab_order.h"

namespace heddle::gui {
namespace {

constexpr int kBubbleWidth = 320, kBubbleGap = 8;

/// "tp 4", a value that can be clicked.
QString linkOf(const recipe::Offer& offer) {
  const recipe::KeyInfo* info = recipe::find_key(offer.key);
  const QString value = QString::fromStdString(offer.value);
  return QStringLiteral("<a href=\"%1=%2\" style=\"color:%3\">%4</a>")
      .arg(QString::fromStdString(offer.key), value.toHtmlEscaped(), colors().accentText.name(),
           QStringLiteral("%1 %2")
               .arg(QString::fromStdString(info->label), QString(value).remove(QChar('"')))
               .toHtmlEscaped()
               .replace(QChar(' '), QStringLiteral("&nbsp;")));
}

}  // namespace

FaultBubble::FaultBubble(RecipeDocument& document, QWidget* form)
    : QLabel(form), document_(document), form_(form) {
  setObjectName(QStringLiteral("bubble"));
  setProperty("role", "bubble");
  setWordWrap(true);
  setTextFormat(Qt::RichText);
  setAccessibleName(tr("What is wrong with the value"));
  setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  hide();
  connect(this, &QLabel::linkActivated, this, &FaultBubble::takeOffer);
}

void FaultBubble::tell(const KeyField* field) {
  field_ = field;
  if (field == nullptr) {
    hide();
    told_.clear();
    return;
  }
  const QString told = field->key() + field->fault() + document_.text();
  setVisible(told != told_ || !closed_);
  if (told != told_) {
    told_ = told;
    closed_ = false;
    QString text = field->fault().toHtmlEscaped();
    QStringList links;
    for (const recipe::Offer& offer : field->offers()) links << linkOf(offer);
    if (!links.isEmpty()) text += QStringLiteral("<br>") + links.join(QStringLiteral(" · "));
    setText(text);
    setFocusPolicy(links.isEmpty() ? Qt::NoFocus : Qt::TabFocus);
    setTabAfter(*this, *field->editor());
    setProperty("role", field->isOpen() ? "hint-bubble" : "bubble");
    style()->unpolish(this);
    style()->polish(this);
  }
  place();
}

void FaultBubble::place() {
  if (field_ == nullptr) return;
  const QWidget* editor = field_->editor();
  const QWidget* around = parentWidget();
  const QPoint at = editor->mapTo(around, QPoint());
  const int right = form_->mapTo(around, QPoint(form_->width(), 0)).x() + kBubbleGap;
  if (around->width() - right >= kBubbleWidth) {
    const int height = heightForWidth(kBubbleWidth);
    setGeometry(right, std::clamp(at.y(), 0, std::max(0, around->height() - height)), kBubbleWidth,
                height);
  } else {
    const QWidget* group = editor->parentWidget()->parentWidget();
    setGeometry(group->mapTo(around, QPoint()).x(), at.y() + editor->height(), group->width(),
                heightForWidth(group->width()));
  }
  raise();
}

bool FaultBubble::isUnderMouse() const {
  return isVisible() && rect().contains(mapFromGlobal(QCursor::pos()));
}

void FaultBubble::takeOffer(const QString& link) {
  const QString key = link.section(QChar('='), 0, 0);
  document_.endEdit();
  document_.setKeys({{key, link.section(QChar('='), 1)}}, key.section(QChar('.'), 1));
  document_.endEdit();
}

void FaultBubble::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) return QLabel::keyPressEvent(event);
  closed_ = true;
  if (field_ != nullptr) field_->editor()->setFocus();
  hide();
}

void FaultBubble::mouseReleaseEvent(QMouseEvent* event) {
  // Takes a link; next to them a click closes it, since it covers other fields.
  QLabel::mouseReleaseEvent(event);
  closed_ = true;
  hide();
}

}  // namespace heddle::gui
