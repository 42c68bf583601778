#include "engine/data/text_loader.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "engine/data/corpus.h"
#include "engine/data/token_files.h"
#include "engine/data/tokenizer_choice.h"

namespace heddle::data {
namespace {

constexpr uint64_t kSeedOfText = 0xD1B54A32D192ED03;  // each text of a mix has an order of its own

Result<> check_vocabulary(const Tokenizer& tokenizer, const recipe::Data& data, int64_t rows) {
  if (tokenizer.vocab_size() <= rows) return {};
  return fail(
      "model.vocab_size: {} is smaller than the tokenizer's {} ({}); valid: {} or more, or 0 "
      "for the tokenizer's",
      rows, tokenizer.vocab_size(), data.tokenizer, tokenizer.vocab_size());
}

}  // namespace

Result<int64_t> vocabulary(const recipe::Model& model, const recipe::Data& data,
                           std::vector<std::string>* warnings) {
  if (data.tokenizer.empty()) {
    if (model.vocab_size > 0) return model.vocab_size;
    return fail(
        "model.vocab_size: 0 stands for the tokenizer's, but data.tokenizer is not set; valid: 1 "
        "or more");
  }
  const auto tokenizer = load_tokenizer(tokenizer_of(data));
  if (!tokenizer) return fail(tokenizer);
  if (warnings) std::ranges::copy(warnings_of(*tokenizer), std::back_inserter(*warnings));
  if (model.vocab_size == 0) return tokenizer->vocab_size();
  if (auto done = check_vocabulary(*tokenizer, data, model.vocab_size); !done) return fail(done);
  return model.vocab_size;
}

std::string too_few_samples(const std::string& key, int64_t samples, double a_step) {
  if (static_cast<double>(samples) >= a_step) return {};
  return fmt::format(
      "{}: its samples number {}, fewer than the {:.4g} that a step reads (training.global_batch): "
      "each step reads some of them more than once",
      key, samples, a_step);
}

Result<DataLoader> DataLoader::open(const recipe::Data& data, const recipe::Training& training,
                                    int64_t vocab_size, Part part) {
  DataLoader loader;
  loader.seq_len_ = data.seq_len;
  loader.local_batch_ = training.local_batch;
  loader.global_batch_ = training.global_batch;
  if (!data.token_ids.empty()) {
    auto source = open_token_ids(data, training.global_batch, vocab_size);
    if (!source) return fail(source);
    if (auto added = loader.add(std::move(*source), "data.token_ids"); !added) return fail(added);
    // Files of numbers are cut and shuffled as text is.
    if (is_token_file(data.token_ids))
      loader.texts_.back().order.emplace(data.seq_len, static_cast<uint64_t>(data.seed));
    return loader;
  }
  const auto seed = static_cast<uint64_t>(data.seed);
  std::vector<double> weights;
  for (const auto& [key, text, unused, weight] : training_texts(data)) {
    auto source = open_text(text, part);
    if (!source) return fail(source);
    if (weights.empty()) {
      const auto tokenizer = load_tokenizer(tokenizer_of(data));
      if (!tokenizer) return fail(tokenizer);
      if (auto fits = check_vocabulary(*tokenizer, data, vocab_size); !fits) return fail(fits);
    }
    if (auto added = loader.add(std::move(*source), key); !added) return fail(added);
    loader.texts_.back().order.emplace(data.seq_len, seed + weights.size() * kSeedOfText);
    weights.push_back(weight);
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) loader.texts_[i].share = weights[i] / all;
  if (weights.size() > 1) loader.mixture_ = std::make_unique<Mixture>(weights, seed);
  return loader;
}

Result<> DataLoader::add(std::unique_ptr<TokenSource> source, const std::string& key) {
  const int64_t needed = seq_len_ + 1;
  const auto known = source->await(needed);
  if (!known) return fail(known);
  if (known->tokens < needed)
    return fail(
        "{}: {} tokens, but one sample of data.seq_len {} needs {}; valid: more text or shorter "
        "sequences",
        key, known->tokens, seq_len_, needed);
  texts_.push_back({key, 1, std::move(source), {}});
  return {};
}

std::vector<std::string> DataLoader::warnings() const {
  std::vector<std::string> warnings;
  for (const Text& text : texts_) {
    const auto known = text.source->await(0);
    if (!known || !known->all) continue;
    const double a_step = text.share * static_cast<double>(global_batch_);
    std::string warning = too_few_samples(text.key, known->tokens / (seq_len_ + 1), a_step);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

Result<Batch> DataLoader::next(int64_t step, int64_t micro_batch, int64_t dp_rank,
                               int64_t dp_size) const {
  const int64_t first =
      samples_before(step) + dp_rank * (global_batch_ / dp_size) + micro_batch * local_batch_;
  Batch batch;
  batch.tokens.reserve(static_cast<size_t>(local_batch_ * seq_len_));
  batch.labels.reserve(static_cast<size_t>(local_batch_ * seq_len_));
  for (int64_t place = first; place < first + local_batch_; ++place) {
    const auto sample = sample_at(place);
    if (!sample) return fail(sample);
    if (auto read = append_sample(*sample, batch); !read) return fail(read);
  }
  return batch;
}

Result<DataLoader::Sample> DataLoader::sample_at(int64_t place) const {
  const Mixture::Pick pick = mixture_ ? mixture_->at(place) : Mixture::Pick{0, place};
  const Text& text = texts_[pick.text];
  const auto known =
      text.source->await(text.order ? text.order->needed(pick.place) * (seq_len_ + 1) : 0);
  if (!known) return fail(known);
  const int64_t samples = known->tokens / (seq_len_ + 1);
  // In a text that is still growing, the place is within the present part.
  const int64_t epoch = pick.place / samples, within = pick.place % samples;
  return Sample{&text, text.order ? text.order->sample(within, samples, epoch) : within};
}

std::vector<int64_t> DataLoader::samples_by_text(int64_t step) const {
  const int64_t end = samples_before(step);
  if (!mixture_) return {end - since_};
  std::vector<int64_t> counts = mixture_->before(end);
  const std::vector<int64_t> others = mixture_->before(since_);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] -= others[i];
  return counts;
}

Result<> DataLoader::append_sample(const Sample& sample, Batch& batch) const {
  const int64_t at = sample.number * (seq_len_ + 1);
  const auto there = sample.text->source->await(0);
  if (!there) return fail(there);
  const auto ids = static_cast<size_t>(std::min(seq_len_ + 1, there->tokens - at));
  std::vector<int64_t> read(ids);
  std::vector<uint8_t> begins(ids);
  if (auto done = sample.text->source->read(at, read, begins); !done) return done;
  const size_t filled = batch.tokens.size() + static_cast<size_t>(seq_len_);
  batch.tokens.insert(batch.tokens.end(), read.begin(), read.end() - 1);
  batch.labels.insert(batch.labels.end(), read.begin() + 1, read.end());
  batch.tokens.resize(filled, 0);
  batch.labels.resize(filled, -1);
  int64_t begin = 0;
  for (int64_t i = 0; i < seq_len_; ++i) {
    if (static_cast<size_t>(i) < ids && begins[static_cast<size_t>(i)] != 0) begin = i;
    batch.documents.push_back(begin);
  }
  return {};
}

Result<> DataLoader::await_all() const {
  for (const Text& text : texts_)
    if (const auto known = text.source->await(std::numeric_limits<int64_t>::max()); !known)
      return fail(known);
  return {};
}

std::vector<std::string> DataLoader::left_out() const {
  std::vector<std::string> all;
  for (const Text& text : texts_)
    if (const std::string left = text.source->left_out(); !left.empty())
      all.push_back(fmt::format("{}: {}", text.key, left));
  return all;
}

int64_t DataLoader::tokens() const {
  const auto known = texts_.front().source->await(0);
  return known ? known->tokens : 0;
}

std::optional<StoreProgress> DataLoader::progress() const {
  for (const Text& text : texts_)
    if (auto progress = text.source->progress()) return progress;
  return std::nullopt;
}

Result<Batch> DataLoader::once(int64_t first, int64_t count, int64_t end) const {
  Batch batch;
  for (int64_t place = first; place < first + count; ++place) {
    if (place >= std::min(end, samples_once())) {
      const size_t filled = batch.tokens.size() + static_cast<size_t>(seq_len_);
      batch.tokens.resize(filled, 0);
      batch.labels.resize(filled, -1);
      batch.documents.resize(filled, 0);
      continue;
    }
    const auto sample =
        place < samples() ? sample_at(place) : Result<Sample>(Sample{&texts_.front(), place});
    if (!sample) return fail(sample);
    if (auto read = append_sample(*sample, batch); !read) return fail(read);
  }
  return batch;
}

int64_t DataLoader::labels_once(int64_t first, int64_t end) const {
  const int64_t whole = std::max<int64_t>(0, std::min(end, samples()) - first);
  const bool has_tail = first <= samples() && samples() < std::min(end, samples_once());
  return whole * seq_len_ + (has_tail ? tail() - 1 : 0);
}

}  // namespace heddle::data
