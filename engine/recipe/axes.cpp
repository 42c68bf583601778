#include "engine/recipe/axes.h"

#include <fmt/format.h>

namespace heddle::recipe {
namespace {

constexpr bool each_has_its_place() {
  for (size_t i = 0; i < kAxes.size(); ++i)
    if (kAxes[i].dim != Dims{1} << i || kAxesAsWritten[i]->written != static_cast<int>(i))
      return false;
  return true;
}
static_assert(each_has_its_place());
static_assert(sizeof(Degrees) == kAxes.size() * sizeof(int64_t));

}  // namespace

std::vector<std::string> keys_along(Dims dims) {
  std::vector<std::string> keys;
  for (const Axis* axis : kAxesAsWritten)
    if ((axis->dim & dims) != 0) keys.push_back(axis->key());
  return keys;
}

Degrees keep_degrees(const Degrees& degrees, Dims dims) {
  Degrees kept = degrees;
  for (const Axis& axis : kAxes)
    if ((axis.dim & dims) == 0) kept.*axis.degree = 1;
  return kept;
}

std::vector<int64_t> list_degrees(const Degrees& degrees) {
  std::vector<int64_t> list;
  for (const Axis& axis : kAxes) list.push_back(degrees.*axis.degree);
  return list;
}

std::optional<Degrees> degrees_of(const std::vector<int64_t>& list) {
  if (list.size() != kAxes.size()) return std::nullopt;
  Degrees degrees;
  for (size_t i = 0; i < list.size(); ++i) degrees.*kAxes[i].degree = list[i];
  return degrees;
}

std::string degrees_text(const Degrees& degrees) {
  std::string text;
  for (const Axis& axis : kAxes)
    if (const int64_t degree = degrees.*axis.degree; degree > 1)
      text += fmt::format("{}{} {}", text.empty() ? "" : " × ", axis.name, degree);
  return text.empty() ? "one rank" : text;
}

}  // namespace heddle::recipe
