#include "engine/data/text_loader.h"

#include <algorithm>
#include <cstring>

#include "engine/checkpoint/safetensors.h"
#include "engine/data/documents.h"
#include "engine/data/shuffle.h"
#include "engine/data/tokenizer.h"

namespace heddle::data {
namespace {

using checkpoint::SafetensorsFile;
using checkpoint::TensorInfo;

Result<Tokenizer> load_tokenizer(const recipe::Data& data) {
  if (data.tokenizer.empty())
    return fail("data.tokenizer: data.text needs one; valid: a Hugging Face tokenizer.json");
  auto tokenizer = Tokenizer::load(data.tokenizer);
  if (!tokenizer) return fail("data.tokenizer: {}", tokenizer.error().message);
  return tokenizer;
}

Result<> check_vocabulary(const Tokenizer& tokenizer, const recipe::Data& data, int64_t rows) {
  if (tokenizer.vocab_size() <= rows) return {};
  return fail(
      "model.vocab_size: {} is smaller than the tokenizer's {} ({}); valid: {} or more, or 0 "
      "for the tokenizer's",
      rows, tokenizer.vocab_size(), data.tokenizer, tokenizer.vocab_size());
}

struct Text {
  std::vector<int32_t> tokens;
  std::vector<int64_t> documents;  // where each begins in `tokens`
};

/// All documents, each BOS + tokens + EOS.
Result<Text> read_text(const recipe::Data& data, int64_t vocab_size) {
  auto tokenizer = load_tokenizer(data);
  if (!tokenizer) return fail(tokenizer);
  if (auto done = check_vocabulary(*tokenizer, data, vocab_size); !done) return fail(done);
  Text all;
  std::vector<int32_t>& tokens = all.tokens;
  const auto add = [&](std::string_view text) -> Result<> {
    const auto ids = tokenizer->encode(text);
    if (!ids) return fail(ids);
    all.documents.push_back(static_cast<int64_t>(tokens.size()));
    if (tokenizer->bos_id()) tokens.push_back(*tokenizer->bos_id());
    tokens.insert(tokens.end(), ids->begin(), ids->end());
    if (tokenizer->eos_id()) tokens.push_back(*tokenizer->eos_id());
    return {};
  };
  if (auto done = for_each_document(data.text, add); !done)
    return fail("data.text: {}", done.error().message);
  const int64_t needed = data.seq_len + 1;
  if (static_cast<int64_t>(tokens.size()) < needed)
    return fail(
        "data.text: {} tokens, but one sample of data.seq_len {} needs {}; valid: more text or "
        "shorter sequences",
        tokens.size(), data.seq_len, needed);
  return all;
}

Result<std::vector<int32_t>> copy_ids(const SafetensorsFile& file, const TensorInfo& tensor,
                                      int64_t vocab_size) {
  const auto bytes = file.data(tensor);
  std::vector<int32_t> ids(bytes.size() / sizeof(int64_t));
  for (size_t i = 0; i < ids.size(); ++i) {
    int64_t id = 0;
    std::memcpy(&id, bytes.data() + i * sizeof(id), sizeof(id));
    if (id < 0 || id >= vocab_size)
      return fail("data.token_ids: {}: input_ids holds {} (at {}); valid: 0 to {}", file.path(), id,
                  i, vocab_size - 1);
    ids[i] = static_cast<int32_t>(id);
  }
  return ids;
}

Result<Text> read_token_ids(const recipe::Data& data, int64_t global_batch, int64_t vocab_size) {
  if (data.document_mask)
    return fail(
        "data.document_mask: data.token_ids does not say where documents begin; valid: "
        "false, or data.text");
  const auto file = SafetensorsFile::open(data.token_ids);
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
  auto ids = copy_ids(*file, *tensor, vocab_size);
  if (!ids) return fail(ids);
  return Text{std::move(*ids), {}};
}

}  // namespace

Result<int64_t> vocabulary(const recipe::Model& model, const recipe::Data& data) {
  if (data.tokenizer.empty()) {
    if (model.vocab_size > 0) return model.vocab_size;
    return fail(
        "model.vocab_size: 0 stands for the tokenizer's, but data.tokenizer is not set; valid: 1 "
        "or more");
  }
  const auto tokenizer = load_tokenizer(data);
  if (!tokenizer) return fail(tokenizer);
  if (model.vocab_size == 0) return tokenizer->vocab_size();
  if (auto done = check_vocabulary(*tokenizer, data, model.vocab_size); !done) return fail(done);
  return model.vocab_size;
}

Result<DataLoader> DataLoader::open(const recipe::Data& data, const recipe::Training& training,
                                    int64_t vocab_size) {
  DataLoader loader;
  loader.seq_len_ = data.seq_len;
  loader.local_batch_ = training.local_batch;
  loader.global_batch_ = training.global_batch;
  loader.seed_ = static_cast<uint64_t>(data.seed);
  loader.shuffled_ = data.token_ids.empty();
  auto text = loader.shuffled_ ? read_text(data, vocab_size)
                               : read_token_ids(data, training.global_batch, vocab_size);
  if (!text) return fail(text);
  loader.tokens_ = std::move(text->tokens);
  loader.documents_ = std::move(text->documents);
  loader.samples_ = loader.tokens() / (loader.seq_len_ + 1);
  return loader;
}

Batch DataLoader::next(int64_t step, int64_t micro_batch, int64_t dp_rank, int64_t dp_size) const {
  const int64_t first =
      samples_before(step) + dp_rank * (global_batch_ / dp_size) + micro_batch * local_batch_;
  Batch batch;
  batch.tokens.reserve(static_cast<size_t>(local_batch_ * seq_len_));
  batch.labels.reserve(static_cast<size_t>(local_batch_ * seq_len_));
  for (int64_t position = first; position < first + local_batch_; ++position)
    append_sample(static_cast<uint64_t>(position % samples_),
                  static_cast<uint64_t>(position / samples_), batch);
  return batch;
}

void DataLoader::append_sample(uint64_t sample, uint64_t epoch, Batch& batch) const {
  if (shuffled_ && static_cast<int64_t>(sample) < samples_)
    sample = shuffled(sample, static_cast<uint64_t>(samples_), seed_, epoch);
  const int64_t at = static_cast<int64_t>(sample) * (seq_len_ + 1);
  const int64_t labels = std::min(seq_len_, tokens() - at - 1);
  append_documents(at, batch.documents);
  const auto begin = tokens_.begin() + at;
  batch.tokens.insert(batch.tokens.end(), begin, begin + labels);
  batch.labels.insert(batch.labels.end(), begin + 1, begin + labels + 1);
  batch.tokens.resize(batch.tokens.size() + static_cast<size_t>(seq_len_ - labels), 0);
  batch.labels.resize(batch.labels.size() + static_cast<size_t>(seq_len_ - labels), -1);
}

Batch DataLoader::once(int64_t first, int64_t count, int64_t end) const {
  Batch batch;
  for (int64_t sample = first; sample < first + count; ++sample) {
    if (sample < std::min(end, samples_once())) {
      append_sample(static_cast<uint64_t>(sample), 0, batch);
      continue;
    }
    const size_t filled = batch.tokens.size() + static_cast<size_t>(seq_len_);
    batch.tokens.resize(filled, 0);
    batch.labels.resize(filled, -1);
    batch.documents.resize(filled, 0);
  }
  return batch;
}

int64_t DataLoader::labels_once(int64_t first, int64_t end) const {
  const int64_t whole = std::max<int64_t>(0, std::min(end, samples_) - first);
  const bool has_tail = first <= samples_ && samples_ < std::min(end, samples_once());
  return whole * seq_len_ + (has_tail ? tail() - 1 : 0);
}

void DataLoader::append_documents(int64_t at, std::vector<int64_t>& begins) const {
  auto next = std::upper_bound(documents_.begin(), documents_.end(), at);
  int64_t begin = 0;
  for (int64_t i = 0; i < seq_len_; ++i) {
    if (next != documents_.end() && *next == at + i) {
      begin = i;
      ++next;
    }
    begins.push_back(begin);
  }
}

}  // namespace heddle::data
