#include "engine/checkpoint/weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/checkpoint/step_folders.h"

namespace heddle::checkpoint {

using holdings::Box;
using holdings::Parameter;

namespace {

/// A run's folder is no checkpoint, but holds some.
Result<> check_is_one(const std::string& folder) {
  const std::vector<std::string> inside = checkpoints_in(folder);
  if (is_checkpoint(folder) || inside.empty()) return {};
  return fail("{}: holds checkpoints, but is none; valid: {}/{}", folder, folder, inside.front());
}

Result<> read_box(const HuggingFaceCheckpoint& source, const Parameter& parameter, const Box& box,
                  float* out) {
  if (box.columns() == parameter.columns()) {
    auto done = source.read_rows(parameter.name(), box.row_begin, box.row_end, out);
    source.release(parameter.name());
    return done;
  }
  std::vector<float> row(static_cast<size_t>(parameter.columns()));
  for (int64_t r = box.row_begin; r < box.row_end; ++r, out += box.columns()) {
    if (auto done = source.read_rows(parameter.name(), r, r + 1, row.data()); !done) return done;
    std::copy_n(row.data() + box.column_begin, box.columns(), out);
  }
  source.release(parameter.name());
  return {};
}

Result<> read_box(const Checkpoint& source, const Parameter& parameter, const Box& box,
                  float* out) {
  return source.read(parameter.name(), box, out);
}

std::string where(const HuggingFaceCheckpoint&, const Parameter& parameter, int64_t row) {
  return fmt::format("tensor \"{}\", row {}", parameter.hugging_face_name,
                     parameter.hugging_face_row(row));
}

std::string where(const Checkpoint&, const Parameter& parameter, int64_t row) {
  return fmt::format("tensor \"{}\", row {}", parameter.name(), row);
}

}  // namespace

Box whole_box(const Parameter& parameter) { return {0, parameter.rows(), 0, parameter.columns()}; }

Result<recipe::Model> read_model(const std::string& folder) {
  if (auto one = check_is_one(folder); !one) return fail(one);
  if (!is_checkpoint(folder)) return read_hugging_face_model(folder);
  const auto opened = Checkpoint::open(folder);
  if (!opened) return fail(opened);
  if (auto known = opened->check_format(); !known) return fail(known);
  recipe::Model model = opened->manifest().recipe.model;
  model.preset.clear();
  model.checkpoint.clear();
  return model;
}

Result<Weights> Weights::open(const std::string& folder, const recipe::Model& model) {
  if (auto one = check_is_one(folder); !one) return fail(one);
  if (!is_checkpoint(folder)) {
    auto opened = HuggingFaceCheckpoint::open(folder, model);
    if (!opened) return fail(opened);
    return Weights(folder, std::move(*opened));
  }
  auto opened = Checkpoint::open(folder);
  if (!opened) return fail(opened);
  if (auto fits = opened->check_model(model); !fits) return fail(fits);
  return Weights(folder, std::move(*opened));
}

std::vector<std::string> Weights::notes() const {
  const auto* folder = std::get_if<HuggingFaceCheckpoint>(&source_);
  return folder ? folder->notes() : std::vector<std::string>();
}

Result<> Weights::read(const Parameter& parameter, const Box& box, float* out) const {
  return std::visit(
      [&](const auto& source) -> Result<> {
        if (auto done = read_box(source, parameter, box, out); !done) return done;
        const std::span<const float> numbers(out, box.rows() * box.columns());
        const auto bad =
            std::ranges::find_if_not(numbers, [](float x) { return std::isfinite(x); });
        if (bad == numbers.end()) return {};
        const int64_t place = bad - numbers.begin();
        return fail("{}: {}, column {} is {}; valid: finite weights", folder_,
                    where(source, parameter, box.row_begin + place / box.columns()),
                    box.column_begin + place % box.columns(), *bad);
      },
      source_);
}

}  // namespace heddle::checkpoint
