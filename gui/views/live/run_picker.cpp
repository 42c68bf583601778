#include "gui/views/live/run_picker.h"

#include <QSignalBlocker>

#include "gui/models/state_look.h"

namespace heddle::gui {

RunPicker::RunPicker(QWidget* parent) : QComboBox(parent) {
  setProperty("role", "mono");
  setObjectName(QStringLiteral("runPicker"));
  setAccessibleName(tr("Run"));
  setMinimumWidth(150);
  setMaximumWidth(240);
  setIconSize({12, 12});
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(this, &QComboBox::activated, this,
          [this](int index) { Q_EMIT picked(itemData(index).toLongLong()); });
}

void RunPicker::setRuns(const std::vector<storage::RunSummary>& runs, storage::RunId shown) {
  std::vector<std::pair<storage::RunId, storage::RunState>> offered;
  for (const storage::RunSummary& run : runs) offered.emplace_back(run.id, run.state);
  const QSignalBlocker quiet(this);
  if (offered != offered_) {
    offered_ = std::move(offered);
    clear();
    for (const storage::RunSummary& run : runs) {
      const StateLook look = lookOf(run.state);
      addItem(icon(look.icon, look.tone), QString::fromStdString(run.name),
              static_cast<qlonglong>(run.id));
    }
  }
  setCurrentIndex(findData(static_cast<qlonglong>(shown)));
}

}  // namespace heddle::gui
