// Which documents a recipe's data.text stands for.
#include "engine/data/documents.h"

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using heddle::Result;
using heddle::data::for_each_document;

class DocumentsTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) { return folder_->path().toStdString() + "/" + name; }

  std::string put(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  /// The documents as "[one][two]", or the error with the folder written as "F".
  QString documents(const std::vector<std::string>& paths) {
    std::string joined;
    const auto read = for_each_document(paths, [&](std::string_view text) -> Result<> {
      joined += fmt::format("[{}]", text);
      return {};
    });
    return QString::fromStdString(read ? joined : read.error().message)
        .replace(folder_->path(), "F");
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void aTextFileIsOneDocument() {
    put("a.txt", "one\n\ntwo\r\n");
    QCOMPARE(documents({path("a.txt")}), QString("[one\n\ntwo\r\n]"));
    put("empty.txt", "");
    QCOMPARE(documents({path("empty.txt"), path("a.txt")}), QString("[][one\n\ntwo\r\n]"));
  }

  void eachLineOfJsonlIsOne() {
    put("a.jsonl",
        "{\"text\": \"one\\ntwo\", \"id\": 1}\r\n\n  \n{\"text\": \"\"}\n{\"text\": \"é\"}");
    QCOMPARE(documents({path("a.jsonl")}), QString("[one\ntwo][][é]"));
  }

  void foldersInTheOrderOfTheirPaths() {
    put("b.txt", "b");
    put("a/z.txt", "az");
    put("a/deep/x.jsonl", "{\"text\": \"x\"}");
    put("c.md", "not text");
    put("a10.txt", "10");
    QCOMPARE(documents({path("")}), QString("[x][az][10][b]"));
    QCOMPARE(documents({path("b.txt"), path("a")}), QString("[b][x][az]"));
  }

  void brokenLines_data() {
    QTest::addColumn<QByteArray>("line");
    for (const char* line :
         {"{", "plain words", "[\"text\"]", "{\"content\": \"x\"}", "{\"text\": 3}",
          "{\"text\": null}", "{\"text\": \"\xFF\"}", "{\"text\": \"a\"} {}"})
      QTest::newRow(line) << QByteArray(line);
  }
  void brokenLines() {
    QFETCH(QByteArray, line);
    put("a.jsonl", "{\"text\": \"fine\"}\n\n" + line.toStdString() + "\n");
    const QString said = documents({path("a.jsonl")});
    QVERIFY2(said.startsWith("F/a.jsonl:3: not a JSON object with a text in \"text\""),
             qPrintable(said));
  }

  void whatIsNoText() {
    QCOMPARE(documents({path("none.txt")}), QString("F/none.txt: no such file or folder"));
    put("a.pdf", "%PDF");
    QCOMPARE(documents({path("a.pdf")}),
             QString("F/a.pdf: not a text file; valid: .txt, .jsonl, a folder of them"));
    QCOMPARE(documents({path("")}), QString("F/: no .txt or .jsonl file in this folder"));
  }

  void takingMayFail() {
    put("a.txt", "a");
    put("b.txt", "b");
    int taken = 0;
    const auto read =
        for_each_document({path("a.txt"), path("b.txt")}, [&](std::string_view) -> Result<> {
          ++taken;
          return heddle::fail("enough");
        });
    QCOMPARE(read.error().message, std::string("enough"));
    QCOMPARE(taken, 1);
  }
};

QTEST_APPLESS_MAIN(DocumentsTest)
#include "documents_test.moc"
