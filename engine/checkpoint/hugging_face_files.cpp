#include "engine/checkpoint/hugging_face_files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/checkpoint/numbers.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNumbersBytes = int64_t{8} << 20;

Result<HuggingFaceFiles> open_single(const std::string& path) {
  auto file = SafetensorsFile::open(path);
  if (!file) return fail(file);
  HuggingFaceFiles all;
  for (const TensorInfo& tensor : file->tensors()) all.file_of.emplace(tensor.name, 0);
  all.files.push_back(std::move(*file));
  return all;
}

/// The files of an index that hold tensors which are wanted.
Result<HuggingFaceFiles> open_sharded(const fs::path& folder, const Wanted& wanted) {
  const std::string index_path = folder / kHuggingFaceIndex;
  const auto index = read_json_file(index_path);
  if (!index) return fail(index);
  if (!index->is_object() || !index->contains("weight_map") || !(*index)["weight_map"].is_object())
    return fail("{}: no \"weight_map\" of tensors to files", index_path);
  HuggingFaceFiles all;
  std::map<std::string, size_t> opened;
  for (const auto& [tensor, shard] : index->at("weight_map").items()) {
    if (wanted && !wanted(tensor)) continue;
    constexpr std::string_view kNoName("/\0", 2);
    if (!shard.is_string() ||
        shard.get_ref<const std::string&>().find_first_of(kNoName) != std::string::npos)
      return fail("{}: \"{}\" is in {}; valid: a file of the same folder", index_path, tensor,
                  json_text(shard));
    const auto& name = shard.get_ref<const std::string&>();
    const auto [place, is_new] = opened.emplace(name, all.files.size());
    if (is_new) {
      auto file = SafetensorsFile::open(folder / name);
      if (!file) return fail(file);
      all.files.push_back(std::move(*file));
    }
    all.file_of.emplace(tensor, place->second);
  }
  return all;
}

struct Stored {
  const SafetensorsFile* file;
  const TensorInfo* tensor;

  /// Numbers [begin, begin + out.size()) as fp32.
  void read(int64_t begin, std::span<float> out) const {
    const auto size = static_cast<size_t>(bytes_of(tensor->dtype));
    const auto bytes =
        file->data(*tensor).subspan(static_cast<size_t>(begin) * size, out.size() * size);
    to_floats(tensor->dtype, bytes, out.data());
    file->release(bytes);
  }
};

/// Whether two tensors of numbers are the same. A piece at a time, to the first difference.
bool are_alike(const Stored& one, const Stored& other) {
  const int64_t numbers = one.tensor->elements();
  const int64_t piece = std::min<int64_t>(numbers, kNumbersBytes / sizeof(float));
  std::vector<float> left(static_cast<size_t>(piece)), right(left.size());
  for (int64_t begin = 0; begin < numbers; begin += piece) {
    const auto count = static_cast<size_t>(std::min(piece, numbers - begin));
    one.read(begin, std::span(left).first(count));
    other.read(begin, std::span(right).first(count));
    if (!std::equal(left.begin(), left.begin() + static_cast<ptrdiff_t>(count), right.begin()))
      return false;
  }
  return true;
}

}  // namespace

Result<HuggingFaceFiles> open_files(const std::string& folder, const Wanted& wanted) {
  const fs::path path = folder;
  if (fs::exists(path / kHuggingFaceWeights)) return open_single(path / kHuggingFaceWeights);
  if (fs::exists(path / kHuggingFaceIndex)) return open_sharded(path, wanted);
  return fail("{}: neither {} nor {}; valid: a Hugging Face folder", folder, kHuggingFaceWeights,
              kHuggingFaceIndex);
}

bool has_own_head(const HuggingFaceFiles& files) {
  if (!files.has(kHead) || !files.has(kEmbedding)) return false;
  const auto stored = [&](std::string_view name) {
    return Stored{&files.file(name), files.file(name).find(name)};
  };
  const Stored head = stored(kHead), embedding = stored(kEmbedding);
  for (const Stored& one : {head, embedding})  // else their reader says what is wrong
    if (one.tensor == nullptr || !is_floating_point(one.tensor->dtype)) return false;
  return head.tensor->shape != embedding.tensor->shape || !are_alike(head, embedding);
}

}  // namespace heddle::checkpoint
