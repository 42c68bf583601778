#include "engine/recipe/mesh.h"

#include <fmt/format.h>

namespace heddle::recipe {
namespace {

constexpr std::array<const char*, kDimensions> kNames = {"pp", "dp_replicate", "dp_shard", "cp",
                                                         "tp"};

}  // namespace

std::string transfer_group(int64_t from, int64_t to) {
  return fmt::format("pp stage {} to {}", from, to);
}

Mesh::Mesh(const Parallelism& p) : sizes_{p.pp, p.dp_replicate, p.dp_shard, p.cp, p.tp} {}

int64_t Mesh::size(Dims dims) const {
  int64_t ranks = 1;
  for (size_t i = 0; i < kDimensions; ++i)
    if (dims >> i & 1) ranks *= sizes_[i];
  return ranks;
}

int64_t Mesh::index(int64_t rank, Dims dims) const {
  int64_t index = 0, stride = 1;
  for (size_t i = kDimensions; i-- > 0;) {
    const int64_t coordinate = rank % sizes_[i];
    rank /= sizes_[i];
    if (!(dims >> i & 1)) continue;
    index += coordinate * stride;
    stride *= sizes_[i];
  }
  return index;
}

std::vector<int> Mesh::group(int64_t rank, Dims dims) const {
  std::vector<int> ranks;
  const Dims others = kWorld & ~dims;
  for (int64_t other = 0; other < size(); ++other)
    if (index(other, others) == index(rank, others)) ranks.push_back(static_cast<int>(other));
  return ranks;
}

std::string Mesh::name(Dims dims) const {
  std::string name;
  for (size_t i = 0; i < kDimensions; ++i)
    if ((dims >> i & 1) && sizes_[i] > 1)
      name += (name.empty() ? "" : "+") + std::string(kNames[i]);
  return name;
}

}  // namespace heddle::recipe
