// Packing, the order of samples, what each rank reads, and recipes whose data is wrong.
#include "engine/data/text_loader.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/checkpoint/safetensors.h"
#include "engine/data/corpus.h"
#include "engine/data/tokenizer.h"
#include "tests/support/test_class.h"

namespace recipe = heddle::recipe;
namespace fs = std::filesystem;
using heddle::data::Batch;
using heddle::data::DataLoader;
using heddle::data::Tokenizer;
using heddle::data::vocabulary;
using Tokens = std::vector<int64_t>;

namespace {

const std::string kLoadedTokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
const std::string kLoadedText = HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt";
const std::string kTokenIds =
    HEDDLE_SOURCE_DIR "/tests/fixtures/reference/llama-tiny/expected.safetensors";
constexpr int64_t kVocabulary = 4096;

recipe::Training training(int64_t local_batch, int64_t global_batch) {
  recipe::Training result;
  result.local_batch = local_batch;
  result.global_batch = global_batch;
  return result;
}

recipe::Data text(const std::string& path, int64_t seq_len) {
  recipe::Data data;
  data.text = {path};
  data.tokenizer = kLoadedTokenizer;
  data.seq_len = seq_len;
  return data;
}

recipe::Data token_ids(const std::string& path = kTokenIds) {
  recipe::Data data;
  data.token_ids = path;
  data.seq_len = 32;
  return data;
}

template <typename... Args>
Batch next(const DataLoader& loader, Args... args) {
  auto batch = loader.next(args...);
  return batch ? std::move(*batch) : Batch{};
}

template <typename... Args>
Batch once(const DataLoader& loader, Args... args) {
  auto batch = loader.once(args...);
  return batch ? std::move(*batch) : Batch{};
}

/// The samples (input and last label) that a step reads, rank by rank.
std::vector<Tokens> samples_of_step(const DataLoader& loader, int64_t step, int64_t local_batch,
                                    int64_t global_batch, int64_t ranks) {
  std::vector<Tokens> samples;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t micro = 0; micro < global_batch / ranks / local_batch; ++micro) {
      const Batch batch = next(loader, step, micro, rank, ranks);
      const auto length = static_cast<int64_t>(batch.tokens.size()) / local_batch;
      for (int64_t row = 0; row < local_batch; ++row) {
        Tokens sample(batch.tokens.begin() + row * length,
                      batch.tokens.begin() + (row + 1) * length);
        sample.push_back(batch.labels[(row + 1) * length - 1]);
        samples.push_back(sample);
      }
    }
  }
  return samples;
}

/// With the tokens of its text made first, as another process does it for ranks.
heddle::Result<DataLoader> open(const recipe::Data& data, const recipe::Training& training,
                                int64_t vocab_size) {
  recipe::Recipe recipe;
  recipe.data = data;
  if (const auto made = heddle::data::tokenize_corpus(recipe, {}); !made) return heddle::fail(made);
  return DataLoader::open(data, training, vocab_size);
}

QString error_of_loader(const heddle::Result<DataLoader>& opened) {
  return opened ? "accepted" : QString::fromStdString(opened.error().message);
}

}  // namespace

class TextLoaderTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string put(const std::string& name, const std::string& content) {
    const std::string path = folder_->path().toStdString() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string put_ids(heddle::checkpoint::TensorInfo tensor) {
    const std::string path = folder_->path().toStdString() + "/ids.safetensors";
    auto writer = heddle::checkpoint::SafetensorsWriter::create(path, {tensor});
    const std::vector<std::byte> zeros(static_cast<size_t>(tensor.bytes()));
    return writer->write(zeros) && writer->finish() ? path : "";
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void packs_documents() {
    put("1.txt", "To be, or not to be");
    put("2.jsonl", "{\"text\": \"that is\"}\n{\"text\": \"the question\"}\n");
    auto tokenizer = Tokenizer::load(kLoadedTokenizer);
    Tokens stream;
    for (const char* document : {"To be, or not to be", "that is", "the question"}) {
      stream.push_back(4094);
      const auto ids = tokenizer->encode(document).value();
      stream.insert(stream.end(), ids.begin(), ids.end());
      stream.push_back(4095);
    }

    constexpr int64_t kSeqLen = 4;
    const auto loader =
        open(text(folder_->path().toStdString(), kSeqLen), training(1, 1), kVocabulary);
    QVERIFY2(loader.has_value(), qPrintable(error_of_loader(loader)));
    QCOMPARE(loader->tokens(), static_cast<int64_t>(stream.size()));
    QCOMPARE(loader->samples(), static_cast<int64_t>(stream.size()) / (kSeqLen + 1));
    QVERIFY(loader->samples() >= 3);
    std::set<Tokens> expected;
    for (int64_t sample = 0; sample < loader->samples(); ++sample)
      expected.insert(
          {stream.begin() + sample * (kSeqLen + 1), stream.begin() + (sample + 1) * (kSeqLen + 1)});
    std::set<Tokens> read;
    for (int64_t step = 0; step < loader->samples(); ++step) {
      const Batch batch = next(*loader, step, 0, 0, 1);
      Tokens whole = batch.tokens;
      whole.push_back(batch.labels.back());
      QCOMPARE(Tokens(whole.begin() + 1, whole.end()), batch.labels);
      read.insert(whole);
    }
    QCOMPARE(read, expected);
  }

  void any_ranks_read_the_same_global_batch() {
    constexpr int64_t kGlobal = 8;
    const recipe::Data data = text(kLoadedText, 64);
    const auto one = open(data, training(8, kGlobal), kVocabulary);
    QVERIFY2(one.has_value(), qPrintable(error_of_loader(one)));
    QCOMPARE(one->tokens(), int64_t{317618 + 2});
    for (const auto& [ranks, local] : {std::pair{2, 4}, {2, 1}, {4, 2}, {8, 1}, {1, 2}}) {
      const auto many = open(data, training(local, kGlobal), kVocabulary);
      for (const int64_t step : {0, 1, 610, 611, 5000})
        QCOMPARE(samples_of_step(*many, step, local, kGlobal, ranks),
                 samples_of_step(*one, step, 8, kGlobal, 1));
    }
  }

  /// Each sample of a mix is of one of its texts, the same for any number of ranks.
  void a_mix_of_texts() {
    recipe::Data mix = text("", 16);
    mix.text.clear();
    mix.mix = {{{put("a.txt", std::string(20'000, 'a'))}, 3}, {{kLoadedText}, 1}};
    const auto one = open(mix, training(8, 8), kVocabulary);
    QVERIFY2(one.has_value(), qPrintable(error_of_loader(one)));
    const auto many = open(mix, training(1, 8), kVocabulary);
    std::vector<Tokens> samples;
    for (const int64_t step : {0, 1, 40, 41, 999}) {
      const auto all = samples_of_step(*one, step, 8, 8, 1);
      for (const int64_t ranks : {2, 4, 8})
        QCOMPARE(samples_of_step(*many, step, 1, 8, ranks), all);
    }
    int of_the_first = 0;
    const int64_t a =
        next(*open(text(mix.mix[0].text[0], 16), training(1, 1), kVocabulary), 0, 0, 0, 1)
            .tokens[8];
    for (int64_t step = 0; step < 250; ++step)
      for (const Tokens& sample : samples_of_step(*one, step, 8, 8, 1))
        of_the_first += sample[8] == a && sample[9] == a;
    QVERIFY2(of_the_first > 1'400 && of_the_first < 1'600, std::to_string(of_the_first).c_str());
  }

  /// Held-out text is not trained on, and nothing is lost: each document's text appears once.
  void documents_held_out() {
    std::string lines;
    for (int i = 0; i < 2'000; ++i)
      lines += "{\"text\": \"Document " + std::to_string(i) + ".\"}\n";
    recipe::Recipe recipe;
    recipe.data = text(put("a.jsonl", lines), 8);
    recipe.validation.every = 1;
    recipe.data.held_out = 0.1;
    QVERIFY(heddle::data::tokenize_corpus(recipe, {}));
    const auto totals = [&](heddle::data::Part part) {
      return **heddle::data::read_totals(heddle::data::store_origin(recipe.data, part)->folder());
    };
    const auto trained = totals(heddle::data::Part::training);
    const auto held_out = totals(heddle::data::Part::held_out);
    QCOMPARE(trained.documents + held_out.documents, int64_t{2'000});
    QVERIFY(held_out.documents > 150 && held_out.documents < 250);
    QCOMPARE(heddle::data::validation_text(recipe).key, std::string("data.held_out"));
    const auto loader = DataLoader::open(heddle::data::validation_text(recipe).data, training(1, 1),
                                         kVocabulary, heddle::data::Part::held_out);
    QVERIFY(loader.has_value());
    QCOMPARE(loader->tokens(), held_out.tokens);
  }

  void only_the_first_documents() {
    recipe::Data data = text(put("a.jsonl", ""), 3);
    data.text = {
        put("a.txt", "To be, or not to be"),
        put("b.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n{\"text\": \"three\"}\n")};
    const auto tokens = [&](int64_t most) {
      data.max_documents = most;
      const auto loader = open(data, training(1, 1), kVocabulary);
      return loader ? loader->tokens() : -1;
    };
    const int64_t all = tokens(0), three = tokens(3), two = tokens(2);
    QCOMPARE(tokens(4), all);
    QCOMPARE(tokens(5), all);
    QVERIFY(two < three && three < all && two > 0);
    data.text.pop_back();
    data.max_documents = 0;
    QVERIFY(open(data, training(1, 1), kVocabulary)->tokens() == tokens(1));
  }

  void every_epoch_reads_all_in_another_order() {
    const recipe::Data data = text(kLoadedText, 1000);
    const auto loader = open(data, training(1, 1), kVocabulary);
    const int64_t samples = loader->samples();
    QCOMPARE(samples, int64_t{317});
    std::vector<Tokens> first;
    std::vector<Tokens> second;
    for (int64_t step = 0; step < samples; ++step) {
      first.push_back(next(*loader, step, 0, 0, 1).tokens);
      second.push_back(next(*loader, samples + step, 0, 0, 1).tokens);
    }
    QVERIFY(first != second);
    std::ranges::sort(first);
    std::ranges::sort(second);
    QVERIFY(first == second);
    QVERIFY(std::ranges::adjacent_find(first) == first.end());
  }

  void the_seed_gives_the_order() {
    recipe::Data data = text(kLoadedText, 64);
    const auto loader = open(data, training(4, 4), kVocabulary);
    const auto again = open(data, training(4, 4), kVocabulary);
    data.seed = 43;
    const auto other = open(data, training(4, 4), kVocabulary);
    QVERIFY(next(*loader, 7, 0, 0, 1).tokens == next(*again, 7, 0, 0, 1).tokens);
    QVERIFY(next(*loader, 7, 0, 0, 1).tokens != next(*other, 7, 0, 0, 1).tokens);
  }

  void a_batch_larger_than_the_corpus() {
    const auto loader =
        open(text(put("a.txt", "To be, or not to be"), 3), training(8, 16), kVocabulary);
    QVERIFY(loader->samples() < 8);
    QCOMPARE(next(*loader, 0, 0, 1, 2).tokens.size(), size_t{8 * 3});
  }

  // Each token of a sample but its first is a label, those of the tail too; the rest is padding.
  void held_out_text_is_read_once_to_its_end() {
    const std::string path = folder_->filePath("held-out.txt").toStdString();
    std::ofstream(path)
        << "The quality of mercy is not strained. It droppeth as the gentle rain from "
           "heaven upon the place beneath: it is twice blest.";
    const auto all = open(text(path, 2), training(1, 1), kVocabulary);
    QVERIFY(all.has_value());
    const int64_t tokens = all->tokens();
    const int64_t seq_len = (tokens - 5) / 2;  // two samples, and a tail of 3 or 4 tokens
    const auto loader = open(text(path, seq_len), training(3, 3), kVocabulary);
    QVERIFY(loader.has_value());
    const int64_t tail = tokens - 2 * (seq_len + 1);
    QVERIFY(tail == 3 || tail == 4);
    QCOMPARE(loader->samples(), int64_t(2));
    QCOMPARE(loader->samples_once(), int64_t(3));
    QCOMPARE(loader->labels_once(0, 3), 2 * seq_len + tail - 1);
    QCOMPARE(loader->labels_once(1, 2), seq_len);
    QCOMPARE(loader->labels_once(2, 9), tail - 1);
    QCOMPARE(loader->labels_once(3, 9), int64_t(0));

    const Batch batch = once(*loader, 0, 5, 9);  // two more than there are
    QCOMPARE(batch.tokens.size(), static_cast<size_t>(5 * seq_len));
    QCOMPARE(batch.documents.size(), batch.tokens.size());
    const auto counted = std::count_if(batch.labels.begin(), batch.labels.end(),
                                       [](int64_t label) { return label >= 0; });
    QCOMPARE(static_cast<int64_t>(counted), 2 * seq_len + tail - 1);
    const Batch whole = next(*loader, 0, 0, 0, 1);
    for (int64_t i = 0; i < 2 * seq_len; ++i) {
      QCOMPARE(batch.tokens[i], whole.tokens[i]);
      QCOMPARE(batch.labels[i], whole.labels[i]);
    }
    for (int64_t i = 0; i < tail - 1; ++i) QVERIFY(batch.labels[2 * seq_len + i] >= 0);
    for (int64_t i = 1; i < tail - 1; ++i)
      QCOMPARE(batch.tokens[2 * seq_len + i], batch.labels[2 * seq_len + i - 1]);
    // Asked for fewer samples, it counts no more.
    const Batch fewer = once(*loader, 1, 2, 2);
    QCOMPARE(std::count(fewer.labels.begin() + seq_len, fewer.labels.end(), -1), seq_len);
  }

  void token_ids_are_fed_as_they_are() {
    const auto file = heddle::checkpoint::SafetensorsFile::open(kTokenIds);
    const auto bytes = file->data(*file->find("input_ids"));
    Tokens ids(bytes.size() / sizeof(int64_t));
    std::memcpy(ids.data(), bytes.data(), bytes.size());
    const auto sequence = [&](int64_t step, int64_t row) {
      const auto begin = ids.begin() + (step * 4 + row) * 33;
      return Tokens(begin, begin + 33);
    };
    for (const auto& [ranks, local] : {std::pair{1, 4}, {2, 2}, {4, 1}, {2, 1}}) {
      const auto loader = open(token_ids(), training(local, 4), 256);
      QVERIFY2(loader.has_value(), qPrintable(error_of_loader(loader)));
      for (const int64_t step : {0, 7, 19, 20, 47}) {
        const auto samples = samples_of_step(*loader, step, local, 4, ranks);
        for (int64_t row = 0; row < 4; ++row) QCOMPARE(samples[row], sequence(step % 20, row));
      }
    }
  }

  void the_vocabularys_rows() {
    recipe::Model model;
    recipe::Data data = text(kLoadedText, 64);
    QCOMPARE(vocabulary(model, data).value(), int64_t{4096});
    model.vocab_size = 5000;
    QCOMPARE(vocabulary(model, data).value(), int64_t{5000});
    QCOMPARE(vocabulary(model, token_ids()).value(), int64_t{5000});
    model.vocab_size = 4095;
    QCOMPARE(
        QString::fromStdString(vocabulary(model, data).error().message),
        QString("model.vocab_size: 4095 is smaller than the tokenizer's 4096 (%1); valid: 4096 or "
                "more, or 0 for the tokenizer's")
            .arg(kLoadedTokenizer.c_str()));
    QCOMPARE(error_of_loader(open(data, training(1, 1), 4095)),
             QString::fromStdString(vocabulary(model, data).error().message));
    model.vocab_size = 0;
    QCOMPARE(
        QString::fromStdString(vocabulary(model, token_ids()).error().message),
        QString("model.vocab_size: 0 stands for the tokenizer's, but data.tokenizer is not set; "
                "valid: 1 or more"));
  }

  void text_that_cannot_be_read() {
    recipe::Data data = text("/nowhere/corpus.txt", 64);
    QCOMPARE(error_of_loader(open(data, training(1, 1), kVocabulary)),
             QString("data.text: /nowhere/corpus.txt: no such file or folder"));
    data = text(put("short.txt", "Hello"), 64);
    QCOMPARE(
        error_of_loader(open(data, training(1, 1), kVocabulary)),
        QString("data.text: 4 tokens, but one sample of data.seq_len 64 needs 65; valid: more text "
                "or shorter sequences"));
    data = text(put("broken.jsonl", "{\"text\": \"fine\"}\n{\"text\""), 64);
    QCOMPARE(error_of_loader(open(data, training(1, 1), kVocabulary)),
             QString("data.text: %1/broken.jsonl:2: not a JSON object with a text in \"text\": not "
                     "JSON (at byte 8)")
                 .arg(folder_->path()));
    data.tokenizer = kLoadedText;
    QCOMPARE(
        error_of_loader(open(data, training(1, 1), kVocabulary)),
        QString("data.tokenizer: %1: not JSON (at byte 1); valid: a Hugging Face tokenizer.json")
            .arg(kLoadedText.c_str()));
    data.tokenizer.clear();
    QCOMPARE(error_of_loader(open(data, training(1, 1), kVocabulary)),
             QString("data.tokenizer: data.text needs one; valid: a Hugging Face tokenizer.json"));
  }

  void token_ids_that_cannot_be_read() {
    recipe::Data data = token_ids();
    QVERIFY(
        error_of_loader(open(data, training(4, 4), 100))
            .startsWith(QString("data.token_ids: %1: input_ids holds ").arg(kTokenIds.c_str())));
    QCOMPARE(error_of_loader(open(data, training(2, 2), 256)),
             QString("training.global_batch: 2, but %1 holds 4 sequences a step; valid: 4")
                 .arg(kTokenIds.c_str()));
    data.seq_len = 64;
    QCOMPARE(error_of_loader(open(data, training(4, 4), 256)),
             QString("data.seq_len: 64, but %1 holds sequences of 33 tokens; valid: 32")
                 .arg(kTokenIds.c_str()));
    QCOMPARE(
        error_of_loader(open(token_ids("/nowhere.safetensors"), training(4, 4), 256)),
        QString("data.token_ids: /nowhere.safetensors: cannot be read: No such file or directory"));

    using heddle::checkpoint::Dtype;
    const std::string wrong_type = put_ids({"input_ids", Dtype::i32, {2, 4, 33}});
    QCOMPARE(
        error_of_loader(open(token_ids(wrong_type), training(4, 4), 256)),
        QString(
            "data.token_ids: %1: input_ids is I32 [2, 4, 33]; valid: I64 [steps, batch, seq_len "
            "+ 1]")
            .arg(wrong_type.c_str()));
    for (const auto& shape : {Tokens{8, 33}, {0, 4, 33}})
      QVERIFY(error_of_loader(
                  open(token_ids(put_ids({"input_ids", Dtype::i64, shape})), training(4, 4), 256))
                  .endsWith("valid: I64 [steps, batch, seq_len + 1]"));
    const std::string wrong_name = put_ids({"ids", Dtype::i64, {2, 4, 33}});
    QCOMPARE(
        error_of_loader(open(token_ids(wrong_name), training(4, 4), 256)),
        QString(
            "data.token_ids: %1: no tensor \"input_ids\"; valid: I64 [steps, batch, seq_len + 1]")
            .arg(wrong_name.c_str()));
  }
};

HEDDLE_TEST(TextLoaderTest)
#include "text_loader_test.moc"
