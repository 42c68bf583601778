// The theme in use: colours, fonts, style sheet, how curves are drawn. GUI thread only.
#pragma once

#include <QFont>
#include <QObject>

#include "gui/theme/tokens.h"

namespace heddle::gui {

class Theme : public QObject {
  Q_OBJECT

 public:
  enum class Mode { system, dark, light };

  /// The application's one theme. `install` must have run.
  static Theme& instance();

  /// Loads the fonts, sets style, palette, font and style sheet of the application. Once, right
  /// after the QApplication is made.
  static void install(Mode mode);

  /// Switches at run time; `changed` follows once every widget has its new style sheet.
  void setMode(Mode mode);
  Mode mode() const { return mode_; }
  Scheme scheme() const { return scheme_; }
  const Colors& colors() const { return colorsOf(scheme_); }
  /// Whether charts draw samples faintly behind a smoothed curve.
  void setSamplesBehind(bool behind);
  bool samplesBehind() const { return samplesBehind_; }

 Q_SIGNALS:
  void changed();

 private:
  Theme() = default;
  void apply();

  Mode mode_ = Mode::system;
  Scheme scheme_ = Scheme::dark;
  bool samplesBehind_ = true;
};

/// The colours in use.
inline const Colors& colors() { return Theme::instance().colors(); }

/// Fonts by role; sizes in pixels.
namespace font {
QFont text(int pixels = 13, QFont::Weight weight = QFont::Normal);
QFont heading();  // 16, semibold
QFont caption();  // 11
QFont mono(int pixels = 12, QFont::Weight weight = QFont::Normal);
}  // namespace font

}  // namespace heddle::gui
