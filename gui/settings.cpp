#include "gui/settings.h"

#include "workbench/paths.h"

namespace heddle::gui {

std::unique_ptr<QSettings> openSettings() {
  return std::make_unique<QSettings>(
      QString::fromStdString(workbench::settings_folder()) + QStringLiteral("/window.ini"),
      QSettings::IniFormat);
}

}  // namespace heddle::gui
