// Texts in Parquet files, written by Arrow's own writer.
#include <arrow/io/file.h>
#include <parquet/api/writer.h>

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/read_file.h"
#include "engine/data/documents.h"
#include "engine/data/first_part.h"
#include "engine/data/store_builder.h"
#include "tests/engine/data/documents_in.h"
#include "tests/support/peak_memory.h"
#include "tests/support/test_class.h"

namespace fs = std::filesystem;
using heddle::Result;
using heddle::data::ChunkReader;
using heddle::data::DocumentPart;
using heddle::data::find_sources;
using heddle::data::for_each_document;
using parquet::Compression;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

namespace {

using Rows = std::vector<std::optional<std::string>>;

NodePtr text_node(const std::string& name, Repetition::type repetition = Repetition::OPTIONAL) {
  return PrimitiveNode::Make(name, repetition, parquet::LogicalType::String(),
                             parquet::Type::BYTE_ARRAY);
}

NodePtr number_node(const std::string& name) {
  return PrimitiveNode::Make(name, Repetition::REQUIRED, parquet::Type::INT64);
}

struct Written {
  std::vector<NodePtr> columns = {number_node("id"), text_node("text")};
  int64_t rows_a_group = 1000;
  Compression::type codec = Compression::SNAPPY;
  bool dictionary = true;
  bool checksums = false;
};

/// Each column of text has the rows, one of numbers counts them.
void write_parquet(const std::string& path, const Rows& rows, const Written& how = {}) {
  parquet::WriterProperties::Builder properties;
  properties.compression(how.codec)->data_pagesize(1 << 16);
  if (!how.dictionary) properties.disable_dictionary();
  if (how.checksums) properties.enable_page_checksum();
  const auto schema = std::static_pointer_cast<GroupNode>(
      GroupNode::Make("schema", Repetition::REQUIRED, how.columns));
  auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  auto file = parquet::ParquetFileWriter::Open(out, schema, properties.build());
  for (size_t begin = 0; begin < rows.size(); begin += static_cast<size_t>(how.rows_a_group)) {
    const size_t end = std::min(begin + static_cast<size_t>(how.rows_a_group), rows.size());
    auto* group = file->AppendRowGroup();
    for (int number = 0; number < group->num_columns(); ++number) {
      auto* column = group->NextColumn();
      for (size_t row = begin; row < end; ++row) {
        const int16_t whole = column->descr()->max_definition_level();
        const auto defined = static_cast<int16_t>(rows[row] ? whole : whole - 1),
                   nested = int16_t{};
        if (column->type() == parquet::Type::INT64) {
          const auto number = static_cast<int64_t>(row);
          static_cast<parquet::Int64Writer*>(column)->WriteBatch(1, nullptr, nullptr, &number);
          continue;
        }
        const std::string value = rows[row].value_or("");
        const parquet::ByteArray text(value);
        static_cast<parquet::ByteArrayWriter*>(column)->WriteBatch(1, &defined, &nested, &text);
      }
    }
  }
  file->Close();
  (void)out->Close();
}

Rows numbered(int count, const std::string& rest = "") {
  Rows rows;
  for (int i = 0; i < count; ++i) rows.emplace_back("row " + std::to_string(i) + rest);
  return rows;
}

}  // namespace

class ParquetTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) { return folder_->path().toStdString() + "/" + name; }

  QString documents(const std::string& name, const std::string& field = "text") {
    return heddle::data::documents_in({path(name)}, field, folder_->path());
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void rows_are_documents_data() {
    QTest::addColumn<int>("codec");
    QTest::addColumn<bool>("dictionary");
    for (const auto& [name, codec] : {std::pair{"as it is", Compression::UNCOMPRESSED},
                                      {"snappy", Compression::SNAPPY},
                                      {"gzip", Compression::GZIP},
                                      {"zstd", Compression::ZSTD},
                                      {"lz4", Compression::LZ4},
                                      {"brotli", Compression::BROTLI}})
      for (const bool dictionary : {true, false})
        QTest::addRow("%s%s", name, dictionary ? ", dictionary" : "") << int(codec) << dictionary;
  }
  void rows_are_documents() {
    QFETCH(int, codec);
    QFETCH(bool, dictionary);
    Written how;
    how.codec = Compression::type(codec);
    how.dictionary = dictionary;
    how.rows_a_group = 2;
    const Rows rows = {"one\ntwo", "", "\"quoted\" \\ \t\x01 é 🙂", "last", "one\ntwo"};
    write_parquet(path("a.parquet"), rows, how);
    QCOMPARE(documents("a.parquet"),
             QString("[one\ntwo][][\"quoted\" \\ \t\x01 é 🙂][last][one\ntwo]"));
  }

  void many_pages_and_groups() {
    for (const bool dictionary : {true, false}) {
      Written how;
      how.dictionary = dictionary;
      how.rows_a_group = 7001;
      Rows rows = numbered(20'000, std::string(90, '.'));
      for (size_t i = 0; i < rows.size(); i += 3) rows[i] = "again";
      write_parquet(path("a.parquet"), rows, how);
      std::string expected;
      for (const auto& row : rows) expected += "[" + *row + "]";
      QCOMPARE(documents("a.parquet"), QString::fromStdString(expected));
    }
  }

  void other_columns() {
    Written how;
    how.columns = {text_node("url"), text_node("body", Repetition::REQUIRED),
                   GroupNode::Make("meta", Repetition::OPTIONAL, {text_node("title")})};
    write_parquet(path("a.parquet"), {"x", "y"}, how);
    QCOMPARE(documents("a.parquet", "body"), QString("[x][y]"));
    QCOMPARE(documents("a.parquet", "meta.title"), QString("[x][y]"));
    QCOMPARE(documents("a.parquet"), QString("F/a.parquet: has no column \"text\"; valid for "
                                             "data.field: url, body, meta.title"));
  }

  void chats_are_named_as_such() {
    Written how;
    const auto message =
        GroupNode::Make("element", Repetition::OPTIONAL, {text_node("role"), text_node("content")});
    how.columns = {text_node("prompt"),
                   GroupNode::Make("messages", Repetition::OPTIONAL,
                                   {GroupNode::Make("list", Repetition::REPEATED, {message})},
                                   parquet::LogicalType::List())};
    write_parquet(path("a.parquet"), {"x"}, how);
    for (const char* field : {"text", "messages"})
      QCOMPARE(documents("a.parquet", field),
               QString("F/a.parquet: a chat (a list of messages in \"messages\"), which cannot be "
                       "trained on yet; valid: each chat as one text, as the model's chat template "
                       "writes it, or data.field of: prompt, messages.list.element.role, "
                       "messages.list.element.content"));
    QCOMPARE(documents("a.parquet", "prompt"), QString("[x]"));
  }

  void columns_that_are_no_text() {
    Written how;
    how.columns = {
        number_node("id"), text_node("parts", Repetition::REPEATED),
        PrimitiveNode::Make("cost", Repetition::REQUIRED, parquet::LogicalType::Decimal(9, 2),
                            parquet::Type::BYTE_ARRAY)};
    write_parquet(path("a.parquet"), {"x"}, how);
    QCOMPARE(documents("a.parquet", "id"),
             QString("F/a.parquet: its column \"id\" is of type "
                     "INT64; valid for data.field: a column of text"));
    QCOMPARE(documents("a.parquet", "parts"),
             QString("F/a.parquet: its column \"parts\" holds "
                     "lists; valid for data.field: a column of text"));
    QVERIFY(documents("a.parquet", "cost")
                .startsWith("F/a.parquet: its column \"cost\" is of type Dec"));
  }

  void rows_that_are_no_text_are_counted() {
    write_parquet(path("a.parquet"), {"one", std::nullopt, "\xFF\xFE", "\xED\xA0\x80", "five"});
    QCOMPARE(documents("a.parquet"),
             QString("[one]<F/a.parquet: row 2: \"text\" is null><F/a.parquet: row 3: \"text\" is "
                     "not UTF-8><F/a.parquet: row 4: \"text\" is not UTF-8>[five]"));
  }

  void without_rows() {
    write_parquet(path("a.parquet"), {});
    QCOMPARE(documents("a.parquet"), QString());
  }

  void what_is_no_parquet() {
    for (const char* content :
         {"", "PAR1", "text that is none, and longer than a footer", "PAR1PAR1PAR1"}) {
      std::ofstream(path("a.parquet"), std::ios::binary) << content;
      const QString said = documents("a.parquet");
      QVERIFY2(said.startsWith("F/a.parquet: cannot be read as Parquet: "), qPrintable(said));
    }
  }

  /// Cut anywhere, a file has lost its footer.
  void cut_short() {
    write_parquet(path("whole.parquet"), numbered(3000));
    const std::string whole = *heddle::read_file(path("whole.parquet"), 1 << 30);
    for (size_t part = 1; part < 20; ++part) {
      std::ofstream(path("a.parquet"), std::ios::binary | std::ios::trunc)
          << whole.substr(0, whole.size() * part / 20);
      const QString said = documents("a.parquet");
      QVERIFY2(said.startsWith("F/a.parquet: cannot be read as Parquet: "), qPrintable(said));
    }
  }

  /// A byte changed anywhere: told with checksums, and no crash without.
  void damaged() {
    for (const bool checksums : {true, false}) {
      Written how;
      how.checksums = checksums;
      how.rows_a_group = 100;
      how.columns = {text_node("text")};
      write_parquet(path("whole.parquet"), numbered(300), how);
      const std::string whole = *heddle::read_file(path("whole.parquet"), 1 << 30);
      const QString sound = documents("whole.parquet");
      int told = 0;
      for (size_t at = 0; at < whole.size(); at += 7) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
        std::ofstream(path("a.parquet"), std::ios::binary | std::ios::trunc) << bytes;
        told += documents("a.parquet").startsWith("F/a.parquet: ");
      }
      QVERIFY2(told > 100, qPrintable(QString::number(told)));
    }
  }

  void memory_is_a_pages() {
    Written how;
    how.dictionary = false;
    how.columns = {text_node("text")};
    how.rows_a_group = 1 << 20;  // one group of 200 MB
    const std::string text(200, 'x');
    write_parquet(path("a.parquet"), Rows(1 << 20, text), how);
    const auto sources = find_sources({path("a.parquet")});
    ChunkReader reader(sources->files, "text", {});
    const heddle::PeakMemory memory;
    qint64 bytes = 0;
    while (true) {
      const auto chunk = reader.next();
      QVERIFY2(chunk.has_value(), chunk ? "" : chunk.error().message.c_str());
      if (!*chunk) break;
      bytes += qint64((*chunk)->bytes.size());
    }
    QVERIFY(bytes > qint64{200} << 20);
    QVERIFY2(memory.mebibytes() < 64, qPrintable(QString::number(memory.mebibytes())));
  }

  /// From any chunk on the rows are numbered as before it.
  void goes_on_at_a_chunk() {
    Rows rows = numbered(40'000, std::string(90, '.'));
    rows[39'998] = std::nullopt;
    write_parquet(path("a.parquet"), rows);
    const auto sources = find_sources({path("a.parquet")});
    ChunkReader reader(sources->files, "text", {});
    std::vector<std::pair<heddle::data::ChunkPlace, std::string>> chunks;
    while (auto chunk = reader.next()) {
      if (!*chunk) break;
      chunks.emplace_back((*chunk)->place, (*chunk)->bytes);
    }
    QVERIFY(chunks.size() > 3);
    const auto& [place, bytes] = chunks.back();
    QVERIFY(reader.go_to(place).has_value());
    const auto again = reader.next();
    QVERIFY(again && *again);
    QCOMPARE((*again)->bytes, bytes);
    std::string why;
    const auto skip = [&](const std::string& complaint) { why += complaint; };
    const auto take = [](const DocumentPart&) -> Result<> { return {}; };
    QVERIFY(for_each_document(**again, "text", {take, skip}).has_value());
    QCOMPARE(QString::fromStdString(why).replace(folder_->path(), "F"),
             QString("F/a.parquet: row 39999: \"text\" is null"));
  }

  /// The store is that of the same texts as lines of JSON.
  void tokens_are_those_of_the_same_texts() {
    std::ofstream lines(path("a.jsonl"));
    const Rows rows = numbered(5000, ": all that glisters is not gold");
    for (const auto& row : rows) lines << "{\"text\": \"" << *row << "\"}\n";
    lines.close();
    write_parquet(path("a.parquet"), rows);
    std::vector<std::string> stores;
    for (const char* name : {"a.jsonl", "a.parquet"}) {
      heddle::recipe::Data data;
      data.text = {path(name)};
      data.tokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
      data.cache = path("cache");
      const auto origin = heddle::data::store_origin(data);
      const auto built = build_store(*origin, {});
      QVERIFY2(built.has_value(), built ? "" : built.error().message.c_str());
      const auto shard = heddle::read_file(heddle::data::shard_path(origin->folder(), 0), 1 << 30);
      stores.push_back(shard->substr(sizeof(heddle::data::ShardHeader)));
    }
    QVERIFY(stores[0].size() > 10'000);
    QVERIFY(stores[0] == stores[1]);
  }

  /// A file says how many rows it has: what they come to is known without reading them all.
  void all_of_it_is_guessed_by_its_first_rows() {
    constexpr int kRows = 150'000;
    write_parquet(path("a.parquet"), numbered(kRows, ": all that glisters is not gold"));
    heddle::recipe::Data data;
    data.text = {path("a.parquet")};
    data.tokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
    data.cache = path("cache");
    const auto origin = heddle::data::store_origin(data);
    const auto part = heddle::data::read_first_part(*origin, 1000);
    QVERIFY2(part.has_value(), part ? "" : part.error().message.c_str());
    QVERIFY(!part->all);
    QVERIFY(build_store(*origin, {}));
    const auto totals = heddle::data::read_totals(origin->folder());
    QCOMPARE((*totals)->documents, int64_t{kRows});
    const auto off = [](int64_t guess, int64_t count) {
      return std::abs(static_cast<double>(guess) / static_cast<double>(count) - 1);
    };
    QVERIFY2(off(part->documents, kRows) < 0.1, std::to_string(part->documents).c_str());
    QVERIFY2(off(part->tokens, (*totals)->tokens) < 0.1, std::to_string(part->tokens).c_str());
  }
};

HEDDLE_TEST(ParquetTest)
#include "parquet_test.moc"
