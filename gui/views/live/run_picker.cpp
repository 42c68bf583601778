#include "gui/views/live/run_picker.h"

#include <QSignalBlocker>

#include "gui/theme/theme.h"

namespace heddle::gui {

Tone toneOf(storage::RunState state) {
  switch (state) {
    case storage::RunState::running:
    case storage::RunState::done:
      return Tone::good;
    case storage::RunState::preparing:
      return Tone::accent;
    case storage::RunState::failed:
    case storage::RunState::lost:
      return Tone::bad;
    case storage::RunState::stopped:
      return Tone::muted;
  }
  return Tone::muted;
}

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
      const bool ended = storage::has_ended(run.state);
      const QString name = run.state == storage::RunState::done     ? QStringLiteral("check")
                           : run.state == storage::RunState::failed ? QStringLiteral("fail")
                           : ended                                  ? QStringLiteral("stopped")
                                                                    : QStringLiteral("dot");
      addItem(icon(name, toneOf(run.state)), QString::fromStdString(run.name),
              static_cast<qlonglong>(run.id));
    }
  }
  setCurrentIndex(findData(static_cast<qlonglong>(shown)));
}

}  // namespace heddle::gui
