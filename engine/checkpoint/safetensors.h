// The safetensors file format: a header of JSON (name → type, shape, place), then the tensors'
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace heddle::checkpoint {

enum class Dtype {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  f8_e4m3,
  f8_e5m2
};

/// Bytes of one element.
int64_t bytes_of(Dtype dtype);
/// The format's name, as in "BF16".
std::string_view name_of(Dtype dtype);

/// One tensor as a header describes it.
struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;

  int64_t elements() const;
  int64_t bytes() const { return elements() * bytes_of(dtype); }
  bool operator==(const TensorInfo&) const = default;
};

/// "[128256, 4096]": a shape as errors write it.
std::string shape_text(std::span<const int64_t> shape);

using Metadata = std::map<std::string, std::string>;  // the header's __metadata__

/// A safetensors file, mapped into memory for reading. `open` checks the whole header against the
/// file's size, so every tensor can be read. Threads: const members may run side by side.
class SafetensorsFile {
 public:
  /// Errors name the file and the tensor: cut short, overlapping, a size that is not its shape's, …
  static Result<SafetensorsFile> open(const std::string& path);

  /// In the order of their bytes in the file.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  const std::string& path() const { return path_; }

  const TensorInfo* find(std::string_view name) const;
  /// The bytes of a tensor of this file (little-endian, row-major), valid as long as the file
  /// object. They need not be aligned: copy before reading as numbers.
  std::span<const std::byte> data(const TensorInfo& tensor) const;
  /// Bytes of the file that are not read again soon: their pages no longer count as this process's
  /// memory. They stay readable.
  void release(std::span<const std::byte> bytes) const;

 private:
  SafetensorsFile() = default;

  std::string path_;
  std::shared_ptr<const std::byte> mapped_;
  std::vector<TensorInfo> tensors_;
  std::vector<size_t> offsets_;  // of tensors_[i] in the mapped file
  std::unordered_map<std::string, size_t> by_name_;
  Metadata metadata_;
};

/// Writes a safetensors file front to back: the tensors are declared first, then their bytes follow
/// in the declared order, in pieces of any size. Until `finish` it has another name; a writer that
/// is dropped removes it.
class SafetensorsWriter {
 public:
  static Result<SafetensorsWriter> create(const std::string& path,
                                          const std::vector<TensorInfo>& tensors,
                                          const Metadata& metadata = {});
  SafetensorsWriter(SafetensorsWriter&&) noexcept;
  SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
  ~SafetensorsWriter();

  Result<> write(std::span<const std::byte> bytes);
  /// All declared bytes must have come. Makes the file durable, then gives it its name.
  Result<> finish();

 private:
  struct Output;
  explicit SafetensorsWriter(std::unique_ptr<Output> output);
  std::unique_ptr<Output> output_;
};

}  // namespace heddle::checkpoint
