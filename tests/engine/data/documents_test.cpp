// Which documents a recipe's data.text means.
#include "engine/data/documents.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "engine/data/text_encoding.h"
#include "tests/engine/data/documents_in.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

namespace fs = std::filesystem;
using heddle::data::ChunkReader;
using heddle::data::find_sources;

namespace {

std::string gzipped(const std::string& text) {
  z_stream state{};
  constexpr int kGzip = 16, kMemory = 8;
  deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, kGzip + MAX_WBITS, kMemory, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&state, text.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  deflate(&state, Z_FINISH);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

std::string zstandard(const std::string& text) {
  ZSTD_CCtx* state = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(state, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(state, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(state);
  return packed;
}

}  // namespace

class DocumentsTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) { return folder_->path().toStdString() + "/" + name; }

  std::string put(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  /// The files of a folder that are left out.
  QString skipped(const std::string& folder) {
    return QString::fromStdString(find_sources({folder})->skipped).replace(folder_->path(), "F");
  }

  QString documents(const std::vector<std::string>& paths, const std::string& field = "text") {
    return heddle::data::documents_in(paths, field, folder_->path());
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void a_text_file_is_one_document() {
    put("a.txt", "one\n\ntwo\r\n");
    QCOMPARE(documents({path("a.txt")}), QString("[one\n\ntwo\r\n]"));
    put("empty.txt", "");
    QCOMPARE(documents({path("empty.txt"), path("a.txt")}), QString("[][one\n\ntwo\r\n]"));
  }

  void each_line_of_jsonl_is_one() {
    put("a.jsonl",
        "{\"text\": \"one\\ntwo\", \"id\": 1}\r\n\n  \n{\"text\": \"\"}\n{\"text\": \"é\"}");
    QCOMPARE(documents({path("a.jsonl")}), QString("[one\ntwo][][é]"));
  }

  void folders_in_the_order_of_their_paths() {
    put("b.txt", "b");
    put("a/z.txt", "az");
    put("a/deep/x.jsonl", "{\"text\": \"x\"}");
    put("c.md", "not text");
    put("a10.txt", "10");
    QCOMPARE(documents({path("")}), QString("[x][az][10][b]"));
    QCOMPARE(documents({path("b.txt"), path("a")}), QString("[b][x][az]"));
  }

  void broken_lines_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* line, const char* why) {
      QTest::newRow(line) << QByteArray(line) << QString(why);
    };
    row("{", "not JSON (at byte 2)");
    row("plain words", "not JSON (at byte 1)");
    row("[\"text\"]", "not a JSON object");
    row("{\"content\": \"x\"}", "it has no \"text\"");
    row("{\"text\": 3}", "\"text\" is of type number");
    row("{\"text\": null}", "\"text\" is null");
    row("{\"text\": \"\xFF\"}", "invalid UTF-8 (at byte 11)");
    row("{\"text\": \"\xED\xA0\x80\"}", "invalid UTF-8 (at byte 12)");  // a surrogate's
    row(R"({"text": "\ud83d"})", "a lone surrogate, which is half a character (at byte 17)");
    row(R"({"text": "\ude00\ud83d"})", "a lone surrogate, which is half a character (at byte 16)");
    row("{\"text\": \"a\"} {}", "not JSON (at byte 15)");
  }
  void broken_lines() {
    QFETCH(QByteArray, line);
    QFETCH(QString, why);
    put("a.jsonl", "{\"text\": \"fine\"}\n\n" + line.toStdString() + "\n");
    QCOMPARE(documents({path("a.jsonl")}),
             "[fine]<F/a.jsonl:3: not a JSON object with a text in \"text\": " + why + ">");
  }

  void what_is_no_text() {
    QCOMPARE(documents({path("none.txt")}), QString("F/none.txt: no such file or folder"));
    put("a.pdf", "%PDF");
    QCOMPARE(documents({path("a.pdf")}),
             QString("F/a.pdf: not a text file; valid: .txt, .jsonl or .json, as it is or with .gz "
                     "or .zst, or .parquet, or a folder of them"));
    QCOMPARE(documents({path("")}),
             QString("F/: no text file in this folder; left out: 1 of another kind: a.pdf; valid: "
                     ".txt, .jsonl or .json, as it is or with .gz or .zst, or .parquet"));
  }

  void parquet_with_a_plug_in_of_another_build() {
    put("a.parquet", "PAR1");
    QCOMPARE(documents({path("a.parquet")}),
             QString("F/a.parquet: libheddle_parquet.so is of another build than this engine; "
                     "packaging/start.sh --parquet builds both"));
    put("a.parquet.gz", "PAR1");
    QVERIFY(documents({path("a.parquet.gz")}).contains("a.parquet.gz: not a text file; valid: "));
  }

  void packed_files() {
    put("a.txt.gz", gzipped("one") + gzipped(" and two"));  // two members
    put("b.jsonl.zst", zstandard("{\"text\": \"three\"}\n") + zstandard("{\"text\": \"four\"}"));
    QCOMPARE(documents({path("a.txt.gz"), path("b.jsonl.zst")}),
             QString("[one and two][three][four]"));
  }

  void packed_files_that_are_damaged_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919) + "\n";
    const auto add = [](const char* row, const char* name, const std::string& bytes,
                        const char* says) {
      QTest::newRow(row) << name << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()))
                         << says;
    };
    for (const bool gzip : {true, false}) {
      const std::string whole = gzip ? gzipped(text) : zstandard(text);
      const char* name = gzip ? "a.txt.gz" : "a.txt.zst";
      std::string flipped = whole;
      flipped[whole.size() / 2] ^= 0x55;
      add(gzip ? "gz cut" : "zst cut", name, whole.substr(0, whole.size() - 20),
          ": is cut short: ");
      add(gzip ? "gz flipped" : "zst flipped", name, flipped, ": is damaged (at byte ");
      add(gzip ? "gz empty" : "zst empty", name, "", ": is cut short: ");
      add(gzip ? "gz not packed" : "zst not packed", name, text, ": is damaged (at byte ");
      add(gzip ? "gz tail" : "zst tail", name, whole + "more", ": is damaged (at byte ");
    }
  }
  void packed_files_that_are_damaged() {
    QFETCH(QString, name);
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    put(name.toStdString(), bytes.toStdString());
    const QString said = documents({path(name.toStdString())});
    QVERIFY2(said.startsWith("F/" + name + says), qPrintable(said.left(300)));
  }

  void a_list_of_json() {
    put("a.json",
        " [\n {\"text\": \"one, [two]\",\n  \"more\": [1, {}]},\n{\"text\": \"a\\\"]\"} , 3,"
        "{\"text\":\"end\"}]\n");
    QCOMPARE(
        documents({path("a.json")}),
        QString("[one, [two]][a\"]]<F/a.json:3: not a JSON object with a text in \"text\": not "
                "a JSON object>[end]"));
    put("b.json", "{\"text\": \"as\"}\n{\"text\": \"lines\"}\n");
    QCOMPARE(documents({path("b.json")}), QString("[as][lines]"));
    put("c.json", "[]");
    QCOMPARE(documents({path("c.json")}), QString());
    put("d.json", "[{\"text\": \"one\"}, {\"te");
    QCOMPARE(documents({path("d.json")}), QString("F/d.json: is cut short: its list does not end"));
    put("e.json.gz", gzipped("[{\"text\": \"packed\"}]"));
    QCOMPARE(documents({path("e.json.gz")}), QString("[packed]"));
  }

  void patterns() {
    put("b1.txt", "1");
    put("b2.txt", "2");
    put("c/b3.txt", "3");
    put("[odd].txt", "odd");
    QCOMPARE(documents({path("b?.txt")}), QString("[1][2]"));
    QCOMPARE(documents({path("*/b*.txt"), path("[odd].txt")}), QString("[3][odd]"));
    QCOMPARE(documents({path("x*.txt")}), QString("F/x*.txt: no file matches this pattern"));
  }

  void links_stay_within_their_folder() {
    put("a/one.txt", "one");
    put("a/deep/three.txt", "three");
    put("b/two.txt", "two");
    fs::create_directory_symlink(path("a"), path("a/deep/round"));
    fs::create_directory_symlink(path("b"), path("a/out"));
    fs::create_symlink(path("b/two.txt"), path("a/two.txt"));
    fs::create_symlink(path("gone"), path("a/gone.txt"));
    fs::create_symlink(path("a/one.txt"), path("a/same.txt"));
    QCOMPARE(documents({path("a")}), QString("[three][one][one]"));
    QCOMPARE(documents({path("a/out")}), QString("[two]"));  // which is named
    QCOMPARE(documents({path("a/t*.txt")}), QString("[two]"));
    const QString said = skipped(path("a"));
    QVERIFY2(said.startsWith("F/a: left out: 3 links out of it, followed where named, "
                             "also by a pattern: "),
             qPrintable(said));
  }

  /// As a download of Hugging Face's hub has them: links alone.
  void a_folder_of_links_says_why_it_has_no_text() {
    put("blobs/01", "{\"text\": \"one\"}");
    fs::create_directories(path("snapshot"));
    fs::create_symlink("../blobs/01", path("snapshot/a.jsonl"));
    QCOMPARE(documents({path("snapshot")}),
             QString("F/snapshot: no text file in this folder; left out: 1 link out of it, "
                     "followed where named, also by a pattern: a.jsonl; valid: .txt, "
                     ".jsonl or .json, as it is or with .gz or .zst, or .parquet"));
    QCOMPARE(documents({path("snapshot/*.jsonl")}), QString("[one]"));
  }

  void hidden_files_and_folders_are_left_out() {
    const std::string line = "{\"text\": \"one\"}";
    put("x/a.jsonl", line);
    put("x/.ipynb_checkpoints/a-checkpoint.jsonl", line);
    put("x/.git/notes.txt", "not data");
    put("x/._a.jsonl", std::string("\0\5\26\7", 4));  // as macOS has them
    QCOMPARE(documents({path("x")}), QString("[one]"));
    const QString said = skipped(path("x"));
    QVERIFY2(said.startsWith("F/x: left out: 3 hidden, read where named: ."), qPrintable(said));
    QCOMPARE(documents({path("x/.git")}), QString("[not data]"));
    QCOMPARE(documents({path("x/.git/notes.txt")}), QString("[not data]"));
    QCOMPARE(documents({path("x/*.jsonl")}), QString("[one]"));
  }

  void folders_say_what_they_leave_out() {
    put("a.txt", "one");
    put("b.md", "two");
    put("c.pdf", "three");
    const QString said = skipped(path(""));
    QVERIFY2(said.startsWith("F/: left out: 2 of another kind: "), qPrintable(said));
    QVERIFY(said.contains("b.md") && said.contains("c.pdf"));
  }

  /// Values that Python's json module writes, in members that nobody asked for.
  void members_that_nobody_asked_for_are_read_leniently_data() {
    QTest::addColumn<QByteArray>("value");
    for (const char* value : {"NaN", "Infinity", "-Infinity", "1e400", "-1.5E+999",
                              "[NaN, {\"x\": "
                              "[Infinity, 1e999]}]",
                              "12345678901234567890123456789"})
      QTest::newRow(value) << QByteArray(value);
    QTest::newRow("lists, 10,000 deep") << QByteArray(10'000, '[') + QByteArray(10'000, ']');
  }
  void members_that_nobody_asked_for_are_read_leniently() {
    QFETCH(QByteArray, value);
    const std::string member = "\"score\": " + value.toStdString();
    put("a.jsonl", "{" + member + ", \"text\": \"one\"}\n{\"text\": \"two\", " + member + "}\n{" +
                       member + "}\n");
    QCOMPARE(documents({path("a.jsonl")}),
             QString("[one][two]<F/a.jsonl:3: not a JSON object with a text in \"text\": it has no "
                     "\"text\">"));
    put("b.jsonl", "{\"text\": " + value.toStdString() + "}\n");
    const QString said = documents({path("b.jsonl")});
    QVERIFY2(said.contains("\"text\" is of type ") || said.contains("out of range"),
             qPrintable(said));
  }

  void byte_order_marks() {
    const std::string mark = "\xEF\xBB\xBF";
    put("a.json", mark + "[{\"text\": \"one\"},\n{\"text\": \"two\"}]");
    put("b.jsonl", mark + "{\"text\": \"three\"}\n");
    QCOMPARE(documents({path("a.json"), path("b.jsonl")}), QString("[one][two][three]"));
  }

  void chats_are_named_as_such_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("member");
    const auto row = [](const char* name, const char* file, const char* field, const char* member,
                        const QByteArray& text) {
      QTest::newRow(name) << file << text << field << member;
    };
    row("messages", "a.jsonl", "text", "messages",
        R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]})");
    row("ShareGPT's", "a.jsonl", "text", "conversations",
        R"({"id": "1", "conversations": [{"from": "human", "value": "Hi"}]})");
    row("by name", "a.json", "messages", "messages",
        R"([{"messages": [{"content": "Hi", "role": "user"}], "score": NaN}])");
    row("as text", "a.jsonl", "messages", "messages",
        R"({"messages": "[{\u0022role\u0022: \u0022user\u0022, \u0022content\u0022: \u0022Hi\u0022}]"})");
    row("as Python prints it", "a.jsonl", "text", "text",
        R"({"text": "[{'content': 'Hi', 'role': 'user'}]"})");
    row("plain text of JSON", "a.txt", "text", "",
        R"({"messages": [{"role": "user", "content": "Hi"}]})");
    row("a plain list", "a.txt", "text", "", R"([{"role": "user", "content": "Hi"}])");
  }
  void chats_are_named_as_such() {
    QFETCH(QString, file);
    QFETCH(QByteArray, text);
    QFETCH(QString, field);
    QFETCH(QString, member);
    put(file.toStdString(), text.toStdString());
    const QString said = documents({path(file.toStdString())}, field.toStdString());
    const QString in = member.isEmpty() ? "" : " in \"" + member + "\"";
    QVERIFY2(said.contains("F/" + file) &&
                 said.contains(": a chat (a list of messages" + in +
                               "), which cannot be trained on yet; valid: each chat as one text"),
             qPrintable(said));
  }

  void texts_that_only_look_like_chats() {
    put("a.jsonl", R"({"text": "role: user", "messages": [{"role": "user", "content": "Hi"}]})"
                   "\n"
                   R"({"text": "[{\u0022content\u0022: 1}]"})"
                   "\n"
                   R"({"text": "[[\u0022role\u0022]] messages"})");
    QCOMPARE(documents({path("a.jsonl")}),
             QString("[role: user][[{\"content\": 1}]][[[\"role\"]] messages]"));
  }

  void other_encodings_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const QString utf16 = "it is UTF-16, or no text at all; valid: UTF-8";
    QTest::newRow("UTF-16") << QByteArray("\xFF\xFEO\0n\0e\0", 8) << utf16;
    QTest::newRow("UTF-16, the other way") << QByteArray("\xFE\xFF\0O\0n\0e", 8) << utf16;
    QTest::newRow("without a mark") << QByteArray("O\0n\0c\0e\0", 8) << utf16;
    QTest::newRow("Latin-1") << QByteArray(
                                    "caf\xE9 au lait, cr\xE8me br\xFBl\xE9"
                                    "e")
                             << "its byte 3 (0xE9) is no UTF-8: it is probably Latin-1 or "
                                "Windows-1252; valid: UTF-8";
  }
  void other_encodings() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    const std::string name = put("a.txt", bytes.toStdString());
    QVERIFY2(documents({name}).startsWith("F/a.txt: " + says), qPrintable(documents({name})));
    // As they are found before anything is tokenized.
    const auto files = find_sources({put("0.txt", "fine"), name})->files;
    const auto checked = heddle::data::check_encodings(files);
    QVERIFY(!checked);
    QVERIFY(checked.error().message.find(says.toStdString()) != std::string::npos);
  }

  /// A few wrong bytes in a text are no other encoding, nor is a character that was cut.
  void stray_bytes_stay() {
    put("a.txt", "caf\xC3\xA9 \xFF noir");
    QCOMPARE(find_sources({path("a.txt")})->files.size(), size_t{1});
    QVERIFY(heddle::data::check_encodings(find_sources({path("a.txt")})->files));
    QVERIFY(heddle::data::encoding_fault("word \xC3", heddle::data::TextKind::plain).empty());
  }

  void pipes_are_not_waited_for() {
    QCOMPARE(mkfifo(path("a.txt").c_str(), 0600), 0);
    QVERIFY(documents({path("a.txt")}).startsWith("F/a.txt: not a text file"));
    heddle::data::SourceFile pipe{path("a.txt"), {}, 0, 0};
    VERIFY_SAYS(heddle::data::ByteStream::open(pipe, ""), "it is no regular file");
  }

  void another_field() {
    put("a.jsonl", "{\"text\": \"no\", \"content\": \"yes\"}\n{\"text\": \"no\"}\n");
    QCOMPARE(documents({path("a.jsonl")}, "content"),
             QString("[yes]<F/a.jsonl:2: not a JSON object with a text in \"content\": it has no "
                     "\"content\">"));
  }

  void a_file_that_changes_meanwhile() {
    const std::string name = put("a.txt", "one");
    const auto sources = find_sources({name});
    std::ofstream(name, std::ios::app) << " more";
    ChunkReader reader(sources->files, "text", {});
    const auto chunk = reader.next();
    QVERIFY(!chunk);
    QVERIFY(chunk.error().message.find("a.txt: has changed since") != std::string::npos);
  }

  /// Long texts come in parts, cut where it is said that they may be, and from a chunk's place on
  /// they come again as before.
  void long_texts_come_in_parts() {
    std::string text;
    for (int i = 0; text.size() < 5'000'000; ++i) text += fmt::format("line {}\n", i);
    const auto sources = find_sources({put("a.txt", text), put("b.txt", "b")});
    const heddle::data::MayCut at_even_lines = [](std::string_view all, size_t at) {
      return all.find("2\n", at - 2) == at - 2;
    };
    ChunkReader reader(sources->files, "text", at_even_lines);
    std::vector<heddle::data::Chunk> chunks;
    for (auto chunk = reader.next(); *chunk; chunk = reader.next()) chunks.push_back(**chunk);
    QVERIFY(chunks.size() >= 4);
    std::string joined;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const bool last = i == chunks.size() - 1;  // b.txt
      joined += chunks[i].bytes;
      QCOMPARE(chunks[i].begins, i == 0 || last);
      QCOMPARE(chunks[i].ends, i >= chunks.size() - 2);
      if (i < chunks.size() - 2) QVERIFY(chunks[i].bytes.ends_with("2\n"));
    }
    QCOMPARE(joined, text + "b");
    for (size_t i = 0; i < chunks.size(); ++i) {
      ChunkReader again(sources->files, "text", at_even_lines);
      QVERIFY(again.go_to(chunks[i].place));
      for (size_t j = i; j < chunks.size(); ++j) QCOMPARE((*again.next())->bytes, chunks[j].bytes);
    }
  }
};

HEDDLE_TEST(DocumentsTest)
#include "documents_test.moc"
