// The safetensors format: real files read, damaged ones refused, and what is written is read back.
#include "engine/checkpoint/safetensors.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <filesystem>

#include "tests/engine/checkpoint/files.h"
#include "tests/support/test_class.h"

using namespace heddle::checkpoint;

namespace {

const std::string kModel =
    HEDDLE_SOURCE_DIR "/tests/fixtures/reference/llama-tiny/model.safetensors";
const std::string kExpected =
    HEDDLE_SOURCE_DIR "/tests/fixtures/reference/llama-tiny/expected.safetensors";

std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

class SafetensorsTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string path(const std::string& name) { return folder_.path().toStdString() + "/" + name; }

  /// How many unfinished files there are that will have this name.
  qsizetype parts_of(const QString& name) {
    return QDir(folder_.path()).entryList({name + ".*.part"}).size();
  }

  /// The error that a file of these bytes is refused with, less its path.
  QString refusal(const std::string& bytes) {
    const std::string file = write_file(path("damaged.safetensors"), bytes);
    const auto opened = SafetensorsFile::open(file);
    if (opened) return "accepted";
    const QString message = QString::fromStdString(opened.error().message);
    const QString prefix = QString::fromStdString(file + ": ");
    return message.startsWith(prefix) ? message.mid(prefix.size()) : "no path: " + message;
  }

 private Q_SLOTS:
  void reads_a_real_file() {
    const auto file = SafetensorsFile::open(kModel);
    QVERIFY2(file.has_value(), file ? "" : file.error().message.c_str());
    QCOMPARE(file->tensors().size(), size_t{21});
    QCOMPARE(file->metadata().at("format"), std::string("pt"));
    const TensorInfo* tensor = file->find("model.layers.1.mlp.down_proj.weight");
    QVERIFY(tensor);
    QCOMPARE(tensor->dtype, Dtype::f32);
    QCOMPARE(tensor->shape, (std::vector<int64_t>{64, 176}));
    QCOMPARE(shape_text(tensor->shape), std::string("[64, 176]"));
    const auto data = file->data(*tensor);
    QCOMPARE(data.size(), size_t{64 * 176 * 4});
    const Safetensors whole = Safetensors::read(kModel);
    const size_t begin = whole.header[tensor->name]["data_offsets"][0];
    QVERIFY(std::memcmp(data.data(), whole.data.data() + begin, data.size()) == 0);
    QVERIFY(!file->find("model.layers.2.mlp.down_proj.weight"));
  }

  void reads_token_ids() {
    const auto file = SafetensorsFile::open(kExpected);
    const TensorInfo* tensor = file->find("input_ids");
    QVERIFY(tensor);
    QCOMPARE(tensor->dtype, Dtype::i64);
    QCOMPARE(tensor->shape, (std::vector<int64_t>{20, 4, 33}));
  }

  void reads_no_tensors_and_empty_ones() {
    QCOMPARE(refusal(Safetensors::join("{}", "")), QString("accepted"));
    QCOMPARE(refusal(Safetensors::join(R"({"a":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},)"
                                       R"("b":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}})",
                                       "xx")),
             QString("accepted"));
  }

  void files_that_are_none() {
    QCOMPARE(refusal(""), QString("not a safetensors file: 0 bytes are too few"));
    QCOMPARE(refusal("short"), QString("not a safetensors file: 5 bytes are too few"));
    QCOMPARE(refusal("Once upon a time there was no header"),
             QString("not a safetensors file: a header of 8030046917602012751 bytes (at most "
                     "100000000)"));
    QCOMPARE(refusal(Safetensors::join("[1, 2]", "")),
             QString("not a safetensors file: its header is not a JSON object"));
    QCOMPARE(refusal(Safetensors::join("{\"a\":", "")),
             QString("its header: not JSON (at byte 6)"));
    QVERIFY(!SafetensorsFile::open(path("missing.safetensors")));
    QCOMPARE(QString::fromStdString(SafetensorsFile::open("/").error().message),
             QString("/: cannot be read: it is a folder"));
    QCOMPARE(mkfifo(path("pipe.safetensors").c_str(), 0600), 0);
    QVERIFY(SafetensorsFile::open(path("pipe.safetensors"))
                .error()
                .message.ends_with("pipe.safetensors: cannot be read: it is no regular file"));
  }

