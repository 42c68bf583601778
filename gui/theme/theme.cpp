#include "gui/theme/theme.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QPalette>
#include <QPixmapCache>
#include <QToolTip>
#include <utility>

#include "gui/theme/style.h"
#include "gui/theme/stylesheet.h"

static void initResources() {
  Q_INIT_RESOURCE(heddle_theme);
  Q_INIT_RESOURCE(heddle_style);
}

namespace heddle::gui {
namespace {

void loadFonts() {
  for (const char* file :
       {"Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf",
        "JetBrainsMono-Medium.ttf", "JetBrainsMono-SemiBold.ttf"})
    QFontDatabase::addApplicationFont(QStringLiteral(":/heddle/fonts/") + QLatin1String(file));
}

/// The desktop's own scheme, as its palette tells (Qt 6.4 has no other way to ask). Must be asked
/// first before the palette is replaced.
Scheme systemScheme() {
  static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  return dark ? Scheme::dark : Scheme::light;
}

QPalette paletteOf(const Colors& c) {
  QPalette palette;
  palette.setColor(QPalette::Window, c.window);
  palette.setColor(QPalette::WindowText, c.text);
  palette.setColor(QPalette::Base, c.surface);
  palette.setColor(QPalette::AlternateBase, c.raised);
  palette.setColor(QPalette::Text, c.text);
  palette.setColor(QPalette::Button, c.raised);
  palette.setColor(QPalette::ButtonText, c.text);
  palette.setColor(QPalette::BrightText, c.badText);
  palette.setColor(QPalette::Highlight, c.accent);
  palette.setColor(QPalette::HighlightedText, c.onAccent);
  palette.setColor(QPalette::Link, c.accentText);
  palette.setColor(QPalette::LinkVisited, c.accentText);
  palette.setColor(QPalette::ToolTipBase, c.raised);
  palette.setColor(QPalette::ToolTipText, c.text);
  palette.setColor(QPalette::PlaceholderText, c.muted);
  palette.setColor(QPalette::Light, c.raised);
  palette.setColor(QPalette::Midlight, c.line);
  palette.setColor(QPalette::Mid, c.line);
  palette.setColor(QPalette::Dark, c.line);
  palette.setColor(QPalette::Shadow, c.window);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, c.muted);
  return palette;
}

QFont sized(const char* family, int pixels, QFont::Weight weight) {
  QFont font(QString::fromLatin1(family));
  font.setPixelSize(pixels);
  font.setWeight(weight);
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

}  // namespace

Theme& Theme::instance() {
  static Theme theme;
  return theme;
}

void Theme::install(Mode mode) {
  initResources();
  loadFonts();
  systemScheme();
  QApplication::setStyle(new Style);
  QApplication::setFont(font::text());
  QToolTip::setFont(font::text(12));
  Theme& theme = instance();
  theme.mode_ = mode;
  theme.apply();
}

void Theme::setMode(Mode mode) {
  if (mode == mode_) return;
  mode_ = mode;
  apply();
  Q_EMIT changed();
}

void Theme::setSamplesBehind(bool behind) {
  if (std::exchange(samplesBehind_, behind) != behind) Q_EMIT changed();
}

void Theme::apply() {
  scheme_ = mode_ == Mode::system ? systemScheme()
            : mode_ == Mode::dark ? Scheme::dark
                                  : Scheme::light;
  QPixmapCache::clear();
  QApplication::setPalette(paletteOf(colors()));
  qApp->setStyleSheet(styleSheet(colors(), scheme_));
}

namespace font {

QFont text(int pixels, QFont::Weight weight) { return sized("Inter", pixels, weight); }
QFont heading() { return text(16, QFont::DemiBold); }
QFont caption() { return text(11); }
QFont mono(int pixels, QFont::Weight weight) { return sized("JetBrains Mono", pixels, weight); }

}  // namespace font
}  // namespace heddle::gui
