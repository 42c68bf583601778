// The scaled matrices of torchao (tests/fixtures/float8), as tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <QString>
#include <cstring>

#include "engine/checkpoint/safetensors.h"

/// A tensor of the fixture, by its name; types of 8 bits are there as bytes.
inline at::Tensor float8_fixture(const QString& name, at::ScalarType type) {
  using heddle::checkpoint::SafetensorsFile;
  static const auto file = [] {
    auto opened =
        SafetensorsFile::open(HEDDLE_SOURCE_DIR "/tests/fixtures/float8/float8.safetensors");
    if (!opened) qFatal("%s", opened.error().message.c_str());
    return std::move(*opened);
  }();
  const auto* info = file.find(name.toStdString());
  if (!info) qFatal("no tensor %s", qPrintable(name));
  const auto bytes = file.data(*info);
  at::Tensor tensor = at::empty(info->shape, type);
  if (tensor.nbytes() != bytes.size()) qFatal("%s has another type", qPrintable(name));
  std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return tensor;
}
