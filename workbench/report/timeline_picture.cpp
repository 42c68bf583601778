#include "workbench/report/timeline_picture.h"

#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "workbench/report/run_look.h"

namespace heddle::workbench {
namespace {

constexpr double kStepWidth = 900, kStepLabel = 84, kLaneHeight = 18, kStepRow = 52, kStepHead = 26,
                 kStepFoot = 24;
constexpr const char* kTransferColor = "#c98a4b";
// By part: compute, exposed, bubble, idle; the last is the ground.
constexpr std::array<const char*, kParts> kPartColors = {"#4e8fff", "#f0625a", "#9aa4b4", ""};
constexpr double kMinPiece = 0.6;  // pixels; narrower pieces of one colour are drawn as one

/// Draws pieces that grow along x, neighbours of one colour as one.
class LanePieces {
 public:
  LanePieces(Svg& svg, double y, double scale) : svg_(svg), y_(y), scale_(scale) {}
  ~LanePieces() { flush(); }

  void add(int64_t begin, int64_t end, const char* color) {
    const double from = kStepLabel + static_cast<double>(begin) * scale_;
    const double to = kStepLabel + static_cast<double>(end) * scale_;
    const bool joins = color == color_ && from - to_ < kMinPiece;
    // A part that is too narrow to be seen joins the one before it.
    if (!joins && to - from < kMinPiece && from - to_ < kMinPiece && color_ != nullptr) return;
    if (!joins) {
      flush();
      from_ = from;
      color_ = color;
    }
    to_ = std::max(to_, to);
  }

 private:
  void flush() {
    if (color_ != nullptr && *color_ != '\0')
      svg_.rect(from_, y_, std::max(to_ - from_, kMinPiece), kLaneHeight, color_);
    to_ = from_;
  }

  Svg& svg_;
  double y_, scale_;
  double from_ = 0, to_ = 0;
  const char* color_ = nullptr;
};

void draw_legend(Svg& svg) {
  constexpr std::array kEntries = {
      std::pair{"#4e8fff", "compute"}, std::pair{"#f0625a", "exposed: compute waits for it"},
      std::pair{"#9aa4b4", "pipeline bubble"}, std::pair{"#c98a4b", "transfers"}};
  double x = kStepLabel;
  for (const auto& [color, words] : kEntries) {
    svg.rect(x, 4, 10, 10, color);
    svg.text(x + 14, 13, words);
    x += 14 + text_width(words) + 16;
  }
}

}  // namespace

std::optional<Svg> timeline_picture(const Report& report) {
  if (report.steps.empty()) return std::nullopt;
  int64_t longest = 1;
  for (const ReportStep& step : report.steps) longest = std::max(longest, step.side.step_us);
  const double scale = (kStepWidth - kStepLabel - 8) / static_cast<double>(longest);
  Svg svg(kStepWidth, kStepHead + static_cast<double>(report.steps.size()) * kStepRow + kStepFoot);
  draw_legend(svg);
  const double bottom = kStepHead + static_cast<double>(report.steps.size()) * kStepRow;
  const std::vector<double> ticks = round_ticks(0, static_cast<double>(longest) * 1e-6, 6);
  const std::vector<std::string> times = tick_texts(
      ticks, [](double tick, int more) { return tick == 0 ? "0" : seconds_text(tick, more); });
  for (size_t i = 0; i < ticks.size(); ++i) {
    const double x = kStepLabel + ticks[i] * 1e6 * scale;
    svg.line(x, kStepHead - 4, x, bottom - 8, kFrame, 0.5);
    svg.text(x, bottom + 8, times[i], Svg::Anchor::middle);
  }
  double y = kStepHead;
  for (const ReportStep& step : report.steps) {
    svg.text(0, y + 13, run_number(step.run), Svg::Anchor::start, color_of(report, step.run), true);
    svg.text(24, y + 13, seconds_text(static_cast<double>(step.side.step_us) * 1e-6));
    {
      LanePieces spent(svg, y, scale);
      for (const Stretch& stretch : stretches_of(step.side.spans, step.side.step_us))
        spent.add(stretch.begin, stretch.end, kPartColors[static_cast<size_t>(stretch.part)]);
    }
    std::vector<const telemetry::Span*> transfers;
    for (const telemetry::Span& span : step.side.spans)
      if (span.stream == telemetry::kTransfer) transfers.push_back(&span);
    std::ranges::sort(transfers, {}, &telemetry::Span::start_us);
    {
      LanePieces lane(svg, y + kLaneHeight + 2, scale);
      for (const telemetry::Span* span : transfers)
        lane.add(span->start_us, span->start_us + span->duration_us, kTransferColor);
    }
    y += kStepRow;
  }
  return svg;
}

}  // namespace heddle::workbench
