// data.token_ids: ids that are fed as they are.
#include <algorithm>
#include <cstring>

#include "engine/checkpoint/safetensors.h"
#include "engine/data/token_files.h"
#include "engine/data/token_source.h"

namespace heddle::data {
namespace {

using checkpoint::SafetensorsFile;
using checkpoint::TensorInfo;

/// The file stays mapped.
class MappedIds : public TokenSource {
 public:
  MappedIds(SafetensorsFile file, std::span<const std::byte> bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  Result<Known> await(int64_t) override {
    return Known{static_cast<int64_t>(bytes_.size() / sizeof(int64_t)), true};
  }
  Result<> read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const override {
    std::memcpy(ids.data(), bytes_.data() + at * static_cast<int64_t>(sizeof(int64_t)),
                ids.size_bytes());
    file_.release(bytes_.subspan(static_cast<size_t>(at) * sizeof(int64_t), ids.size_bytes()));
    std::ranges::fill(begins, 0);
    return {};
  }

 private:
  SafetensorsFile file_;
  std::span<const std::byte> bytes_;
};

Result<> check_ids(const SafetensorsFile& file, std::span<const std::byte> bytes,
                   int64_t vocab_size) {
  for (size_t i = 0; i < bytes.size() / sizeof(int64_t); ++i) {
    int64_t id = 0;
    std::memcpy(&id, bytes.data() + i * sizeof(id), sizeof(id));
    if (id < 0 || id >= vocab_size)
      return fail("data.token_ids: {}: input_ids holds {} (at {}); valid: 0 to {}", file.path(), id,
                  i, vocab_size - 1);
  }
  file.release(bytes);
  return {};
}

tl::unexpected<Error> no_documents() {
  return fail(
      "data.document_mask: data.token_ids does not say where documents begin; valid: false, or "
      "data.text, or Megatron's .bin with its .idx");
}

}  // namespace

Result<std::unique_ptr<TokenSource>> open_token_ids(const recipe::Data& data, int64_t global_batch,
                                                    int64_t vocab_size) {
  if (is_token_file(data.token_ids)) {
    auto numbers = open_token_file(data.token_ids, vocab_size);
    if (numbers && data.document_mask && !knows_documents(data.token_ids)) return no_documents();
    return numbers;
  }
  if (data.document_mask) return no_documents();
  auto file = SafetensorsFile::open(data.token_ids);
  if (!file) return fail("data.token_ids: {}", file.error().message);
  const TensorInfo* tensor = file->find("input_ids");
  if (!tensor)
    return fail(
        "data.token_ids: {}: no tensor \"input_ids\"; valid: I64 [steps, batch, seq_len + 1]",
        data.token_ids);
  if (tensor->dtype != checkpoint::Dtype::i64 || tensor->shape.size() != 3 || tensor->shape[0] < 1)
    return fail("data.token_ids: {}: input_ids is {} {}; valid: I64 [steps, batch, seq_len + 1]",
                data.token_ids, name_of(tensor->dtype), checkpoint::shape_text(tensor->shape));
  if (tensor->shape[2] != data.seq_len + 1)
    return fail("data.seq_len: {}, but {} holds sequences of {} tokens; valid: {}", data.seq_len,
                data.token_ids, tensor->shape[2], tensor->shape[2] - 1);
  if (tensor->shape[1] != global_batch)
    return fail("training.global_batch: {}, but {} holds {} sequences a step; valid: {}",
                global_batch, data.token_ids, tensor->shape[1], tensor->shape[1]);
  const auto bytes = file->data(*tensor);
  if (auto done = check_ids(*file, bytes, vocab_size); !done) return fail(done);
  return std::make_unique<MappedIds>(std::move(*file), bytes);
}

}  // namespace heddle::data
