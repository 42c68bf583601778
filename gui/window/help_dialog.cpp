#include "gui/window/help_dialog.h"

#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "gui/actions/shortcuts.h"
#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"
#include "gui/widgets/list_keys.h"

namespace heddle::gui {
namespace {

constexpr int kHelpWidth = 620, kListHeight = 420, kLine = 28, kHead = 40, kChip = 20;
enum HelpRole { KeysRole = Qt::UserRole, PointerRole };

bool isHeadLine(const QModelIndex& index) { return !(index.flags() & Qt::ItemIsSelectable); }

/// A row: the effect at the left, its keys as chips at the right.
class KeyDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    return {kHelpWidth / 2, isHeadLine(index) ? kHead : kLine};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    QRect row = option.rect.adjusted(12, 0, -12, 0);
    if (isHeadLine(index)) {
      painter->setFont(font::text(13, QFont::DemiBold));
      painter->setPen(c.text);
      painter->drawText(row.adjusted(0, 12, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                        index.data().toString());
      return painter->restore();
    }
    if (option.state & QStyle::State_Selected) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(c.raised);
      painter->drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), 4, 4);
    }
    painter->setFont(font::text(12));
    painter->setPen(c.muted);
    const QString pointer = index.data(PointerRole).toString();
    painter->drawText(row, Qt::AlignVCenter | Qt::AlignRight, pointer);
    if (!pointer.isEmpty())
      row.setRight(row.right() - painter->fontMetrics().horizontalAdvance(pointer) - 8);
    QStringList keys = index.data(KeysRole).toStringList();
    std::ranges::reverse(keys);
    painter->setFont(font::mono(11));
    for (const QString& key : keys) {
      const int width = painter->fontMetrics().horizontalAdvance(key) + 12;
      const QRectF chip(row.right() - width + 0.5, row.center().y() - kChip / 2 + 1.5, width - 1,
                        kChip - 1);
      painter->setPen(QPen(c.line, 1));
      painter->setBrush(c.window);
      painter->drawRoundedRect(chip, 4, 4);
      painter->setPen(c.text);
      painter->drawText(chip, Qt::AlignCenter, key);
      row.setRight(row.right() - width - 4);
    }
    painter->setFont(font::text());
    painter->setPen(c.text);
    row.setRight(row.right() - 8);
    painter->drawText(
        row, Qt::AlignVCenter | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, row.width()));
    painter->restore();
  }
};

/// Whether each typed word is in the title, the effect or the keys.
bool fits(const QStringList& words, const QString& title, const KeyLine& line) {
  const QString all = title + QLatin1Char(' ') + line.text + QLatin1Char(' ') + keysText(line);
  return std::ranges::all_of(
      words, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

HelpDialog::HelpDialog(const QString& page, const QString& help, QList<KeyTable> tables,
                       QWidget* parent)
    : Dialog(tr("Help: %1").arg(page), QStringLiteral("info"), Tone::accent, parent),
      tables_(std::move(tables)) {
  setMinimumWidth(kHelpWidth);
  auto* words = new QLabel(help);
  words->setObjectName(QStringLiteral("pageHelp"));
  words->setWordWrap(true);
  body()->addWidget(words);
  field_ = new SearchField(tr("Find a key or what it does"));
  body()->addWidget(field_);
  list_ = new QListView;
  list_->setAccessibleName(tr("Keys"));
  new FocusLine(list_);
  list_->setModel(&model_);
  list_->setItemDelegate(new KeyDelegate(list_));
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setMinimumHeight(std::min(kListHeight, parent->height() / 2));
  body()->addWidget(list_, 1);
  none_ = muted({});
  none_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  none_->setMinimumHeight(list_->minimumHeight());
  body()->addWidget(none_, 1);
  QPushButton* close = quietButton(tr("Close"));
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  addButton(close);
  connect(field_, &QLineEdit::textChanged, this, &HelpDialog::fill);
  new ListKeys(field_, list_, [](const QModelIndex&) {});
  fill();
  field_->setFocus();
}

void HelpDialog::fill() {
  const QStringList words = field_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  model_.clear();
  for (const KeyTable& table : tables_) {
    bool headed = false;
    for (const KeyLine& line : table.lines) {
      if (!fits(words, table.title, line)) continue;
      if (!std::exchange(headed, true)) {
        auto* head = new QStandardItem(table.title);
        head->setFlags(Qt::ItemIsEnabled);
        model_.appendRow(head);
      }
      auto* item = new QStandardItem(line.text);
      QStringList keys;
      for (const QKeySequence& key : line.keys) keys.append(key.toString(QKeySequence::NativeText));
      item->setData(keys, KeysRole);
      item->setData(line.pointer, PointerRole);
      item->setData(tr("%1: %2").arg(line.text, keysText(line)), Qt::AccessibleTextRole);
      model_.appendRow(item);
    }
  }
  const bool any = model_.rowCount() > 0;
  list_->setVisible(any);
  none_->setVisible(!any);
  none_->setText(tr("No key matches “%1”")
                     .arg(none_->fontMetrics().elidedText(field_->text(), Qt::ElideRight, 240)));
  if (any) list_->setCurrentIndex(model_.index(1, 0));
  list_->scrollToTop();
}

}  // namespace heddle::gui
