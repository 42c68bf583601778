// Keys and records, without a socket: what is not word for word what was sealed, in its turn, does
// not open.
#include "engine/transport/sealed.h"

#include <QTest>
#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::transport;

namespace {

using Bytes = std::vector<uint8_t>;

Key key(uint8_t first = 1) {
  Key key;
  std::iota(key.bytes.begin(), key.bytes.end(), first);
  return key;
}

Bytes text(size_t size = 1000) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  return bytes;
}

iovec all_of(const Bytes& bytes) { return {const_cast<uint8_t*>(bytes.data()), bytes.size()}; }

Bytes sealed(Seal& seal, const Bytes& text) {
  Bytes record(record_bytes(text.size()));
  const iovec piece = all_of(text);
  const auto done = seal.seal({&piece, 1}, record);
  return done ? record : Bytes();
}

// Empty: it does not open.
Bytes opened(Seal& seal, const Bytes& record) {
  if (record.size() < record_bytes(0)) return {};
  Bytes text(record.size() - record_bytes(0));
  const iovec place = all_of(text);
  const auto done = seal.open(record, {&place, 1});
  return done ? text : Bytes();
}

struct Pair {
  explicit Pair(uint64_t first = 0, const Key& other = key())
      : seals(key(), Seal::Side::seals, first), opens(other, Seal::Side::opens, first) {}
  Seal seals, opens;
};

}  // namespace

class SealedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // RFC 5869, A.1: the first 32 bytes.
  void keys_are_those_of_the_standard() {
    const Bytes from(22, 0x0b);
    Bytes salt(13), info(10);
    std::iota(salt.begin(), salt.end(), uint8_t(0));
    std::iota(info.begin(), info.end(), uint8_t(0xf0));
    const auto derived = derive_key(from, salt, info);
    QVERIFY(derived);
    QCOMPARE(QByteArray(reinterpret_cast<const char*>(derived->bytes.data()), 32).toHex(),
             QByteArray("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"));
  }

  void what_is_sealed_opens_however_it_is_cut() {
    Pair pair;
    for (const size_t size : {size_t(1), size_t(15), size_t(1000), kMaxRecordBytes}) {
      const Bytes all = text(size);
      const Bytes record = sealed(pair.seals, all);
      QCOMPARE(text_bytes(record), size);
      if (size > 1)
        QVERIFY(std::search(record.begin(), record.end(), all.begin(), all.end()) == record.end());
      Bytes got(size);
      const size_t third = size / 3;
      const iovec places[] = {{got.data(), third}, {got.data() + third, size - third}};
      QVERIFY(pair.opens.open(record, places));
      QVERIFY(got == all);
    }
  }

  void a_byte_that_is_changed_does_not_open() {
    Pair pair;
    const Bytes record = sealed(pair.seals, text(50));
    for (size_t at = 0; at < record.size(); ++at) {
      Pair fresh;
      Bytes changed = record;
      changed[at] ^= 1;
      QVERIFY2(opened(fresh.opens, changed).empty(), qPrintable(QString::number(at)));
    }
    QVERIFY(opened(pair.opens, record) == text(50));
  }

  void only_the_next_record_opens() {
    Pair pair;
    const Bytes first = sealed(pair.seals, text(10)), second = sealed(pair.seals, text(20));
    QVERIFY(opened(pair.opens, first) == text(10));
    QVERIFY(opened(pair.opens, first).empty());  // again
    Pair reordered;
    QVERIFY(opened(reordered.opens, second).empty());  // the first is left out
  }

  void a_record_that_is_cut_does_not_open() {
    Pair pair;
    const Bytes record = sealed(pair.seals, text(50));
    for (size_t size = record_bytes(1); size < record.size(); ++size) {
      Pair fresh;
      QVERIFY(opened(fresh.opens, Bytes(record.begin(), record.begin() + ptrdiff_t(size))).empty());
    }
  }

  void another_key_opens_nothing_and_says_why() {
    Pair pair(0, key(2));
    const Bytes record = sealed(pair.seals, text(10));
    Bytes got(10);
    const iovec place = all_of(got);
    const auto done = pair.opens.open(record, {&place, 1});
    QVERIFY(!done);
    QVERIFY(QString::fromStdString(done.error().message)
                .startsWith("has sent what does not authenticate: somebody changes it on the way"));
  }

  void keys_are_renewed_in_step() {
    Pair pair;
    for (uint64_t i = 0; i < kRecordsPerKey + 2; ++i)
      QVERIFY(opened(pair.opens, sealed(pair.seals, text(1))) == text(1));
    // The first key alone does not open later records.
    Pair alone(kRecordsPerKey + 2);
    QVERIFY(opened(alone.opens, sealed(pair.seals, text(1))).empty());
  }

  void numbers_do_not_begin_again() {
    Pair pair(std::numeric_limits<uint64_t>::max() - 1);
    QVERIFY(opened(pair.opens, sealed(pair.seals, text())) == text());
    QVERIFY(sealed(pair.seals, text()).empty());
  }
};

HEDDLE_TEST(SealedTest)
#include "sealed_test.moc"
