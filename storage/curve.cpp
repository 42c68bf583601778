#include "storage/curve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "storage/chunk.h"

namespace heddle::storage {

void Curve::add(int64_t step, double value) {
  while (!points_.empty() && points_.back().step >= step) points_.pop_back();
  const uint64_t index = seen_++;
  if (index < skip_ || (index - skip_) % stride_ != 0) return;
  points_.push_back({step, value});
  if (points_.size() <= capacity_) return;
  for (size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize((points_.size() + 1) / 2);
  stride_ *= 2;
}

double Curve::median() const {
  std::vector<double> values;
  for (const Point& point : points_) {
    if (std::isfinite(point.value)) values.push_back(point.value);
  }
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string Curve::bytes() const {
  std::string bytes(2 * sizeof(uint64_t) + points_.size() * sizeof(Point), '\0');
  std::memcpy(bytes.data(), &stride_, sizeof stride_);
  std::memcpy(bytes.data() + sizeof stride_, &seen_, sizeof seen_);
  if (!points_.empty()) {
    std::memcpy(bytes.data() + 2 * sizeof(uint64_t), points_.data(),
                points_.size() * sizeof(Point));
  }
  return bytes;
}

void Curve::load(std::string_view bytes) {
  if (bytes.size() < 2 * sizeof(uint64_t)) return;
  uint64_t stride = 0;
  std::memcpy(&stride, bytes.data(), sizeof stride);
  const size_t points = (bytes.size() - 2 * sizeof(uint64_t)) / sizeof(Point);
  if (stride == 0 || stride > kLastStep || points > capacity_) return;
  stride_ = stride;
  std::memcpy(&seen_, bytes.data() + sizeof stride_, sizeof seen_);
  points_.resize(points);
  if (!points_.empty()) {
    std::memcpy(points_.data(), bytes.data() + 2 * sizeof(uint64_t),
                points_.size() * sizeof(Point));
  }
}

}  // namespace heddle::storage
