// The workbench's settings file: what a window remembers from one start to the next.
#pragma once

#include <QSettings>
#include <memory>

namespace heddle::gui {

/// $XDG_CONFIG_HOME/heddle/window.ini
std::unique_ptr<QSettings> openSettings();

}  // namespace heddle::gui
