// Files of tokens that other programs have made: NumPy's, Megatron's, and bare numbers.
#include "engine/data/token_files.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <numeric>

using heddle::data::open_token_file;
using Ids = std::vector<int64_t>;

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
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + data;
}

std::string megatron_index(char type, const std::vector<int32_t>& lengths, int size) {
  std::vector<int64_t> places;
  int64_t place = 0;
  for (const int32_t length : lengths) {
    places.push_back(place);
    place += int64_t{length} * size;
  }
  std::string index("MMIDIDX\0\0", 9);
  index += bytes<uint64_t>({1}) + type;
  index += bytes<uint64_t>({lengths.size(), lengths.size() + 1});
  return index + bytes(lengths) + bytes(places) + bytes<int64_t>({0, 1});
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
    Ids ids(static_cast<size_t>(count));
    std::vector<uint8_t> begins(ids.size(), 7);
    if (const auto done = (*file)->read(from, ids, begins); !done) return said(done.error());
    QStringList words;
    for (size_t i = 0; i < ids.size(); ++i)
      words << (begins[i] ? "|" : "") + QString::number(ids[i]);
    return words.join(' ');
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void bareNumbers() {
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
  }

  void megatron() {
    const std::string data = put("a.bin", numbers<uint16_t>(20));
    put("a.idx", megatron_index(8, {3, 1, 6, 10}, 2));
    QCOMPARE(read(data, 0, 12), "|0 1 2 |3 |4 5 6 7 8 9 |10 11");
    QCOMPARE(read(data, 5, 4), "5 6 7 8");
    QCOMPARE(read(data, 10, 2), "|10 11");
    put("b.bin", numbers<int32_t>(6));
    put("b.idx", megatron_index(4, {2, 4}, 4));
    QCOMPARE(read(folder_->filePath("b.bin").toStdString(), 1, 3), "1 |2 3");
    put("c.bin", "");
    put("c.idx", megatron_index(6, {}, 8));
    QVERIFY(read(folder_->filePath("c.bin").toStdString(), 0, 1).contains("of Megatron's type 6"));
    put("c.idx", megatron_index(8, {1, 1, 1}, 2).substr(0, 60));
    QVERIFY(read(folder_->filePath("c.bin").toStdString(), 0, 1)
                .contains("c.idx: is cut short: 3 sequences do not fit its 60 bytes"));
    QVERIFY(read(put("d.bin", ""), 0, 1).contains("Megatron's .bin needs its .idx beside it"));
  }

  void idsOutsideTheVocabulary() {
    const std::string path = put("a.u16", numbers<uint16_t>(20));
    QCOMPARE(read(path, 0, 10, 10), "0 1 2 3 4 5 6 7 8 9");
    QCOMPARE(read(path, 5, 10, 10), "data.token_ids: F/a.u16: holds 10 (token 10); valid: 0 to 9");
    QVERIFY(read(put("b.u32", "12345"), 0, 1).contains("5 bytes are no whole numbers of 4 bytes"));
    QVERIFY(read("/nowhere.u16", 0, 1).contains("/nowhere.u16: cannot be opened: No such file"));
  }
};

QTEST_APPLESS_MAIN(TokenFilesTest)
#include "token_files_test.moc"
