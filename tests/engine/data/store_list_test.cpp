// The token stores of a cache: told, removed, and not removed under those who use them.
#include "engine/data/store_list.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "engine/data/store_builder.h"
#include "tests/support/test_class.h"

namespace fs = std::filesystem;
using namespace heddle::data;

class StoreListTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) { return folder_->path().toStdString() + "/" + name; }

  StoreOrigin origin_of(const std::string& text) {
    heddle::recipe::Data data;
    data.text = {path(text)};
    data.tokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
    data.cache = path("cache");
    return *store_origin(data);
  }
  StoreOrigin build(const std::string& text) {
    std::ofstream(path(text)) << "To be, or not to be: " << text;
    StoreOrigin origin = origin_of(text);
    if (const auto built = build_store(origin, {}); !built)
      qFatal("%s", built.error().message.c_str());
    return origin;
  }
  void used_days_ago(const StoreOrigin& origin, int days) {
    const timespec then{time(nullptr) - days * 86400, 0}, times[] = {then, then};
    QCOMPARE(utimensat(AT_FDCWD, used_path(origin.folder()).c_str(), times, 0), 0);
  }
  std::vector<StoredTokens> stores() { return *stores_in(path("cache")); }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void a_folder_that_is_not_there_has_none() { QVERIFY(stores().empty()); }

  void what_was_used_last_comes_first() {
    const StoreOrigin one = build("one.txt"), two = build("two.txt"), three = build("three.txt");
    used_days_ago(one, 2);
    used_days_ago(three, 1);
    fs::create_directories(path("cache/notes"));  // is no store
    const auto all = stores();
    QCOMPARE(all.size(), size_t{3});
    QCOMPARE(all[0].id, two.id);
    QCOMPARE(all[1].id, three.id);
    QCOMPARE(all[2].id, one.id);
    QCOMPARE(all[2].paths, std::vector{path("one.txt")});
    QVERIFY(all[2].bytes > 0 && all[2].whole && !all[2].in_use);
    QVERIFY(qAbs(time(nullptr) - 2 * 86400 - all[2].used) < 1000);
    // Reading it is a use.
    used_days_ago(two, 1);
    QVERIFY(TokenStore(one).await(1).has_value());
    QCOMPARE(stores()[0].id, one.id);
  }

  void what_became_of_the_texts() {
    (void)build("one.txt");
    QVERIFY(stores()[0].texts == TextsNow::as_they_were);
    std::ofstream(path("one.txt")) << "something else";
    QVERIFY(stores()[0].texts == TextsNow::changed);
    fs::remove(path("one.txt"));
    QVERIFY(stores()[0].texts == TextsNow::gone);
    std::ofstream(stores_in(path("cache"))->front().id.insert(0, path("cache/")) + "/sources.json",
                  std::ios::trunc)
        << "[";
    QVERIFY(stores()[0].texts == TextsNow::gone);
  }

  void a_store_in_use_stays() {
    const StoreOrigin origin = build("one.txt");
    {
      TokenStore reader(origin);
      QVERIFY(reader.await(1).has_value());
      QVERIFY(stores()[0].in_use);
      QCOMPARE(*remove_store(path("cache"), origin.id), false);
      QVERIFY(reader.await(1).has_value());
    }
    QVERIFY(!stores()[0].in_use);
    QCOMPARE(*remove_store(path("cache"), origin.id), true);
    QVERIFY(stores().empty());
    QVERIFY(fs::is_empty(path("cache")));
    // And is made again.
    QVERIFY(build_store(origin, {}).has_value());
    QVERIFY(stores()[0].whole);
  }

  void what_a_remover_that_died_has_left_is_removed() {
    const StoreOrigin origin = build("one.txt");
    fs::create_directories(origin.folder() + ".removed/rest");
    QCOMPARE(stores().size(), size_t{1});
    QCOMPARE(*remove_store(path("cache"), origin.id), true);
    QVERIFY(fs::is_empty(path("cache")));
  }
};

HEDDLE_TEST(StoreListTest)
#include "store_list_test.moc"
