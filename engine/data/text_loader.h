// The input of a training step: text packed into samples, or token ids fed as they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/data/document_choice.h"
#include "engine/data/mixture.h"
#include "engine/data/sample_order.h"
#include "engine/data/token_source.h"
#include "engine/recipe/recipe.h"

namespace heddle::data {

/// One micro-batch of one data-parallel rank, all [local_batch, seq_len], row-major.
struct Batch {
  std::vector<int64_t> tokens;
  std::vector<int64_t> labels;  // the token after each of `tokens`; -1: none, it does not count
  /// Where in its sequence each token's document begins: 0 for one that began before it.
  std::vector<int64_t> documents;
};

/// The rows that the embedding needs: `model.vocab_size`, or where that is 0 the tokenizer's.
/// Errors begin with the recipe key they are about ("model.vocab_size: …"), as all of this
/// header's. Appends the tokenizer's `warnings_of`.
Result<int64_t> vocabulary(const recipe::Model& model, const recipe::Data& data,
                           std::vector<std::string>* warnings = nullptr);

/// Warns of a text of so few samples that a step, which reads `a_step` of it, reads some more than
/// once; empty: there are enough. `key` is the recipe's.
std::string too_few_samples(const std::string& key, int64_t samples, double a_step);

/// The training data of a recipe. Text: each document is BOS + tokens + EOS, documents are joined
/// and cut into samples of seq_len + 1 tokens (the tail that does not fill one is left out);
/// samples are taken in an order that `data.seed` gives (SampleOrder), another one each epoch.
/// In a mix each sample is from one text (Mixture), and each text is read in an order of its own,
/// epoch after epoch. Token ids: in order, from the start again after the last.
///
/// The position is the step alone: step s reads the samples [s · global_batch, (s + 1) ·
/// global_batch) of that order whatever the ranks are, so a run goes on where it was with any
/// number of them; with another global_batch too, by `go_on`.
///
/// Text comes from its token store, which somebody builds (build_store) or has built. Where it is
/// not whole yet, what reads it waits until what is read is there; an error tells why it never will
/// be.
///
/// Threads: the const members may run side by side.
class DataLoader {
 public:
  /// Opens the store of `data.text`, and waits for a first sample; or reads `data.token_ids`.
  /// `training.global_batch` and `local_batch` as after `resolve`. `vocab_size` is what
  /// `vocabulary` gave: no id may reach it. `part`: which documents of the text.
  static Result<DataLoader> open(const recipe::Data& data, const recipe::Training& training,
                                 int64_t vocab_size, Part part = Part::training);

  /// Micro-batch `micro_batch` (of global_batch / (local_batch · dp_size)) of step `step` (0-based)
  /// for rank `dp_rank` of `dp_size`: samples dp_rank · global_batch / dp_size + micro_batch ·
  /// local_batch and on, of the step's. A pure function of its arguments.
  Result<Batch> next(int64_t step, int64_t micro_batch, int64_t dp_rank, int64_t dp_size) const;

  /// Waits until all of the text is there; then the following are of all of it; of a mix they are
  /// of its first text.
  Result<> await_all() const;
  /// Samples `first` to `first + count` of the text read once, as validation reads it: in the order
  /// of the first epoch, and last of all the tail that fills no sample. Where there is no token,
  /// and from sample `end` on, labels are -1, which no loss counts.
  Result<Batch> once(int64_t first, int64_t count, int64_t end) const;
  /// How many samples that are, and how many labels [first, end) of them have.
  int64_t samples_once() const { return samples() + (tail() > 1 ? 1 : 0); }
  int64_t labels_once(int64_t first, int64_t end) const;
  /// Whole samples in one epoch, and tokens (of text: with BOS and EOS, before packing).
  int64_t samples() const { return tokens() / (seq_len_ + 1); }
  int64_t tokens() const;

  /// Warnings of texts that have fewer samples than a step reads of them, as far as all of them is
  /// known.
  std::vector<std::string> warnings() const;
  /// The files that are left out of texts' folders, in words.
  std::vector<std::string> left_out() const;

  /// How far its tokens are, where they are being made.
  std::optional<StoreProgress> progress() const;

  /// Step `step` reads from sample `samples` on, and the steps after it what follows. Those before
  /// `since` were of other texts, or in another order.
  void go_on(int64_t step, int64_t samples, int64_t since = 0) {
    origin_ = samples - step * global_batch_;
    since_ = since;
  }
  /// Samples of that order that the steps before `step` read.
  int64_t samples_before(int64_t step) const { return origin_ + step * global_batch_; }
  /// The same of each text, as far as they were of these texts; as recipe::sources_of has them.
  std::vector<int64_t> samples_by_text(int64_t step) const;
  int64_t since() const { return since_; }
  /// Which text the sample at a place of that order is of.
  size_t text_at(int64_t place) const { return mixture_ ? mixture_->at(place).text : 0; }

 private:
  DataLoader() = default;

  struct Text {
    std::string key;                      // of the recipe
    double share = 1;                     // of the samples
    std::unique_ptr<TokenSource> source;  // sample i: its tokens [i · (seq_len + 1), (i + 1) · …)
    std::optional<SampleOrder> order;     // none: as they come
  };
  struct Sample {
    const Text* text;
    int64_t number;
  };
  /// Waits for a first sample of a text, whose errors begin with the key.
  Result<> add(std::unique_ptr<TokenSource> source, const std::string& key);
  /// The sample at a place of the order, epoch after epoch.
  Result<Sample> sample_at(int64_t place) const;
  /// All of a sample, or what there is of the tail.
  Result<> append_sample(const Sample& sample, Batch& batch) const;
  int64_t tail() const { return tokens() - samples() * (seq_len_ + 1); }

  std::vector<Text> texts_;
  std::unique_ptr<Mixture> mixture_;  // none: there is one text
  int64_t seq_len_ = 0;
  int64_t local_batch_ = 0;
  int64_t global_batch_ = 0;
  int64_t origin_ = 0;  // where step 0 would have begun
  int64_t since_ = 0;   // the first sample that was read of these texts
};

}  // namespace heddle::data
