#include "engine/telemetry/sample.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace heddle::telemetry {
namespace {

constexpr std::string_view kStep = "step ", kHow = ": sample (", kText = "): ";

}  // namespace

std::string sample_line(const Sample& sample) {
  return fmt::format("{}{}{}{}{}{}", kStep, sample.step, kHow, sample.how, kText, sample.text);
}

std::optional<Sample> sample_of(const std::string& line) {
  if (!line.starts_with(kStep)) return std::nullopt;
  Sample sample;
  const char* end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + kStep.size(), end, sample.step);
  std::string_view text(rest, static_cast<size_t>(end - rest));
  if (error != std::errc() || !text.starts_with(kHow)) return std::nullopt;
  text.remove_prefix(kHow.size());
  const size_t close = text.find(kText);
  if (close == std::string_view::npos) return std::nullopt;
  sample.how = text.substr(0, close);
  sample.text = text.substr(close + kText.size());
  return sample;
}

}  // namespace heddle::telemetry
