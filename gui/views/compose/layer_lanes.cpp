#include "gui/views/compose/layer_lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/recipe/stages.h"
#include "gui/views/compose/bucket_list.h"

namespace heddle::gui {
namespace {

constexpr int kNarrowest = 7, kWidest = 44, kTall = 16, kRow = 18;
constexpr int kLane = 22;
constexpr double kBetween = 6;  // between two stages of one rank

}  // namespace

LayerLanes::LayerLanes(const recipe::Recipe& recipe, int width, int note) : width_(width) {
  const auto layers = static_cast<int>(std::max<int64_t>(0, recipe.model.n_layers));
  if (layers == 0) return;
  cells_.resize(static_cast<size_t>(outerModules(recipe.model)));
  const int64_t pp = recipe.parallelism.pp;
  if (pp > 1 && pp <= layers) {
    const std::vector<int64_t> stages = recipe::layers_of_stages(recipe);
    const bool fits = std::accumulate(stages.begin(), stages.end(), int64_t{0}) == layers &&
                      static_cast<int64_t>(stages.size()) % pp == 0 &&
                      std::ranges::all_of(stages, [](int64_t count) { return count > 0; });
    if (fits) {
      lanes_ = static_cast<int>(pp);
      inLanes(stages, width, note);
      return;
    }
  }
  inRows(layers, width);
}

void LayerLanes::inRows(int layers, int width) {
  const int most = std::max(1, width / kNarrowest);
  const int rows = (layers + most - 1) / most;
  const int across = (layers + rows - 1) / rows;
  const double pitch = static_cast<double>(width) / across;
  for (int layer = 0; layer < layers; ++layer)
    cells_[static_cast<size_t>(layer) + 1] = {
        layer % across * pitch, static_cast<double>(layer / across * kRow), pitch - 1, kTall};
  height_ = rows * kRow;
}

void LayerLanes::inLanes(const std::vector<int64_t>& stages, int width, int note) {
  const auto ranks = static_cast<size_t>(lanes_);
  std::vector<int64_t> held(ranks, 0);
  for (size_t stage = 0; stage < stages.size(); ++stage) held[stage % ranks] += stages[stage];
  ++held.front();                          // the embedding
  held[(stages.size() - 1) % ranks] += 2;  // norm and output
  const auto most = static_cast<double>(*std::ranges::max_element(held));
  const double between = kBetween * (static_cast<double>(stages.size() / ranks) - 1);
  const double pitch = std::clamp((width - kName - note - between) / most, 2.0, double{kWidest});
  std::vector<double> x(ranks, kName);
  size_t module = 0;
  const auto place = [&](size_t rank, int64_t count) {
    for (; count > 0; --count) {
      cells_[module++] = {x[rank], static_cast<double>(rank) * kLane + 3, pitch - 1, kTall};
      x[rank] += pitch;
    }
  };
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    const size_t rank = stage % ranks;
    const bool last = stage + 1 == stages.size();
    place(rank, stages[stage] + (stage == 0 ? 1 : 0) + (last ? 2 : 0));
    x[rank] += kBetween;
  }
  height_ = lanes_ * kLane;
}

QRectF LayerLanes::lane(int index) const {
  return {0, static_cast<double>(index * kLane), static_cast<double>(width_), double{kLane}};
}

int LayerLanes::at(const QPointF& place) const {
  int nearest = -1;
  double least = std::numeric_limits<double>::max();
  for (int module = 0; module < modules(); ++module) {
    const QRectF at = cell(module);
    if (at.isNull()) continue;
    const double dx = std::max({at.left() - place.x(), 0.0, place.x() - at.right()});
    const double dy = std::max({at.top() - place.y(), 0.0, place.y() - at.bottom()});
    // Rows count more than columns: a place after a lane's end is of that lane.
    const double far = dx + dy * width_;
    if (far < least) least = far, nearest = module;
  }
  return nearest;
}

}  // namespace heddle::gui
