// Each fuzz target without libFuzzer: its corpus, then inputs made of that, the same in every run.
// The input that breaks a target is left in /dev/shm/heddle-fuzz-*/input.
#include <QTest>
#include <algorithm>
#include <random>
#include <vector>

#include "base/read_file.h"
#include "tests/fuzz/input.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

#define TARGET(name) extern "C" int fuzz_##name(const uint8_t*, size_t);
HEDDLE_FUZZ_TARGETS
#undef TARGET

namespace {

namespace fs = std::filesystem;

constexpr int kInputs = 10000;
constexpr size_t kLongest = 4096;

struct Target {
  const char* name;
  int (*read)(const uint8_t*, size_t);
};
#define TARGET(name) {#name, fuzz_##name},
constexpr Target kTargets[] = {HEDDLE_FUZZ_TARGETS};
#undef TARGET

std::vector<std::string> corpus_of(const std::string& target) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(HEDDLE_SOURCE_DIR "/tests/fuzz/corpus/" + target))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> corpus;
  for (const std::string& file : files)
    corpus.push_back(heddle::must(heddle::read_file(file, 1 << 20)));
  return corpus;
}

/// Inputs like the seeds of a corpus: some bytes changed, taken out, doubled, or of another input.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {}

  std::string next() {
    std::string input = one_of(corpus_);
    for (size_t edits = 1 + below(8); edits > 0; --edits) edit(input);
    if (input.size() > kLongest) input.resize(kLongest);
    return input;
  }

 private:
  // Not a std::uniform_int_distribution: that differs between libraries.
  size_t below(size_t end) { return end == 0 ? 0 : random_() % end; }
  const std::string& one_of(const std::vector<std::string>& all) { return all[below(all.size())]; }

  void edit(std::string& input) {
    const size_t at = below(input.size() + 1), length = 1 + below(8) * below(16);
    switch (below(7)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(random_());
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      case 4: {
        const std::string& other = one_of(corpus_);
        input.insert(at, other.substr(below(other.size() + 1), length));
        break;
      }
      case 5:
        input.insert(at, one_of(kWords));
        break;
      default:
        input.replace(at, length, one_of(kWords));
    }
  }

  inline static const std::vector<std::string> kWords = {std::string(1, '\0'),
                                                         "\xff\xff\xff\xff",
                                                         "\x7f\xff\xff\xff\xff\xff\xff\xff",
                                                         "-1",
                                                         "0",
                                                         "1e999",
                                                         "18446744073709551615",
                                                         "9223372036854775808",
                                                         "[[[[[[[[",
                                                         "{\"a\":",
                                                         "\"",
                                                         "\\u0000",
                                                         "\n",
                                                         " ",
                                                         "\x9b\x9f",
                                                         "../",
                                                         "\xc0\x80",
                                                         "=",
                                                         ",",
                                                         "%"};

  std::vector<std::string> corpus_;
  std::mt19937 random_;
};

}  // namespace

class FuzzReplayTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_target_takes_what_it_is_given_data() {
    QTest::addColumn<int>("target");
    for (size_t i = 0; i < std::size(kTargets); ++i)
      QTest::newRow(kTargets[i].name) << static_cast<int>(i);
  }
  void a_target_takes_what_it_is_given() {
    QFETCH(int, target);
    const auto& [name, read] = kTargets[target];
    const std::vector<std::string> corpus = corpus_of(name);
    QVERIFY2(!corpus.empty(), "it has no corpus");
    const auto give = [read = read](const std::string& input) {
      heddle::fuzz::file("input", input);
      return read(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    };
    for (const std::string& input : corpus) QCOMPARE(give(input), 0);
    Mutator mutator(corpus);
    for (int i = 0; i < kInputs; ++i) QCOMPARE(give(mutator.next()), 0);
  }
};

HEDDLE_TEST(FuzzReplayTest)
#include "fuzz_replay_test.moc"
