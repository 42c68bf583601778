#include "gui/widgets/pick_list.h"

#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/list_keys.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {
namespace {

constexpr int kId = Qt::UserRole;
constexpr int kWidth = 320, kRows = 12, kRow = 28;

}  // namespace

PickList::PickList(const QString& hint, QWidget* parent) : QFrame(parent, Qt::Popup) {
  setObjectName(QStringLiteral("pickList"));
  setProperty("role", "popup");
  field_ = new SearchField(hint);
  list_ = new QListView;
  matching_.setSourceModel(&items_);
  matching_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  list_->setModel(&matching_);
  list_->setUniformItemSizes(true);
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setTextElideMode(Qt::ElideMiddle);
  list_->setFont(font::mono(12));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setAccessibleName(hint);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->setSpacing(8);
  layout->addWidget(field_);
  layout->addWidget(list_);
  setFocusProxy(field_);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& typed) {
    matching_.setFilterFixedString(typed);
    list_->setCurrentIndex(matching_.index(0, 0));
  });
  connect(list_, &QListView::clicked, this, &PickList::accept);
  new ListKeys(field_, list_, [this](const QModelIndex& index) { accept(index); });
}

void PickList::setItems(const std::vector<Item>& items, qint64 current) {
  items_.clear();
  QModelIndex chosen;
  for (const Item& item : items) {
    auto* row = new QStandardItem(item.icon, item.text);
    row->setData(item.id, kId);
    row->setSizeHint(QSize(0, kRow));
    items_.appendRow(row);
    if (item.id == current) chosen = matching_.mapFromSource(row->index());
  }
  if (!chosen.isValid()) chosen = matching_.index(0, 0);
  list_->setCurrentIndex(chosen);
  list_->scrollTo(chosen, QAbstractItemView::PositionAtCenter);
}

void PickList::open(QWidget* at) {
  field_->clear();
  const int rows = std::clamp(items_.rowCount(), 1, kRows);
  resize(std::max(kWidth, at->width()), rows * kRow + field_->sizeHint().height() + 32);
  const QRect room = at->screen()->availableGeometry();
  QPoint where = at->mapToGlobal(QPoint(0, at->height() + 4));
  if (where.y() + height() > room.bottom()) where = at->mapToGlobal(QPoint(0, -height() - 4));
  where.setX(std::max(room.left(), std::min(where.x(), room.right() - width())));
  move(where);
  show();
  field_->setFocus();
  list_->scrollTo(list_->currentIndex(), QAbstractItemView::PositionAtCenter);
}

QStringList PickList::shown() const {
  QStringList texts;
  for (int row = 0; row < matching_.rowCount(); ++row)
    texts << matching_.index(row, 0).data().toString();
  return texts;
}

void PickList::accept(const QModelIndex& index) {
  hide();
  Q_EMIT picked(index.data(kId).toLongLong());
}

}  // namespace heddle::gui
