#include "gui/theme/tokens.h"

#include <algorithm>
#include <cmath>

namespace heddle::gui {
namespace {

Colors dark() {
  Colors c;
  c.window = "#15171c", c.surface = "#1d2027", c.raised = "#272b34", c.line = "#353b47";
  c.text = "#e7e9ee", c.muted = "#9aa4b4";
  c.accent = "#5b9dff", c.accentText = "#6ea8ff", c.onAccent = "#0d1117";
  c.good = "#3fb96b", c.warn = "#e2b341", c.bad = "#f0625a";
  c.goodText = "#4cc277", c.warnText = "#e2b341", c.badText = "#f8867f";
  c.selected = "#222c3d", c.current = "#2a3952";
  c.compute = "#4e8fff", c.hidden = "#c98a4b", c.exposed = "#f0625a", c.optimizer = "#3fb96b";
  c.copies = "#a47cf3";
  c.parameters = "#4e8fff", c.gradients = "#a47cf3", c.activations = "#e08b3c";
  c.buffers = "#38b2ac", c.other = "#7d8798";
  return c;
}

Colors light() {
  Colors c = dark();
  c.window = "#f5f6f8", c.surface = "#ffffff", c.raised = "#eef1f5", c.line = "#d9dee6";
  c.text = "#1a1e26", c.muted = "#586274";
  c.accent = "#1f62d8", c.accentText = "#1b59c6", c.onAccent = "#ffffff";
  c.good = "#1a8a4a", c.warn = "#a87400", c.bad = "#c93a32";
  c.goodText = "#14733d", c.warnText = "#835a00", c.badText = "#bb342d";
  c.selected = "#eef4fe", c.current = "#dfe9fb";
  c.other = "#7d8798";
  return c;
}

double luminance(const QColor& color) {
  const auto linear = [](double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
         0.0722 * linear(color.blueF());
}

}  // namespace

const Colors& colorsOf(Scheme scheme) {
  static const Colors of_dark = dark();
  static const Colors of_light = light();
  return scheme == Scheme::dark ? of_dark : of_light;
}

double contrast(const QColor& a, const QColor& b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

QColor blend(const QColor& base, const QColor& over, double opacity) {
  const auto mix = [opacity](double from, double to) { return from + (to - from) * opacity; };
  return QColor::fromRgbF(mix(base.redF(), over.redF()), mix(base.greenF(), over.greenF()),
                          mix(base.blueF(), over.blueF()));
}

}  // namespace heddle::gui
