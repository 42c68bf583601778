#include "engine/checkpoint/safetensors_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "base/read_json.h"

namespace heddle::checkpoint {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kAlignment = 8;
// Enough for a million tensors.
constexpr Budget kHeaderBudget{.bytes = kMaxHeaderBytes, .values = 12'000'000, .depth = 8};

struct DtypeEntry {
  Dtype dtype;
  std::string_view name;
  int64_t bytes;
};
constexpr std::array kDtypes = {
    DtypeEntry{Dtype::f64, "F64", 8},        DtypeEntry{Dtype::f32, "F32", 4},
    DtypeEntry{Dtype::f16, "F16", 2},        DtypeEntry{Dtype::bf16, "BF16", 2},
    DtypeEntry{Dtype::i64, "I64", 8},        DtypeEntry{Dtype::i32, "I32", 4},
    DtypeEntry{Dtype::i16, "I16", 2},        DtypeEntry{Dtype::i8, "I8", 1},
    DtypeEntry{Dtype::u64, "U64", 8},        DtypeEntry{Dtype::u32, "U32", 4},
    DtypeEntry{Dtype::u16, "U16", 2},        DtypeEntry{Dtype::u8, "U8", 1},
    DtypeEntry{Dtype::boolean, "BOOL", 1},   DtypeEntry{Dtype::f8_e4m3, "F8_E4M3", 1},
    DtypeEntry{Dtype::f8_e5m2, "F8_E5M2", 1}};

const DtypeEntry& entry_of(Dtype dtype) {
  return *std::ranges::find(kDtypes, dtype, &DtypeEntry::dtype);
}

/// A tensor's bytes as the header places them, relative to the end of the header.
struct DataPlace {
  uint64_t begin = 0;
  uint64_t end = 0;
};

bool is_count(const json& value) { return value.is_number_unsigned(); }

Result<TensorInfo> read_tensor(const std::string& name, const json& entry, DataPlace& place) {
  const auto member = [&](const char* key) {
    return entry.is_object() && entry.contains(key) ? entry[key] : json();
  };
  TensorInfo tensor;
  tensor.name = name;
  const json dtype = member("dtype");
  const auto known = std::ranges::find_if(
      kDtypes, [&](const DtypeEntry& one) { return dtype.is_string() && dtype == one.name; });
  if (known == kDtypes.end()) {
    std::vector<std::string_view> names;
    for (const DtypeEntry& one : kDtypes) names.push_back(one.name);
    return fail("tensor \"{}\": dtype {} is not known; valid: {}", name, json_text(dtype),
                fmt::join(names, ", "));
  }
  tensor.dtype = known->dtype;

  const json shape = member("shape");
  if (!shape.is_array() || !std::ranges::all_of(shape, is_count))
    return fail("tensor \"{}\": shape {} is not a list of sizes", name, json_text(shape));
  uint64_t bytes = static_cast<uint64_t>(known->bytes);
  for (const json& size : shape) {
    uint64_t product = 0;
    const auto count = size.get<uint64_t>();
    if (!std::in_range<int64_t>(count) || __builtin_mul_overflow(bytes, count, &product) ||
        !std::in_range<int64_t>(product))
      return fail("tensor \"{}\": shape {} is too large", name, json_text(shape));
    bytes = product;
    tensor.shape.push_back(static_cast<int64_t>(count));
  }

  const json offsets = member("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, is_count) ||
      offsets[0] > offsets[1])
    return fail("tensor \"{}\": data_offsets {} are not [begin, end]", name, json_text(offsets));
  place = {offsets[0].get<uint64_t>(), offsets[1].get<uint64_t>()};
  if (place.end - place.begin != bytes)
    return fail("tensor \"{}\": {} {} needs {} bytes, but data_offsets {} hold {}", name,
                known->name, shape_text(tensor.shape), bytes, json_text(offsets),
                place.end - place.begin);
  return tensor;
}

Result<Metadata> read_metadata(const json& entry) {
  Metadata metadata;
  if (!entry.is_object()) return fail("__metadata__ is not an object of texts");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) return fail("__metadata__: \"{}\" is not a text", key);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// The tensors must fill the file's data from its start to its end, one after the other.
Result<> check_data_places(std::vector<std::pair<TensorInfo, DataPlace>>& tensors,
                           uint64_t data_bytes) {
  std::ranges::stable_sort(tensors, [](const auto& a, const auto& b) {
    return std::pair(a.second.begin, a.second.end) < std::pair(b.second.begin, b.second.end);
  });
  uint64_t end = 0;
  const std::string* before = nullptr;
  for (const auto& [tensor, place] : tensors) {
    if (place.begin < end)
      return fail("tensors \"{}\" and \"{}\" overlap: one ends at byte {}, the other begins at {}",
                  *before, tensor.name, end, place.begin);
    if (place.begin > end)
      return fail("tensor \"{}\" begins at byte {}, but byte {} follows what is before it",
                  tensor.name, place.begin, end);
    if (place.end > data_bytes)
      return fail(
          "tensor \"{}\" ends at byte {} of the data, but the file holds only {}: cut short",
          tensor.name, place.end, data_bytes);
    end = place.end;
    before = &tensor.name;
  }
  if (end != data_bytes)
    return fail("{} bytes follow the last tensor; valid: none", data_bytes - end);
  return {};
}

}  // namespace

int64_t bytes_of(Dtype dtype) { return entry_of(dtype).bytes; }
std::string_view name_of(Dtype dtype) { return entry_of(dtype).name; }

int64_t TensorInfo::elements() const {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes)
    return fail("not a safetensors file: {} bytes are too few", file.size());
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (std::cmp_greater(length, kMaxHeaderBytes))
    return fail("not a safetensors file: a header of {} bytes (at most {})", length,
                kMaxHeaderBytes);
  if (length > file.size() - kLengthBytes)
    return fail("cut short: the header needs {} bytes, the file holds {}", length + kLengthBytes,
                file.size());
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              static_cast<size_t>(length));
  // No white space comes before it: the format.
  if (!text.starts_with('{'))
    return fail("not a safetensors file: its header is not a JSON object");
  const auto parsed = read_json(text, kHeaderBudget);
  if (!parsed) return fail("its header: {}", parsed.error().message);

  SafetensorsHeader header;
  std::vector<std::pair<TensorInfo, DataPlace>> tensors;
  for (const auto& [name, entry] : parsed->items()) {
    if (name == "__metadata__") {
      auto metadata = read_metadata(entry);
      if (!metadata) return fail(metadata);
      header.metadata = std::move(*metadata);
      continue;
    }
    DataPlace place;
    auto tensor = read_tensor(name, entry, place);
    if (!tensor) return fail(tensor);
    tensors.emplace_back(std::move(*tensor), place);
  }
  const size_t data_begin = kLengthBytes + length;
  if (auto done = check_data_places(tensors, file.size() - data_begin); !done) return fail(done);
  for (auto& [tensor, place] : tensors)
    header.tensors.emplace_back(std::move(tensor), data_begin + place.begin);
  return header;
}

std::string safetensors_header(const std::vector<TensorInfo>& tensors, const Metadata& metadata) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  int64_t end = 0;
  for (const TensorInfo& tensor : tensors) {
    const int64_t begin = end;
    end += tensor.bytes();
    json[tensor.name] = {
        {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = json_text(json);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = text.size();
  std::string header(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, kLengthBytes);
  return header + text;
}

}  // namespace heddle::checkpoint