  void a_number_that_is_out_of_range_is_no_header() {
    const std::string crash =
        read_file(HEDDLE_SOURCE_DIR "/tests/fixtures/crash/safetensors_1e999.safetensors");
    QCOMPARE(refusal(crash), QString("its header: the number 1e999 is out of range (at byte 10)"));
    QVERIFY(
        refusal(Safetensors::join("{\"a\":" + std::string(1'000'000, '['), "")).contains("8 deep"));
  }

  void every_cut_is_noticed() {
    const std::string whole = read_file(kModel);
    for (size_t size = 0; size < whole.size(); size += size < 4000 ? 97 : 20011)
      QVERIFY2(refusal(whole.substr(0, size)) != "accepted", std::to_string(size).c_str());
    QCOMPARE(refusal(whole.substr(0, 1000)),
             QString("cut short: the header needs 2144 bytes, the file holds 1000"));
    QCOMPARE(
        refusal(whole.substr(0, whole.size() - 1)),
        QString("tensor \"model.norm.weight\" ends at byte 500992 of the data, but the file holds "
                "only 500991: cut short"));
    QCOMPARE(refusal(whole + "more"), QString("4 bytes follow the last tensor; valid: none"));
  }

  void wrong_headers_data() {
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* key, const char* value, const char* expected) {
      QTest::addRow("%s = %s", key, value)
          << QString("/lm_head.weight%1").arg(key) << value << expected;
    };
    const char* no_list = "tensor \"lm_head.weight\": shape %1 is not a list of sizes";
    for (const char* shape : {"3", "[-256, 64]", "[256.0, 64]", "[\"256\", 64]", "null"}) {
      const QString compact = QString(shape).remove(' ');
      row("/shape", shape, qPrintable(QString(no_list).arg(compact)));
    }
    row("/shape", "[256, 65]",
        "tensor \"lm_head.weight\": F32 [256, 65] needs 66560 bytes, but data_offsets [0,65536] "
        "hold "
        "65536");
    row("/shape", "[4294967296, 4294967296]",
        "tensor \"lm_head.weight\": shape [4294967296,4294967296] is too large");
    row("/shape", "[0, 18446744073709551615]",
        "tensor \"lm_head.weight\": shape [0,18446744073709551615] is too large");
    row("/dtype", "\"BF16\"",
        "tensor \"lm_head.weight\": BF16 [256, 64] needs 32768 bytes, but data_offsets [0,65536] "
        "hold "
        "65536");
    row("/dtype", "\"F4\"",
        "tensor \"lm_head.weight\": dtype \"F4\" is not known; valid: F64, F32, F16, BF16, I64, "
        "I32, "
        "I16, I8, U64, U32, U16, U8, BOOL, F8_E4M3, F8_E5M2");
    row("/data_offsets", "[65536, 131072]",
        "tensor \"lm_head.weight\" begins at byte 65536, but byte 0 follows what is before it");
    row("/data_offsets", "[4, 65540]",
        "tensor \"lm_head.weight\" begins at byte 4, but byte 0 follows what is before it");
    row("/data_offsets", "[65536, 0]",
        "tensor \"lm_head.weight\": data_offsets [65536,0] are not [begin, end]");
    row("/data_offsets", "[0]", "tensor \"lm_head.weight\": data_offsets [0] are not [begin, end]");
    row("/data_offsets", "[0, -1]",
        "tensor \"lm_head.weight\": data_offsets [0,-1] are not [begin, end]");
    row("", "5",
        "tensor \"lm_head.weight\": dtype null is not known; valid: F64, F32, F16, BF16, I64, I32, "
        "I16, I8, U64, U32, U16, U8, BOOL, F8_E4M3, F8_E5M2");
  }
  void wrong_headers() {
    QFETCH(QString, pointer);
    QFETCH(QString, value);
    QFETCH(QString, expected);
    Safetensors file = Safetensors::read(kModel);
    file.header[nlohmann::ordered_json::json_pointer(pointer.toStdString())] =
        nlohmann::ordered_json::parse(value.toStdString());
    QCOMPARE(refusal(file.bytes()), expected);
  }

  void overlap() {
    Safetensors file = Safetensors::read(kModel);
    file.header["model.embed_tokens.weight"]["data_offsets"] = {65532, 131068};
    QCOMPARE(
        refusal(file.bytes()),
        QString("tensors \"lm_head.weight\" and \"model.embed_tokens.weight\" overlap: one ends at "
                "byte 65536, the other begins at 65532"));
  }

  void a_name_twice() {
    QCOMPARE(refusal(Safetensors::join(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                       "xy")),
             QString("its header: \"a\" is described twice"));
  }

  void wrong_metadata() {
    QCOMPARE(refusal(Safetensors::join(R"({"__metadata__":{"format":1}})", "")),
             QString("__metadata__: \"format\" is not a text"));
    QCOMPARE(refusal(Safetensors::join(R"({"__metadata__":"pt"})", "")),
             QString("__metadata__ is not an object of texts"));
  }

  void writes_what_it_reads() {
    const auto original = SafetensorsFile::open(kModel);
    const std::string copy = path("copy.safetensors");
    auto writer = SafetensorsWriter::create(copy, original->tensors(), original->metadata());
    QVERIFY(writer.has_value());
    for (const TensorInfo& tensor : original->tensors()) {
      const auto data = original->data(tensor);
      const size_t half = data.size() / 2 + 1;  // pieces need not be whole numbers
      QVERIFY(writer->write(data.first(half)).has_value());
      QVERIFY(writer->write(data.subspan(half)).has_value());
    }
    QVERIFY2(!std::filesystem::exists(copy), "the file has its name before it is whole");
    QVERIFY(writer->finish().has_value());
    QVERIFY2(parts_of("copy.safetensors") == 0, "the temporary name is left");
    QVERIFY2(read_file(copy) == read_file(kModel), "Hugging Face would write other bytes");
  }

  void an_unfinished_file_leaves_nothing() {
    const std::string file = path("unfinished.safetensors");
    write_file(file, "what was there before");
    const std::vector<TensorInfo> tensors = {{"a", Dtype::i64, {2}}};
    {
      auto writer = SafetensorsWriter::create(file, tensors);
      QVERIFY(writer->write(bytes_of_text("12345678")).has_value());
      QCOMPARE(QString::fromStdString(writer->finish().error().message),
               QString::fromStdString(file + ": 8 bytes of the tensors declared were not written"));
      QCOMPARE(QString::fromStdString(writer->write(bytes_of_text("123456789")).error().message),
               QString::fromStdString(file + ": 1 bytes more than the tensors declared"));
      QCOMPARE(parts_of("unfinished.safetensors"), 1);
    }
    QCOMPARE(parts_of("unfinished.safetensors"), 0);
    QCOMPARE(read_file(file), std::string("what was there before"));
  }

  void a_folder_that_is_not_there() {
    const auto writer = SafetensorsWriter::create(path("none/x.safetensors"), {});
    QVERIFY(!writer);
    QVERIFY2(writer.error().message.find("none/x.safetensors: cannot be created: No such file") !=
                 std::string::npos,
             writer.error().message.c_str());
  }

  void a_full_disk() {
    auto writer = SafetensorsWriter::create(path("big.safetensors"), {{"a", Dtype::u8, {1 << 20}}});
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{4096, old.rlim_max};
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const auto written = writer->write(bytes_of_text(std::string(1 << 20, 'x')));
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, previous);
    QVERIFY(!written);
    QVERIFY2(written.error().message.find("big.safetensors: cannot be written: File too large") !=
                 std::string::npos,
             written.error().message.c_str());
  }
};

HEDDLE_TEST(SafetensorsTest)
#include "safetensors_test.moc"
