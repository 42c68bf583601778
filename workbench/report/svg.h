// A picture being drawn as SVG, and where numbers are on its axes. Text in it is escaped.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::workbench {

/// The text with what HTML and XML give a meaning spelled out: it is text wherever it is put, in
/// quotes too. Control characters are made visible.
std::string escaped(std::string_view text);

class Svg {
 public:
  enum class Anchor { start, middle, end };
  struct Area {
    double x = 0, y = 0, width = 0, height = 0;
  };

  Svg(double width, double height) : width_(width), height_(height) {}
  void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1);
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view color,
                double width = 1.4, std::string_view dashes = {}, double opacity = 1);
  /// A surface that what is behind it shines through.
  void surface(const std::vector<std::pair<double, double>>& outline, std::string_view color,
               double opacity);
  /// All that is drawn until `end_area` is seen only within the area.
  void begin_area(const Area& area);
  void end_area() { body_ += "</svg>"; }
  void rect(double x, double y, double width, double height, std::string_view color);
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::start,
            std::string_view color = "#586274", bool bold = false);

  /// As the value of an <img>'s src: a data URI, in which no script runs.
  std::string data_uri() const;
  std::string document() const;
  double width() const { return width_; }
  double height() const { return height_; }

 private:
  double width_, height_;
  std::string body_;
};

/// About the width of a text in a picture: enough to put something next to it.
double text_width(std::string_view text);

/// Whether the two differ by more than what rounding does.
bool is_range(double low, double high);

/// Round numbers between low and high, about so many, ascending; one where both are the same.
std::vector<double> round_ticks(double low, double high, int about);

/// The ticks as texts that differ, without zeroes that all of them end with. `text`: a tick with so
/// many digits more than usual.
std::vector<std::string> tick_texts(const std::vector<double>& ticks,
                                    const std::function<std::string(double, int more)>& text);

}  // namespace heddle::workbench
