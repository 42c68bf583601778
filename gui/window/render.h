// `heddle render`: the whole window as a picture, without a display.
#pragma once

namespace heddle::gui {

/// True when the arguments ask for a picture, before or after `--store FILE`.
bool isRender(int argc, char** argv);

/// Renders; errors on stderr. 0 done, 1 the picture could not be made, 2 bad usage. Makes its own
/// QApplication.
int render(int argc, char** argv);

}  // namespace heddle::gui
