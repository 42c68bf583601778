// Blobs of the store that were not made here: read as nothing, and drawn.
#include <QDir>
#include <QtTest>
#include <cstring>

#include "storage/chunk.h"
#include "storage/curve.h"
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
        QVERIFY(bins.size() <= kChunkItems);
        QVERIFY(thinned(bins, 3).size() <= 4);
      }
  }

  void what_no_chunk_says_is_refused() {
    const auto even = [](uint32_t count) { return count | uint64_t{1} << 32; };
    const std::vector<Bin> two = unpack(blob({even(2), 5, 10, 0, 0}), 0);
    QCOMPARE(two.size(), size_t{2});
    QCOMPARE(two[1].last_step, int64_t{15});
    QVERIFY(unpack(blob({even(0xffffffff)}), 0).empty());     // 32 GiB of steps
    QVERIFY(unpack(blob({even(2), 5, 0, 0, 0}), 0).empty());  // steps that do not advance
    QVERIFY(unpack(blob({even(2), 5, uint64_t(-1), 0, 0}), 0).empty());  // or go back
    QVERIFY(unpack(blob({even(2), uint64_t(1) << 62, 1, 0, 0}), 0).empty());
    const uint64_t last = uint64_t(1) << 53;
    QVERIFY(unpack(blob({even(2), last - 9, 10, 0, 0}), 0).empty());
    QCOMPARE(unpack(blob({even(2), last - 10, 10, 0, 0}), 0).size(), size_t{2});
    QCOMPARE(unpack(blob({even(1), last, 1, 0}), 0).size(), size_t{1});
    QVERIFY(unpack(blob({even(2), 5, 10, 0}), 0).empty());  // a value is missing
    QVERIFY(unpack(blob({2, 7, 7, 0, 0}), 0).empty());      // a step twice
    Bin none{.first_step = 1, .last_step = 2};              // of no samples
    QVERIFY(unpack(pack({&none, 1}, 1), 1).empty());
    none.count = 1;
    QCOMPARE(unpack(pack({&none, 1}, 1), 1).size(), size_t{1});
    none.nonfinite = 2;
    QVERIFY(unpack(pack({&none, 1}, 1), 1).empty());
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
