// Files of tokens that other programs have made: NumPy's, Megatron's, and bare numbers.
#include "engine/data/token_files.h"

#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <fstream>
#include <numeric>

#include "tests/support/test_class.h"

using heddle::data::open_token_file;
using FileIds = std::vector<int64_t>;

namespace {

template <typename T>
std::string bytes(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

template <typename T>
std::string numbers(int count) {
  std::vector<T> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), T{0});
  return bytes(all);
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += bytes<uint16_t>({static_cast<uint16_t>(header.size())});
  return file + header + data;
}

/// `documents`: the sequences that they begin with, and how many sequences there are.
std::string megatron_index(char type, const std::vector<int32_t>& lengths, int size,
                           const std::vector<int64_t>& documents) {
  std::vector<int64_t> places;
  int64_t place = 0;
  for (const int32_t length : lengths) {
    places.push_back(place);
    place += int64_t{length} * size;
  }
  std::string index("MMIDIDX\0\0", 9);
  index += bytes<uint64_t>({1}) + type;
  index += bytes<uint64_t>({lengths.size(), documents.size()});
  return index + bytes(lengths) + bytes(places) + bytes(documents);
}

std::string llmc(uint32_t magic, uint32_t version, uint32_t count, const std::string& ids) {
  std::vector<uint32_t> header(256);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return bytes(header) + ids;
}

}  // namespace

class TokenFilesTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string put(const std::string& name, const std::string& content) {
    const std::string path = folder_->path().toStdString() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  /// "0 1 |2 3": the ids of [from, from + count), a bar before each that begins a document; or the
  /// error.
  QString read(const std::string& path, int from, int count, int64_t vocabulary = 1000) {
    const auto said = [&](const heddle::Error& error) {
      return QString::fromStdString(error.message).replace(folder_->path(), "F");
    };
    const auto file = open_token_file(path, vocabulary);
    if (!file) return said(file.error());
    FileIds ids(static_cast<size_t>(count));
    std::vector<uint8_t> begins(ids.size(), 7);
    if (const auto done = (*file)->read(from, ids, begins); !done) return said(done.error());
    QStringList words;
    for (size_t i = 0; i < ids.size(); ++i)
      words << (begins[i] ? "|" : "") + QString::number(ids[i]);
    return words.join(' ');
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void bare_numbers() {
    QCOMPARE(read(put("a.u16", numbers<uint16_t>(20)), 3, 4), "3 4 5 6");
    QCOMPARE(read(put("a.u32", numbers<uint32_t>(20)), 17, 3), "17 18 19");
    QCOMPARE((*open_token_file(put("a.u16", numbers<uint16_t>(20)), 1000))->await(0)->tokens,
             int64_t{20});
  }

  void numpy() {
    QCOMPARE(read(put("a.npy", npy("<u2", "(20,)", numbers<uint16_t>(20))), 3, 3), "3 4 5");
    QCOMPARE(read(put("b.npy", npy("<i8", "(20,)", numbers<int64_t>(20))), 18, 2), "18 19");
    QCOMPARE(
        read(put("c.npy", npy("<f4", "(20,)", "")), 0, 1),
        "data.token_ids: F/c.npy: holds numbers of type \"<f4\"; valid: uint16, uint32, int32, "
        "int64");
    QCOMPARE(read(put("d.npy", npy("<u2", "(4, 5)", numbers<uint16_t>(20))), 0, 1),
             "data.token_ids: F/d.npy: has the shape (4, 5); valid: one dimension");
    QCOMPARE(
        read(put("e.npy", npy("<u2", "(30,)", numbers<uint16_t>(20))), 0, 1).section(':', 0, 2),
        "data.token_ids: F/e.npy: is cut short");
    QCOMPARE(read(put("f.npy", "not one at all"), 0, 1),
             "data.token_ids: F/f.npy: is no .npy file");
    // A shape without an end, as long as a header may be: an expression's stack would not hold it.
    QVERIFY(read(put("g.npy", npy("<u2", "(" + std::string(60'000, '1'), "")), 0, 1)
                .contains("g.npy: has the shape "));
    QVERIFY(read(put("h.npy", npy("<u2", "(99999999999999999999,)", "")), 0, 1)
                .contains("h.npy: has the shape (99999999999999999999,)"));
  }

  void megatron() {
    const std::string data = put("a.bin", numbers<uint16_t>(20));
    put("a.idx", megatron_index(8, {3, 1, 6, 10}, 2, {0, 1, 2, 3, 4}));
    QCOMPARE(read(data, 0, 12), "|0 1 2 |3 |4 5 6 7 8 9 |10 11");
    QCOMPARE(read(data, 5, 4), "5 6 7 8");
    QCOMPARE(read(data, 10, 2), "|10 11");
    put("b.bin", numbers<int32_t>(6));
    put("b.idx", megatron_index(4, {2, 4}, 4, {0, 1, 2}));
    QCOMPARE(read(folder_->filePath("b.bin").toStdString(), 1, 3), "1 |2 3");
    put("c.bin", "");
    put("c.idx", megatron_index(6, {}, 8, {0}));
    QVERIFY(read(folder_->filePath("c.bin").toStdString(), 0, 1).contains("of Megatron's type 6"));
    put("c.idx", megatron_index(8, {1, 1, 1}, 2, {0, 3}).substr(0, 60));
    QVERIFY(read(folder_->filePath("c.bin").toStdString(), 0, 1)
                .contains("c.idx: is cut short: 3 sequences and 2 documents do not fit its 60 "
                          "bytes"));
    QVERIFY(read(put("d.bin", ""), 0, 1)
                .contains("d.bin: neither Megatron's .bin, whose .idx is next to it, nor llm.c's"));
  }

  /// A document is what the document index says, not each sequence.
  void megatrons_documents_of_several_sequences() {
    const std::string data = put("a.bin", numbers<uint16_t>(20));
    put("a.idx", megatron_index(8, {3, 1, 6, 10}, 2, {0, 2, 4}));
    QCOMPARE(read(data, 0, 12), "|0 1 2 3 |4 5 6 7 8 9 10 11");
    QCOMPARE(read(data, 4, 2), "|4 5");
    put("a.idx", megatron_index(8, {4, 16}, 2, {0, 1, 2}));  // the same documents
    QCOMPARE(read(data, 0, 12), "|0 1 2 3 |4 5 6 7 8 9 10 11");
    put("a.idx", megatron_index(8, {0, 4, 16}, 2, {0, 1, 1, 3}));  // empty ones
    QCOMPARE(read(data, 0, 6), "|0 1 2 3 4 5");
  }

  void megatrons_index_out_of_order_data() {
    QTest::addColumn<QByteArray>("index");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const std::string& index, const char* says) {
      QTest::newRow(name) << QByteArray::fromStdString(index) << says;
    };
    std::string swapped = megatron_index(8, {3, 1, 16}, 2, {0, 3});
    std::swap_ranges(swapped.begin() + 34 + 12, swapped.begin() + 34 + 20,
                     swapped.begin() + 34 + 20);
    row("sequences", swapped,
        "a.idx: sequence 0 has 3 ids from byte 6 on, but the ones before it end at byte 0; valid: "
        "sequences one after the other");
    row("a negative length", megatron_index(8, {-1, 21}, 2, {0, 2}), "sequence 0 has -1 ids");
    row("documents", megatron_index(8, {3, 1, 16}, 2, {0, 2, 1, 3}),
        "a.idx: document 2 begins with sequence 1, after one that begins with 2, of 3 sequences in "
        "all; valid: documents in their order");
    row("a document beyond", megatron_index(8, {3, 17}, 2, {0, 5}), "document 1 begins with");
    row("documents that end early", megatron_index(8, {3, 17}, 2, {0, 1}),
        "a.idx: its documents end with sequence 1 of 2");
    row("no documents", megatron_index(8, {3, 17}, 2, {}),
        "its documents end with sequence 0 of 2");
    row("another file's", megatron_index(8, {3, 18}, 2, {0, 2}),
        "a.idx: its sequences have 42 bytes, but the .bin has 40");
  }
  void megatrons_index_out_of_order() {
    QFETCH(QByteArray, index);
    QFETCH(QString, says);
    const std::string data = put("a.bin", numbers<uint16_t>(20));
    put("a.idx", index.toStdString());
    const QString said = read(data, 0, 1);
    QVERIFY2(said.startsWith("data.token_ids: F/a.idx: ") && said.contains(says), qPrintable(said));
  }

  void llm_c() {
    const std::string ids = numbers<uint16_t>(20);
    QCOMPARE(read(put("a.bin", llmc(20240520, 1, 20, ids)), 3, 4), "3 4 5 6");
    QCOMPARE(read(put("b.bin", llmc(20240801, 7, 20, numbers<uint32_t>(20))), 17, 3), "17 18 19");
    QVERIFY(!heddle::data::knows_documents(folder_->filePath("a.bin").toStdString()));
    QVERIFY(read(put("c.bin", llmc(20240520, 1, 30, ids)), 0, 1)
                .contains("c.bin: has 1064 bytes, but llm.c's header names 30 ids of 2 bytes: 1084 "
                          "in all"));
    // Its header as ids would be trained on.
    QCOMPARE(read(put("d.u16", llmc(20240520, 1, 20, ids)), 0, 1),
             "data.token_ids: F/d.u16: has llm.c's header, which is no ids; valid: the same file "
             "named .bin");
  }

  void ids_are_checked_ahead() {
    std::vector<uint16_t> ids(300'000);
    const std::string path = put("a.u16", bytes(ids));
    QVERIFY(heddle::data::check_token_file(path, 100));
    ids[299'999] = 100;
    put("a.u16", bytes(ids));
    QCOMPARE(read(path, 0, 2, 100), "0 0");  // where nobody has looked further yet
    const auto checked = heddle::data::check_token_file(path, 100);
    QVERIFY(!checked);
    QCOMPARE(QString::fromStdString(checked.error().message).replace(folder_->path(), "F"),
             "data.token_ids: F/a.u16: holds 100 (token 299999); valid: 0 to 99");
  }

  void pipes_are_not_waited_for() {
    for (const char* name : {"a.u16", "a.npy", "a.bin"}) {
      const std::string path = folder_->filePath(name).toStdString();
      QCOMPARE(mkfifo(path.c_str(), 0600), 0);
      QVERIFY(read(path, 0, 1).endsWith("cannot be read: it is no regular file"));
    }
    put("b.bin", "");
    QCOMPARE(mkfifo(folder_->filePath("b.idx").toStdString().c_str(), 0600), 0);
    QVERIFY(read(folder_->filePath("b.bin").toStdString(), 0, 1)
                .contains("b.idx: cannot be read: it is no regular file"));
  }

  void ids_outside_the_vocabulary() {
    const std::string path = put("a.u16", numbers<uint16_t>(20));
    QCOMPARE(read(path, 0, 10, 10), "0 1 2 3 4 5 6 7 8 9");
    QCOMPARE(read(path, 5, 10, 10), "data.token_ids: F/a.u16: holds 10 (token 10); valid: 0 to 9");
    QVERIFY(read(put("b.u32", "12345"), 0, 1).contains("5 bytes are no whole numbers of 4 bytes"));
    QVERIFY(read("/nowhere.u16", 0, 1).contains("/nowhere.u16: cannot be read: No such file"));
  }
};

HEDDLE_TEST(TokenFilesTest)
#include "token_files_test.moc"
