#include "gui/views/runs/tag_editor.h"

#include <QKeyEvent>
#include <QScreen>
#include <algorithm>
#include <utility>

#include "gui/theme/theme.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {
namespace {

constexpr int kTagsWide = 240, kTagsHigh = 260, kMaxTag = 60;
constexpr int kBefore = Qt::UserRole;  // an item's state in the store

}  // namespace

TagEditor::TagEditor(QWidget* parent) : QFrame(parent, Qt::Popup) {
  setObjectName(QStringLiteral("tagEditor"));
  setProperty("role", "popup");
  field_ = new SearchField(tr("Find or add a tag"), QStringLiteral("flag"));
  field_->setMaxLength(kMaxTag);
  list_ = new QListWidget;
  list_->setAccessibleName(tr("Tags"));
  list_->setFocusPolicy(Qt::NoFocus);
  QVBoxLayout* column = columnOf(this, {8, 8, 8, 8}, 8);
  column->addWidget(field_);
  column->addWidget(list_, 1);
  setFocusProxy(field_);
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textChanged, this, &TagEditor::filter);
  connect(list_, &QListWidget::itemClicked, this, &TagEditor::toggle);
}

QListWidgetItem* TagEditor::add(const QString& tag, Qt::CheckState before) {
  auto* item = new QListWidgetItem(tag, list_);
  item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);  // a click anywhere in it toggles
  item->setCheckState(before);
  item->setData(kBefore, before);
  return item;
}

void TagEditor::open(const QPoint& globalPosition, const std::vector<storage::RunSummary>& runs,
                     const QStringList& all) {
  runs_.clear();
  for (const storage::RunSummary& run : runs) runs_.append(run.id);
  list_->clear();
  field_->clear();
  QStringList tags = all;
  tags.removeDuplicates();
  tags.sort(Qt::CaseInsensitive);
  for (const QString& tag : tags) {
    const auto have = std::ranges::count_if(runs, [&](const storage::RunSummary& run) {
      return std::ranges::find(run.tags, tag.toStdString()) != run.tags.end();
    });
    add(tag, have == 0                                   ? Qt::Unchecked
             : have == static_cast<int64_t>(runs.size()) ? Qt::Checked
                                                         : Qt::PartiallyChecked);
  }
  resize(kTagsWide, kTagsHigh);
  const QRect room = screen()->availableGeometry();
  move(std::clamp(globalPosition.x(), room.left(), std::max(room.left(), room.right() - width())),
       std::clamp(globalPosition.y(), room.top(), std::max(room.top(), room.bottom() - height())));
  show();
  field_->setFocus();
}

void TagEditor::filter(const QString& typed) {
  for (int row = 0; row < list_->count(); ++row)
    list_->item(row)->setHidden(!list_->item(row)->text().contains(typed, Qt::CaseInsensitive));
}

void TagEditor::toggle(QListWidgetItem* item) {
  item->setCheckState(item->checkState() == Qt::Checked ? Qt::Unchecked : Qt::Checked);
}

/// The typed tag: that one is toggled, or made.
void TagEditor::takeTyped() {
  const QString typed = field_->text().simplified();
  if (list_->currentItem() && !list_->currentItem()->isHidden())
    return toggle(list_->currentItem());
  if (typed.isEmpty()) return hide();
  const auto found = list_->findItems(typed, Qt::MatchFixedString);
  toggle(found.isEmpty() ? add(typed, Qt::Unchecked) : found.first());
  field_->clear();
}

bool TagEditor::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Return || key == Qt::Key_Enter) return takeTyped(), true;
  if (key != Qt::Key_Down && key != Qt::Key_Up) return false;
  const int step = key == Qt::Key_Down ? 1 : -1;
  for (int row = list_->currentRow() + step; row >= 0 && row < list_->count(); row += step)
    if (!list_->item(row)->isHidden()) return list_->setCurrentRow(row), true;
  return true;
}

void TagEditor::hideEvent(QHideEvent* event) {
  QFrame::hideEvent(event);
  std::vector<std::string> added, removed;
  for (int row = 0; row < list_->count(); ++row) {
    const QListWidgetItem* item = list_->item(row);
    const Qt::CheckState state = item->checkState();
    if (state == item->data(kBefore).toInt()) continue;
    (state == Qt::Checked ? added : removed).push_back(item->text().toStdString());
  }
  const QList<qint64> runs = std::exchange(runs_, {});
  if (!runs.isEmpty() && added.size() + removed.size() > 0) Q_EMIT changed(runs, added, removed);
}

}  // namespace heddle::gui
