// Heddle's icons: outlines of resources/icons, tinted with the theme's colours when they are
// painted, so that a change of theme needs no new icons.
#pragma once

#include <QIcon>
#include <QPixmap>
#include <QString>

namespace heddle::gui {

enum class Tone { text, muted, accent, onAccent, good, warn, bad };

/// The icon of that file name (without .svg) in a tone of the theme.
QIcon icon(const QString& name, Tone tone = Tone::text);

/// A colour's name for a tone, in the theme in use.
QColor colorOf(Tone tone);

/// One pixmap of `size` device-independent pixels in any colour.
QPixmap iconPixmap(const QString& name, int size, const QColor& color, double pixelRatio);

}  // namespace heddle::gui
