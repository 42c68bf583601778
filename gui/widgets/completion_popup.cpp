#include "gui/widgets/completion_popup.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kSuggestionHigh = 26, kEdge = 6, kSide = 8;
constexpr int kMinWide = 240, kMaxWide = 440, kHelpWide = 300;
constexpr int kMaxRows = 10;
constexpr int kBetween = 12;  // text and detail
constexpr int kDetailRole = Qt::UserRole;

/// A suggestion: its text in mono, its detail muted.
class SuggestionDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  static int widthOf(const Suggestion& one) {
    const int detail = one.detail.isEmpty()
                           ? 0
                           : kBetween + QFontMetrics(font::text(12)).horizontalAdvance(one.detail);
    return QFontMetrics(font::mono()).horizontalAdvance(one.text) + detail + 2 * kSide;
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    const bool chosen = option.state & QStyle::State_Selected;
    const bool under = option.state & QStyle::State_MouseOver;
    if (chosen || under) painter->fillRect(option.rect, chosen ? c.selected : c.raised);
    QRect room = option.rect.adjusted(kSide, 0, -kSide, 0);
    const QFontMetrics metrics(font::mono());
    const QString text = metrics.elidedText(index.data().toString(), Qt::ElideRight, room.width());
    painter->setFont(font::mono());
    painter->setPen(c.text);
    painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, text);
    room.setLeft(room.left() + metrics.horizontalAdvance(text) + kBetween);
    painter->setFont(font::text(12));
    painter->setPen(c.muted);
    painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data(kDetailRole).toString(),
                                                        Qt::ElideRight, std::max(0, room.width())));
  }

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {0, kSuggestionHigh};
  }
};

}  // namespace

CompletionPopup::CompletionPopup(QWidget* field, Enter enter)
    : QFrame(field), field_(field), enter_(enter), list_(new QListWidget), help_(label({})) {
  setWindowFlags(Qt::ToolTip | Qt::FramelessWindowHint);
  setAttribute(Qt::WA_ShowWithoutActivating);
  setFocusPolicy(Qt::NoFocus);
  setProperty("role", "popup");
  setAccessibleName(tr("What may be typed next"));
  list_->setAccessibleName(accessibleName());
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setFrameShape(NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setItemDelegate(new SuggestionDelegate(list_));
  list_->setUniformItemSizes(true);
  list_->viewport()->setAttribute(Qt::WA_Hover);
  help_->setObjectName(QStringLiteral("completionHelp"));
  help_->setProperty("role", "muted");
  help_->setWordWrap(true);
  help_->setTextFormat(Qt::PlainText);
  help_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  help_->setContentsMargins(12, 4, 6, 4);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(kEdge, kEdge, kEdge, kEdge);
  row->setSpacing(0);
  row->addWidget(list_, 1);
  row->addWidget(help_);
  help_->setFixedWidth(kHelpWide);
  hide();
  field_->installEventFilter(this);
  connect(list_, &QListWidget::itemClicked, this,
          [this](QListWidgetItem* item) { Q_EMIT taken(list_->row(item)); });
  connect(list_, &QListWidget::currentRowChanged, this, [this] {
    if (isVisible()) place();
  });
}

void CompletionPopup::offer(const QList<Suggestion>& suggestions, const QRect& line) {
  if (suggestions.isEmpty() || !field_->hasFocus()) return hide();
  const QSignalBlocker quiet(list_);
  list_->clear();
  helps_.clear();
  wide_ = kMinWide;
  for (const Suggestion& one : suggestions) {
    auto* item = new QListWidgetItem(one.text, list_);
    item->setData(kDetailRole, one.detail);
    item->setData(Qt::AccessibleTextRole,
                  one.detail.isEmpty() ? one.text : one.text + QStringLiteral(", ") + one.detail);
    helps_ << one.help;
    wide_ = std::max(wide_, SuggestionDelegate::widthOf(one) + 2);
  }
  wide_ = std::min(wide_, kMaxWide);
  line_ = line;
  list_->setCurrentRow(enter_ == Enter::takesFirst ? 0 : -1);
  place();
  show();
  raise();
}

/// Below the line, or above it where there is no room, within the window.
void CompletionPopup::place() {
  const int row = list_->currentRow();
  const QString help = row < 0 ? QString() : helps_.value(row);
  const bool helps = std::ranges::any_of(helps_, [](const QString& one) { return !one.isEmpty(); });
  help_->setText(help);
  help_->setVisible(helps);
  int high = std::min(list_->count(), kMaxRows) * kSuggestionHigh + 2 * kEdge + 2;
  if (helps) high = std::max(high, help_->heightForWidth(kHelpWide) + 2 * kEdge);
  resize(wide_ + (helps ? kHelpWide : 0) + 2 * kEdge, high);
  const QRect room(field_->window()->mapToGlobal(QPoint(0, 0)), field_->window()->size());
  QPoint at = field_->mapToGlobal(line_.bottomLeft() + QPoint(0, 3));
  if (at.y() + high > room.bottom()) {
    const int above = field_->mapToGlobal(line_.topLeft()).y() - 2 - high;
    if (above > room.top()) at.setY(above);
  }
  at.setX(std::max(room.left(), std::min(at.x(), room.right() - width())));
  move(at);
}

void CompletionPopup::choose(int index) {
  list_->setCurrentRow(std::clamp(index, 0, list_->count() - 1));
}

/// Whether the popup takes the key from the field.
bool CompletionPopup::takesKey(const QKeyEvent* event) {
  const bool asks = event->key() == Qt::Key_Space && event->modifiers() & Qt::ControlModifier;
  if (!isVisible()) {
    const bool down = event->key() == Qt::Key_Down && qobject_cast<QLineEdit*>(field_) != nullptr;
    if (asks || down) Q_EMIT wanted();
    return asks || (down && isVisible());
  }
  const int row = list_->currentRow();
  switch (event->key()) {
    case Qt::Key_Down:
      choose(row + 1);
      return true;
    case Qt::Key_Up:
      if (row > 0 || enter_ == Enter::takesFirst)
        choose(row - 1);
      else
        list_->setCurrentRow(-1);
      return true;
    case Qt::Key_PageDown:
      choose(std::max(row, 0) + kMaxRows - 1);
      return true;
    case Qt::Key_PageUp:
      choose(row - kMaxRows + 1);
      return true;
    case Qt::Key_Tab:
      Q_EMIT taken(std::max(row, 0));
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (row < 0 || event->modifiers() & Qt::ControlModifier) return hide(), false;
      Q_EMIT taken(row);
      return true;
    case Qt::Key_Escape:
      hide();
      return true;
    default:
      return asks;
  }
}

bool CompletionPopup::eventFilter(QObject*, QEvent* event) {
  switch (event->type()) {
    case QEvent::FocusOut:
    case QEvent::Hide:
      hide();
      break;
    case QEvent::ShortcutOverride: {
      // Escape closes the popup before it does anything else.
      const auto* key = static_cast<QKeyEvent*>(event);
      if (isVisible() && key->key() == Qt::Key_Escape) event->accept();
      break;
    }
    case QEvent::KeyPress:
      return takesKey(static_cast<QKeyEvent*>(event));
    default:
      break;
  }
  return false;
}

}  // namespace heddle::gui
