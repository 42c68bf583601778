// Tensors of safetensors files as numbers, and how far apart they are.
#pragma once

#include <QString>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/checkpoint/safetensors.h"

using heddle::checkpoint::SafetensorsFile;

inline SafetensorsFile open(const QString& path) {
  auto file = SafetensorsFile::open(path.toStdString());
  if (!file) qFatal("%s", file.error().message.c_str());
  return std::move(*file);
}

/// The fp32 numbers of a tensor; none where the file has no such tensor.
inline std::vector<float> numbers(const SafetensorsFile& file, const std::string& name) {
  const auto* info = file.find(name);
  if (!info) return {};
  const auto bytes = file.data(*info);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline double largest(const std::vector<float>& values) {
  double most = 0;
  for (float value : values) most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}
