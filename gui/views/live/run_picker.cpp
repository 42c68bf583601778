#include "gui/views/live/run_picker.h"

#include <QStyleOption>
#include <QStylePainter>
#include <algorithm>

#include "gui/format.h"

namespace heddle::gui {

RunPicker::RunPicker(QWidget* parent) : QComboBox(parent) {
  setProperty("role", "mono");
  setObjectName(QStringLiteral("runPicker"));
  setAccessibleName(tr("Run"));
  setMinimumWidth(150);
  setMaximumWidth(420);
  setIconSize({12, 12});
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  addItem(QString());
}

void RunPicker::setRuns(std::vector<storage::RunSummary> runs, storage::RunId shown) {
  runs_ = std::move(runs);
  const auto current = std::find_if(runs_.begin(), runs_.end(),
                                    [shown](const auto& run) { return run.id == shown; });
  if (current == runs_.end()) return;
  const QString name = QString::fromStdString(current->name);
  if (itemText(0) != name) setItemText(0, name);
  setToolTip(name);
  setItemData(0, static_cast<qlonglong>(shown));
  setLook(lookOf(current->state));
}

void RunPicker::setLook(const StateLook& look) { setItemIcon(0, icon(look.icon, look.tone)); }

int RunPicker::room() const {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  return style()
             ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this)
             .width() -
         iconSize().width() - 8;  // styles put 4 between icon and text, and 4 after it
}

QSize RunPicker::sizeHint() const {
  QSize size = QComboBox::sizeHint();
  size.setWidth(fontMetrics().horizontalAdvance(itemText(0)) + 1 + width() - room());
  return size;
}

QString RunPicker::shownName() const {
  return fontMetrics().elidedText(itemText(0), Qt::ElideMiddle, room());
}

void RunPicker::paintEvent(QPaintEvent*) {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  option.currentText = shownName();
  QStylePainter painter(this);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

void RunPicker::showPopup() {
  if (!list_) {
    list_ = new PickList(tr("Find a run"), this);
    connect(list_, &PickList::picked, this, &RunPicker::picked);
  }
  std::vector<PickList::Item> items;
  items.reserve(runs_.size());
  for (const storage::RunSummary& run : runs_) {
    const StateLook look = lookOf(run.state);
    items.push_back({run.id, icon(look.icon, look.tone), format::spelled(run.name)});
  }
  list_->setItems(items, itemData(0).toLongLong());
  list_->open(this);
}

}  // namespace heddle::gui
