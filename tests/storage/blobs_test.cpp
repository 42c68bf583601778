// Blobs of the store that were not made here: read as nothing, and drawn.
#include <QDir>
#include <QtTest>
#include <cstring>
#include <random>

#include "storage/chunk.h"
#include "storage/curve.h"
#include "storage/number_column.h"
#include "storage/step_block.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle::storage;
using heddle::test::read_bytes;

namespace {

std::string_view view(const QByteArray& bytes) {
  return {bytes.constData(), static_cast<size_t>(bytes.size())};
}

std::string blob(std::initializer_list<uint64_t> words) {
  std::string bytes;
  for (const uint64_t word : words) bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  return bytes;
}

}  // namespace

class BlobsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_chunk_that_is_none_has_no_samples_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(HEDDLE_SOURCE_DIR "/tests/fixtures/crash");
    const QStringList names = folder.entryList({"chunk-*"});
    QCOMPARE(names.size(), 10);
    for (const QString& name : names) QTest::newRow(qPrintable(name)) << folder.filePath(name);
  }
  void a_chunk_that_is_none_has_no_samples() {
    QFETCH(QString, path);
    const QByteArray bytes = read_bytes(path);
    QVERIFY(!bytes.isEmpty());
    for (const int64_t level : {0, 1, 2})
      for (const QByteArray& part : {bytes, bytes.left(bytes.size() - 1), bytes.mid(1)}) {
        const std::vector<Bin> bins = unpack(view(part), level);
        QVERIFY(bins.size() <= kChunkSamples);
        QVERIFY(thinned(bins, 3).size() <= 4);
      }
  }

  void what_no_chunk_says_is_refused() {
    const auto chunk = [](std::vector<int64_t> steps) {
      std::vector<Bin> samples;
      for (const int64_t step : steps) samples.push_back(bin_of({step, 0.5}));
      return pack(samples, 0);
    };
    const int64_t last = int64_t{1} << 53;
    QCOMPARE(unpack(chunk({5, 15}), 0).size(), size_t{2});
    QCOMPARE(unpack(chunk({last}), 0).size(), size_t{1});
    QVERIFY(unpack(chunk({last + 1}), 0).empty());
    QVERIFY(unpack(chunk({7, 7}), 0).empty());  // a step twice
    QVERIFY(unpack(chunk({7, 5}), 0).empty());  // or back
    QVERIFY(unpack(chunk({-1, 5}), 0).empty());
    QVERIFY(unpack(chunk(std::vector<int64_t>(kChunkSamples + 1)), 0).empty());
    const std::string good = chunk({5, 15});
    for (size_t at = 0; at < good.size(); ++at) {
      QVERIFY(unpack(good.substr(0, at), 0).empty());
      for (const char c : {'\0', '\1', '\x7f', '\xff'}) {
        std::string other = good;
        other[at] = c;
        QVERIFY(unpack(other, 0).size() <= kChunkSamples);
      }
    }
    QVERIFY(unpack(good + ' ', 0).empty());
    QVERIFY(unpack(blob({0xffffffff, 0}), 0).empty());  // 32 GiB of steps
    Bin none{.first_step = 1, .last_step = 2};          // of no samples
    QVERIFY(unpack(pack({&none, 1}, 1), 1).empty());
    none.count = 1;
    QCOMPARE(unpack(pack({&none, 1}, 1), 1).size(), size_t{1});
    none.nonfinite = 2;
    QVERIFY(unpack(pack({&none, 1}, 1), 1).empty());
  }

  void a_block_of_steps_that_is_none_has_none() {
    StepBlockMaker maker;
    for (int64_t step = 1; step <= 40; ++step)
      maker.add(100 + 2 * step, static_cast<uint64_t>(3 * step), step,
                step % 2 ? std::vector<std::string>{"loss", "time"} : std::vector<std::string>{},
                7);
    const std::string good = pack(maker.block());
    const auto read = unpack_block(good);
    QVERIFY(read);
    QCOMPARE(read->entries.size(), size_t{40});
    QCOMPARE(read->entries[39].id, int64_t{180});
    QCOMPARE(read->entries[39].seq, uint64_t{120});
    QCOMPARE(read->names, (std::vector<std::string>{"loss", "time"}));
    QCOMPARE(read->sets[read->entries[38].set].size(), size_t{2});
    QVERIFY(read->sets[read->entries[39].set].empty());
    for (size_t at = 0; at < good.size(); ++at) {
      QVERIFY(!unpack_block(good.substr(0, at)));
      for (const char c : {'\0', '\1', '\x7f', '\xff'}) {
        std::string other = good;
        other[at] = c;
        const auto block = unpack_block(other);
        if (!block) continue;
        QVERIFY(block->entries.size() <= kBlockSteps);
        for (const StepBlock::Entry& entry : block->entries)
          QVERIFY(entry.set < block->sets.size());
      }
    }
    QVERIFY(!unpack_block(good + ' '));
  }

  void columns_come_back_as_they_were() {
    std::mt19937_64 random(1);
    std::vector<uint64_t> noise(1000), even(1000), few = {3, 1, uint64_t(-1), 0};
    for (size_t i = 0; i < noise.size(); ++i) noise[i] = random(), even[i] = 7 + 10 * i;
    for (const auto& numbers : {noise, even, few, std::vector<uint64_t>{42}}) {
      std::string bytes;
      put_numbers(bytes, numbers);
      std::string_view rest = bytes;
      std::vector<uint64_t> taken(numbers.size());
      QVERIFY(take_numbers(rest, taken));
      QCOMPARE(taken, numbers);
      QVERIFY(rest.empty());
      rest = bytes;
      taken.resize(numbers.size() + 1);
      QVERIFY(!take_numbers(rest, taken));
    }
    std::string bytes;
    put_numbers(bytes, even);
    QVERIFY(bytes.size() < 100);
  }

  void a_curve_that_is_none_is_empty() {
    for (const std::string& bytes : {blob({0, 5, 1, 1}), blob({uint64_t(1) << 60, 5, 1, 1}),
                                     blob({1, 5}) + std::string(61 * sizeof(Curve::Point), '\0')}) {
      Curve curve(60);
      curve.load(bytes);
      QVERIFY(curve.points().empty());
      curve.add(1, 2);
      QCOMPARE(curve.points().size(), size_t{1});
    }
  }
};

HEDDLE_TEST(BlobsTest)
#include "blobs_test.moc"
