// A store damaged in the middle: what is readable is shown, the rest is named.
#include <SQLiteCpp/SQLiteCpp.h>

#include <QtTest>
#include <filesystem>
#include <fstream>

#include "tests/storage/store_fixture.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;
using heddle::test::read_text;

namespace {

bool is_read_or_told(const auto& result) { return result || !result.error().message.empty(); }

}  // namespace

class DamageTest : public QObject {
  Q_OBJECT

  static constexpr int kRuns = 60;
  QTemporaryDir folder_;
  std::string whole_;  // the bytes of a store of kRuns runs
  size_t page_bytes_ = 0;

  /// The store with one page of its file overwritten.
  std::string damaged(size_t page) const {
    std::string bytes = whole_;
    for (size_t i = 0; i < page_bytes_; ++i)
      bytes[page * page_bytes_ + i] = static_cast<char>(i * 7 + 1);
    const std::string path = folder_.filePath(QString("page-%1.sqlite").arg(page)).toStdString();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private Q_SLOTS:
  void initTestCase() {
    StoreFixture store;
    for (int i = 0; i < kRuns; ++i) {
      NewRun made = named("run-" + std::to_string(i));
      made.recipe = std::string(3000, '#');
      made.recipe_values = {{"optimizer.lr", "1e-3"}};
      const RunId run = must(store.writer->create_run(made)).id;
      must(store.writer->set_notes(run, std::string(500, 'n')));
      store.feed(run, log_of(whole_run(40)));
    }
    store.writer.reset();
    store.reader = must(Reader::open(store.path));
    SQLite::Database(store.path, SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    SQLite::Database database(store.path, SQLite::OPEN_READONLY);
    page_bytes_ = static_cast<size_t>(database.execAndGet("PRAGMA page_size").getInt());
    whole_ = read_text(store.path);
  }

  void any_page_may_be_damaged() {
    int partial = 0, left_out = 0;
    for (size_t page = 1; page < whole_.size() / page_bytes_; ++page) {
      const std::string path = damaged(page);
      Result<Reader> reader = Reader::open(path);
      const auto told = [&](const Error& error) {
        return error.message.find(path) != std::string::npos &&
               error.message.find("damaged") != std::string::npos;
      };
      if (!reader) {
        QVERIFY2(told(reader.error()), reader.error().message.c_str());
        continue;
      }
      const auto runs = reader->runs();
      if (!runs) {
        QVERIFY2(told(runs.error()), runs.error().message.c_str());
        continue;
      }
      // No run is missing without a word.
      QVERIFY(runs->size() == kRuns || reader->damage());
      if (runs->size() < kRuns) ++left_out;
      if (runs->size() < kRuns && runs->size() >= kRuns / 2) ++partial;
      if (reader->damage())
        QVERIFY2(reader->damage()->find("cannot be read") != std::string::npos,
                 reader->damage()->c_str());
      const auto lr = reader->column("recipe.optimizer.lr");
      QVERIFY(!lr || lr->size() == kRuns || reader->damage());
      // Each read of a run either works or reports the damage.
      for (const RunSummary& run : *runs) {
        if (run.id % 9 != 0) continue;
        QVERIFY(is_read_or_told(reader->run(run.id)));
        QVERIFY(is_read_or_told(reader->samples(run.id, "loss", 0)));
        QVERIFY(is_read_or_told(reader->lines_after(run.id, 0)));
        QVERIFY(is_read_or_told(reader->steps_after(run.id, 0)));
      }
      std::filesystem::remove(path);
    }
    QVERIFY2(left_out > 0 && partial > left_out / 2,
             qPrintable(QString("%1 of %2").arg(partial).arg(left_out)));
  }
};

HEDDLE_TEST(DamageTest)
#include "damage_test.moc"
