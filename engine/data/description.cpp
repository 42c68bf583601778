#include "engine/data/description.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "engine/data/corpus.h"
#include "engine/data/first_part.h"
#include "engine/data/text_loader.h"
#include "engine/data/token_files.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/recipe/data_sources.h"

namespace heddle::data {
namespace {

constexpr int64_t kSamples = 3;
constexpr size_t kShownTokens = 2048;  // of a sample
constexpr size_t kShownPerSource = 3;

class Describer {
 public:
  explicit Describer(const recipe::Recipe& recipe) : recipe_(recipe) {}

  Result<Description> describe() {
    const auto rows = vocabulary(recipe_.model, recipe_.data);
    if (!rows) return fail(rows);
    if (!recipe_.data.tokenizer.empty()) {
      auto loaded = load_tokenizer(tokenizer_of(recipe_.data));
      if (!loaded) return fail(loaded);
      tokenizer_.emplace(std::move(*loaded));
      if (recipe_.data.token_ids.empty()) {
        told_.parting = parting_of(*tokenizer_);
        told_.notes = warnings_of(*tokenizer_);
      }
    }
    for (const recipe::DataSource& source : recipe::sources_of(recipe_.data))
      told_.sources.push_back({.name = source.name, .share = source.share});
    const recipe::Training& training = recipe_.training;
    told_.run_tokens = training.steps * training.global_batch * recipe_.data.seq_len;
    auto described = recipe_.data.token_ids.empty() ? texts(*rows) : token_file(*rows);
    if (!described) return fail(described);
    warn_of_few_samples();
    for (DescribedSource& source : told_.sources)
      if (source.tokens > 0)
        source.epochs = source.share * static_cast<double>(told_.run_tokens) /
                        static_cast<double>(source.tokens);
    return std::move(told_);
  }

 private:
  void warn_of_few_samples() {
    for (const DescribedSource& source : told_.sources) {
      if (source.known == Known::guessed) continue;  // it is too large for that
      const double a_step = source.share * static_cast<double>(recipe_.training.global_batch);
      std::string warning = too_few_samples(source.name, source.tokens / (seq_len() + 1), a_step);
      if (!warning.empty()) told_.notes.push_back(std::move(warning));
    }
  }

  int64_t seq_len() const { return recipe_.data.seq_len; }

  Result<> texts(int64_t rows) {
    const std::vector<Text> texts = training_texts(recipe_.data);
    for (size_t i = 0; i < texts.size(); ++i)
      if (auto done = text(texts[i], told_.sources[i]); !done) return done;
    if (told_.known() == Known::counted && firsts_.empty()) return first_of_run(rows);
    firsts_of_texts();
    return {};
  }

  /// By its store where that is whole, else by its first part.
  Result<> text(const Text& text, DescribedSource& source) {
    const auto origin = store_origin(text.data, text.part);
    if (!origin) return tl::unexpected(of_key(text.key, origin.error()));
    if (!origin->skipped.empty()) told_.notes.push_back(origin->skipped);
    source.files = static_cast<int64_t>(origin->files.size());
    for (const SourceFile& file : origin->files) source.bytes += static_cast<int64_t>(file.size);
    const auto totals = read_totals(origin->folder());
    if (!totals) return fail(totals);
    if (*totals) {
      source.tokens = (*totals)->tokens;
      source.documents = (*totals)->documents;
      source.skipped = (*totals)->skipped;
      return enough(text.key, source);
    }
    auto part = read_first_part(*origin, kSamples * (seq_len() + 1));
    if (!part) return tl::unexpected(of_key(text.key, part.error()));
    source.known = part->all ? Known::counted : Known::guessed;
    source.tokens = part->tokens;
    source.documents = part->documents;
    source.skipped = static_cast<int64_t>(part->complaints.size());
    part->complaints.resize(std::min(part->complaints.size(), kShownPerSource));
    source.complaints = part->complaints;
    firsts_.push_back(std::move(*part));
    firsts_of_.push_back(static_cast<size_t>(&source - told_.sources.data()));
    return enough(text.key, source);
  }

  Result<> enough(const std::string& key, const DescribedSource& source) const {
    if (source.tokens > seq_len()) return {};
    if (source.tokens == 0 && !source.complaints.empty())
      return fail("{}: {}", key, source.complaints.front());
    return fail(
        "{}: {} tokens, but one sample of data.seq_len {} needs {}; valid: more text or shorter "
        "sequences",
        key, source.tokens, seq_len(), seq_len() + 1);
  }

