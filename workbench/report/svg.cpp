#include "workbench/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/one_line.h"
#include "base/round_step.h"

namespace heddle::workbench {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? kDigits[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view color, double width) {
  body_ += fmt::format(
      R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)",
      x1, y1, x2, y2, color, width);
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view color,
                   double width, std::string_view dashes, double opacity) {
  body_ += fmt::format(R"(<polyline fill="none" stroke="{}" stroke-width="{}")", color, width);
  if (!dashes.empty()) body_ += fmt::format(R"( stroke-dasharray="{}")", dashes);
  if (opacity < 1) body_ += fmt::format(R"( stroke-opacity="{}")", opacity);
  body_ += R"( points=")";
  for (const auto& [x, y] : points) body_ += fmt::format("{:.1f},{:.1f} ", x, y);
  body_ += R"("/>)";
}

void Svg::surface(const std::vector<std::pair<double, double>>& outline, std::string_view color,
                  double opacity) {
  body_ += fmt::format(R"(<polygon fill="{}" fill-opacity="{}" points=")", color, opacity);
  for (const auto& [x, y] : outline) body_ += fmt::format("{:.1f},{:.1f} ", x, y);
  body_ += R"("/>)";
}

// A picture within the picture cuts off what is outside of it.
void Svg::begin_area(const Area& area) {
  body_ += fmt::format(
      R"(<svg x="{0:.1f}" y="{1:.1f}" width="{2:.1f}" height="{3:.1f}" viewBox="{0:.1f} {1:.1f} {2:.1f} {3:.1f}">)",
      area.x, area.y, area.width, area.height);
}

void Svg::rect(double x, double y, double width, double height, std::string_view color) {
  body_ += fmt::format(R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" fill="{}"/>)",
                       x, y, width, height, color);
}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, std::string_view color,
               bool bold) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  body_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}"{}>{}</text>)", x,
                       y, kAnchors[static_cast<size_t>(anchor)], color,
                       bold ? R"( font-weight="600")" : "", escaped(text));
}

std::string Svg::document() const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )"
      R"(font-family="Inter, system-ui, sans-serif" font-size="11">)"
      R"(<rect width="{0}" height="{1}" fill="#ffffff"/>{2}</svg>)",
      width_, height_, body_);
}

std::string Svg::data_uri() const { return "data:image/svg+xml;base64," + base64(document()); }

double text_width(std::string_view text) {
  constexpr double kLetter = 5.8;
  const auto letters = std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
  return kLetter * static_cast<double>(letters);
}

bool is_range(double low, double high) {
  return high - low > 1e-9 * std::max(std::abs(low), std::abs(high));
}

std::vector<double> round_ticks(double low, double high, int about) {
  if (!is_range(low, high)) return {low};
  const double step = roundStep((high - low) / about);
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-9; tick += step)
    ticks.push_back(std::abs(tick) < step * 1e-6 ? 0 : tick);
  return ticks;
}

std::vector<std::string> tick_texts(const std::vector<double>& ticks,
                                    const std::function<std::string(double, int more)>& text) {
  constexpr int kMaxMore = 4;
  std::vector<std::string> texts;
  for (int more = 0; more <= kMaxMore; ++more) {
    texts.clear();
    for (const double tick : ticks) texts.push_back(text(tick, more));
    if (std::ranges::adjacent_find(texts) == texts.end()) break;
  }
  // Where a text's decimals end; 0: it has none.
  const auto decimals = [](const std::string& of) -> size_t {
    const size_t point = of.find('.');
    if (point == std::string::npos) return 0;
    return std::min(of.find_first_not_of("0123456789", point + 1), of.size());
  };
  const auto can_be_shorter = [&](const std::string& of) {
    const size_t end = decimals(of);
    return end == 0 || of[end - 1] == '0';
  };
  while (std::ranges::any_of(texts, [&](const auto& of) { return decimals(of) > 0; }) &&
         std::ranges::all_of(texts, can_be_shorter))
    for (std::string& each : texts) {
      const size_t end = decimals(each);
      if (end == 0) continue;
      const size_t cut = each[end - 2] == '.' ? 2 : 1;
      each.erase(end - cut, cut);
    }
  return texts;
}

}  // namespace heddle::workbench
