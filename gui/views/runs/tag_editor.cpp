#include "gui/views/runs/tag_editor.h"

#include <QKeyEvent>
#include <QScreen>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {
namespace {

constexpr int kTagsWide = 240, kTagsHigh = 260, kMaxTag = 60;

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

QListWidgetItem* TagEditor::add(const QString& tag, Qt::CheckState state) {
  auto* item = new QListWidgetItem(tag, list_);
  item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);  // a click anywhere in it toggles
  item->setCheckState(state);
  return item;
}

void TagEditor::open(const QPoint& globalPosition, const std::vector<storage::RunSummary>& runs,
                     const QStringList& all) {
  runs_ = runs;
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
  if (found.isEmpty())
    add(typed, Qt::Checked);
  else
    toggle(found.first());
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
  std::vector<std::pair<storage::RunId, std::vector<std::string>>> changes;
  for (storage::RunSummary& run : runs_) {
    std::vector<std::string> tags = run.tags;
    for (int row = 0; row < list_->count(); ++row) {
      const std::string tag = list_->item(row)->text().toStdString();
      const auto found = std::ranges::find(tags, tag);
      const Qt::CheckState state = list_->item(row)->checkState();
      if (state == Qt::Checked && found == tags.end()) tags.push_back(tag);
      if (state == Qt::Unchecked && found != tags.end()) tags.erase(found);
    }
    if (tags != run.tags) changes.emplace_back(run.id, std::move(tags));
  }
  runs_.clear();
  if (!changes.empty()) Q_EMIT changed(changes);
}

}  // namespace heddle::gui