  Result<> token_file(int64_t rows) {
    DescribedSource& source = told_.sources.front();
    std::error_code unknown;
    source.files = 1;
    source.bytes =
        static_cast<int64_t>(std::filesystem::file_size(recipe_.data.token_ids, unknown));
    if (is_token_file(recipe_.data.token_ids))
      if (auto checked = check_token_file(recipe_.data.token_ids, rows); !checked) return checked;
    return first_of_run(rows);
  }

  /// The samples of the first steps.
  Result<> first_of_run(int64_t rows) {
    recipe::Training one = recipe_.training;
    one.local_batch = 1;  // then each rank of data reads one sample
    const auto loader = DataLoader::open(recipe_.data, one, rows);
    if (!loader) return fail(loader);
    if (!recipe_.data.token_ids.empty()) told_.sources.front().tokens = loader->tokens();
    told_.first_of_run = true;
    for (int64_t place = 0; place < kSamples; ++place) {
      const auto batch =
          loader->next(place / one.global_batch, 0, place % one.global_batch, one.global_batch);
      if (!batch) return fail(batch);
      std::vector<uint64_t> begins;
      for (size_t i = 1; i < batch->documents.size(); ++i)
        if (batch->documents[i] == static_cast<int64_t>(i)) begins.push_back(i);
      show(loader->text_at(place), {batch->tokens.begin(), batch->tokens.end()}, begins);
    }
    return {};
  }

  /// As they are cut; which of them comes first is known when all is tokenized.
  void firsts_of_texts() {
    const auto each = static_cast<int64_t>(firsts_.size());
    const int64_t of_each = std::max<int64_t>(1, kSamples / each);
    for (size_t text = 0; text < firsts_.size(); ++text) {
      const FirstPart& part = firsts_[text];
      for (int64_t number = 0; number < of_each; ++number) {
        const auto first = static_cast<size_t>(number * (seq_len() + 1));
        const size_t end = first + static_cast<size_t>(seq_len());
        if (end > part.ids.size()) break;
        std::vector<uint64_t> begins;
        for (const uint64_t begin : part.begins)
          if (begin > first && begin < end) begins.push_back(begin - first);
        show(firsts_of_[text],
             {part.ids.begin() + static_cast<ptrdiff_t>(first),
              part.ids.begin() + static_cast<ptrdiff_t>(end)},
             begins);
      }
    }
  }

  void show(size_t source, std::vector<int32_t> ids, const std::vector<uint64_t>& begins) {
    DescribedSample sample{.source = source,
                           .tokens = static_cast<int64_t>(ids.size()),
                           .whole = ids.size() <= kShownTokens};
    ids.resize(std::min(ids.size(), kShownTokens));
    const std::span<const int32_t> shown(ids);
    size_t at = 0;
    for (const uint64_t begin : begins) {
      if (begin >= shown.size()) break;
      sample.documents.push_back(text_of(shown.subspan(at, begin - at)));
      at = begin;
    }
    sample.documents.push_back(text_of(shown.subspan(at)));
    told_.samples.push_back(std::move(sample));
  }

  std::string text_of(std::span<const int32_t> ids) const {
    return tokenizer_ ? tokenizer_->decode(ids) : fmt::format("{}", fmt::join(ids, " "));
  }

  const recipe::Recipe& recipe_;
  Description told_;
  std::optional<Tokenizer> tokenizer_;
  std::vector<FirstPart> firsts_;  // of texts that are not tokenized yet
  std::vector<size_t> firsts_of_;  // which they are
};

}  // namespace

Known Description::known() const {
  const bool all = std::ranges::all_of(
      sources, [](const DescribedSource& source) { return source.known == Known::counted; });
  return all ? Known::counted : Known::guessed;
}

int64_t Description::tokens() const {
  int64_t tokens = 0;
  for (const DescribedSource& source : sources) tokens += source.tokens;
  return tokens;
}

std::optional<int64_t> Description::documents() const {
  int64_t documents = 0;
  for (const DescribedSource& source : sources) {
    if (!source.documents) return std::nullopt;
    documents += *source.documents;
  }
  return documents;
}

double Description::epochs() const {
  return tokens() == 0 ? 0 : static_cast<double>(run_tokens) / static_cast<double>(tokens());
}

Result<Description> describe(const recipe::Recipe& recipe) { return Describer(recipe).describe(); }

}  // namespace heddle::data
