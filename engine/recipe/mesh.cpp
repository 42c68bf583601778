#include "engine/recipe/mesh.h"

#include <fmt/format.h>

namespace heddle::recipe {
std::string transfer_group(int64_t from, int64_t to) {
  return fmt::format("pp stage {} to {}", from, to);
}

Mesh::Mesh(const Degrees& degrees) {
  for (size_t i = 0; i < kAxes.size(); ++i) sizes_[i] = degrees.*kAxes[i].degree;
}

int64_t Mesh::size(Dims dims) const {
  int64_t ranks = 1;
  for (size_t i = 0; i < kAxes.size(); ++i)
    if (dims >> i & 1) ranks *= sizes_[i];
  return ranks;
}

int64_t Mesh::index(int64_t rank, Dims dims) const {
  int64_t index = 0, stride = 1;
  for (size_t i = kAxes.size(); i-- > 0;) {
    const int64_t coordinate = rank % sizes_[i];
    rank /= sizes_[i];
    if (!(dims >> i & 1)) continue;
    index += coordinate * stride;
    stride *= sizes_[i];
  }
  return index;
}

std::vector<int> Mesh::group(int64_t rank, Dims dims) const {
  std::array<int64_t, kAxes.size()> strides{};
  int64_t first = rank, stride = 1;
  for (size_t i = kAxes.size(); i-- > 0;) {
    strides[i] = stride;
    if (dims >> i & 1) first -= rank / stride % sizes_[i] * stride;
    stride *= sizes_[i];
  }
  // The outermost dimension first, so that ranks ascend.
  std::vector<int> ranks = {static_cast<int>(first)};
  for (size_t i = 0; i < kAxes.size(); ++i) {
    if (!(dims >> i & 1)) continue;
    std::vector<int> along;
    for (const int member : ranks)
      for (int64_t at = 0; at < sizes_[i]; ++at)
        along.push_back(member + static_cast<int>(at * strides[i]));
    ranks = std::move(along);
  }
  return ranks;
}

std::string Mesh::name(Dims dims) const {
  std::string name;
  for (size_t i = 0; i < kAxes.size(); ++i)
    if ((dims >> i & 1) && sizes_[i] > 1)
      name += (name.empty() ? "" : "+") + std::string(kAxes[i].name);
  return name;
}

}  // namespace heddle::recipe
