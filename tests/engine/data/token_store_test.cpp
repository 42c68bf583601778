// Token stores: what is in them, what makes another one, and builders that stop, die or wait.
#include "engine/data/token_store.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file_lock.h"
#include "engine/data/chunk_tokens.h"
#include "engine/data/corpus.h"
#include "engine/data/store_builder.h"
#include "engine/data/tokenizer.h"
#include "tests/support/peak_memory.h"
#include "tests/support/test_class.h"

namespace recipe = heddle::recipe;
namespace fs = std::filesystem;
using heddle::Result;
using heddle::data::build_store;
using heddle::data::BuildOptions;
using heddle::data::store_origin;
using heddle::data::StoreOrigin;
using heddle::data::Tokenizer;
using heddle::data::TokenStore;
using StoredIds = std::vector<int64_t>;

namespace {

const std::string kStoreTokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";

const std::string& shakespeare() {
  static const std::string text = [] {
    std::ifstream file(HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

/// All ids of a store that is whole, and where its documents begin.
struct Contents {
  StoredIds ids, begins;
  bool operator==(const Contents&) const = default;
};

Contents contents_of(const StoreOrigin& origin) {
  TokenStore store(origin);
  const auto there = store.await(std::numeric_limits<int64_t>::max());
  if (!there) return {};
  Contents all;
  all.ids.resize(static_cast<size_t>(*there));
  std::vector<uint8_t> flags(all.ids.size());
  if (!store.read(0, all.ids, flags)) return {};
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) all.begins.push_back(static_cast<int64_t>(i));
  return all;
}

QString said(const Result<>& result) {
  return result ? "done" : QString::fromStdString(result.error().message);
}

}  // namespace

class TokenStoreTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) { return folder_->path().toStdString() + "/" + name; }
  std::string put(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  recipe::Data data(const std::vector<std::string>& texts) {
    recipe::Data data;
    data.text = texts;
    data.tokenizer = kStoreTokenizer;
    data.cache = path("cache");
    return data;
  }
  /// A text whose tokens fill a shard and some of the next.
  std::string long_text() {
    std::string text;
    for (int i = 0; i < 15; ++i) text += shakespeare();
    return text;
  }

 private Q_SLOTS:
  // The largest disk that is still too small.
  void a_full_disk_is_named_there_too() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    const auto text = data({put("a.txt", shakespeare())});
    const std::string cache = text.cache;
    fs::create_directories(cache);
    QString reason;
    for (int files = 4; files < 64; ++files) {
      const std::string options = "size=16m,mode=700,nr_inodes=" + std::to_string(files);
      if (mount("tmpfs", cache.c_str(), "tmpfs", 0, options.c_str()) != 0)
        QSKIP("no right to mount a tmpfs here");
      const auto unmount = qScopeGuard([&] { umount2(cache.c_str(), MNT_DETACH); });
      const auto origin = store_origin(text);
      QVERIFY(origin);
      const auto built = build_store(*origin, {});
      if (built) {
        QVERIFY2(reason.contains("No space left on device"), qPrintable(reason));
        return;
      }
      std::ifstream failure(heddle::data::failure_path(origin->folder()));
      reason = QString::fromStdString({std::istreambuf_iterator<char>(failure), {}});
    }
    QFAIL("the store is never whole");
  }

  void what_parts_documents_is_the_recipes_where_it_says_so_data() {
    QTest::addColumn<QString>("bos");
    QTest::addColumn<QString>("eos");
    QTest::addColumn<QString>("tokens");  // of "a" and "b"; what is wrong
    QTest::newRow("the tokenizer's") << ""
                                     << ""
                                     << "4094 64 4095 4094 65 4095";
    QTest::newRow("no bos") << "none"
                            << ""
                            << "64 4095 65 4095";
    QTest::newRow("none") << "none"
                          << "none"
                          << "64 65";
    QTest::newRow("others") << "<|end_of_text|>"
                            << "!"
                            << "4095 64 0 4095 65 0";
    QTest::newRow("no token")
        << ""
        << "</s>"
        << "data.eos: \"</s>\" is no token of T; valid: one of its tokens, \"none\", or \"\"";
  }
  void what_parts_documents_is_the_recipes_where_it_says_so() {
    QFETCH(QString, bos);
    QFETCH(QString, eos);
    QFETCH(QString, tokens);
    recipe::Data recipe = data({put("a.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n")});
    const std::string plain = store_origin(recipe)->id;
    recipe.bos = bos.toStdString();
    recipe.eos = eos.toStdString();
    const auto origin = store_origin(recipe);
    QCOMPARE(origin->id == plain, bos.isEmpty() && eos.isEmpty());
    const auto built = build_store(*origin, {.jobs = 1});
    if (!built) {
      QCOMPARE(said(built).replace(QString::fromStdString(kStoreTokenizer), "T"), tokens);
      return;
    }
    QStringList ids;
    for (const int64_t id : contents_of(*origin).ids) ids << QString::number(id);
    QCOMPARE(ids.join(' '), tokens);
  }

  void a_document_that_the_tokenizer_gives_up_on_is_skipped() {
    std::string word;
    for (int i = 0; i < 1'000'000; ++i) word += "est";  // merges join all of it
    const auto origin = store_origin(data(
        {put("a.jsonl", "{\"text\": \"a\"}\n{\"text\": \"" + word + "\"}\n{\"text\": \"b\"}\n")}));
    QCOMPARE(said(build_store(*origin, {.jobs = 1, .skip_limit = 0.5})), "done");
    QCOMPARE(contents_of(*origin).ids, (StoredIds{4094, 64, 4095, 4094, 65, 4095}));
    std::ifstream skipped(origin->folder() + "/skipped.txt");
    const std::string line(std::istreambuf_iterator<char>(skipped), {});
    QVERIFY2(line.find("a.jsonl:2: a word of 3000000 bytes") != std::string::npos, line.c_str());
    QVERIFY(said(build_store(*store_origin(data({put("a.txt", word)})), {.jobs = 1}))
                .contains("a.txt: a word of 3000000 bytes"));
  }

  void a_tokenizers_other_files_make_another_store() {
    fs::create_directories(path("model"));
    fs::copy_file(kStoreTokenizer, path("model/tokenizer.json"));
    recipe::Data recipe = data({put("a.txt", "a")});
    recipe.tokenizer = path("model/tokenizer.json");
    const std::string plain = store_origin(recipe)->id;
    put("model/tokenizer_config.json", "{\"chat_template\": \"{{ messages }}\"}");
    QCOMPARE(store_origin(recipe)->id, plain);
    put("model/tokenizer_config.json", "{\"eos_token\": \"!\"}");
    const auto origin = store_origin(recipe);
    QVERIFY(origin->id != plain);
    QCOMPARE(said(build_store(*origin, {.jobs = 1})), "done");
    QCOMPARE(contents_of(*origin).ids, (StoredIds{4094, 64, 0}));
  }

  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void it_holds_what_the_tokenizer_gives() {
    std::string text;
    for (int i = 0; i < 3; ++i) text += shakespeare();  // more than a chunk
    const auto origin = store_origin(
        data({put("a.txt", text), put("b.jsonl", "{\"text\": \"one\"}\n\n{\"text\": \"\"}\n"),
              put("c.txt", "")}));
    QVERIFY(origin.has_value());
    QCOMPARE(said(build_store(*origin, {.jobs = 3})), "done");
    auto tokenizer = Tokenizer::load(kStoreTokenizer);
    Contents expected;
    for (const std::string& document : {text, std::string("one"), std::string(), std::string()}) {
      const auto ids = tokenizer->encode(document).value();
      expected.begins.push_back(static_cast<int64_t>(expected.ids.size()));
      expected.ids.push_back(4094);
      expected.ids.insert(expected.ids.end(), ids.begin(), ids.end());
      expected.ids.push_back(4095);
    }
    const Contents all = contents_of(*origin);
    QCOMPARE(all.ids.size(), expected.ids.size());
    QVERIFY(all == expected);
    const auto totals = heddle::data::read_totals(origin->folder());
    QCOMPARE((*totals)->documents, int64_t{4});
    QCOMPARE((*totals)->bytes, static_cast<int64_t>(text.size() + 3));
  }

  /// SentencePiece's tokenizers, too, take a long text in parts, with the ids of the whole.
  void a_long_text_is_cut_whatever_the_tokenizer() {
    recipe::Data pieces = data({put("a.txt", shakespeare() + "  two  spaces\n\n" + shakespeare())});
    pieces.tokenizer = HEDDLE_SOURCE_DIR "/tests/fixtures/tokenizers/byte_fallback.json";
    const auto origin = store_origin(pieces);
    QCOMPARE(said(build_store(*origin, {.jobs = 2})), "done");
    auto tokenizer = Tokenizer::load(pieces.tokenizer);
    heddle::data::ChunkReader reader(origin->files, "text", [&](std::string_view text, size_t at) {
      return heddle::data::parts_at(text, at, *tokenizer);
    });
    int chunks = 0;
    while (*reader.next()) ++chunks;
    QVERIFY2(chunks >= 2, qPrintable(QString::number(chunks)));
    const auto whole = tokenizer->encode(shakespeare() + "  two  spaces\n\n" + shakespeare());
    StoredIds ids = contents_of(*origin).ids;
    if (tokenizer->bos_id()) ids.erase(ids.begin());
    if (tokenizer->eos_id()) ids.pop_back();
    QVERIFY(std::ranges::equal(ids, *whole));
  }

  /// One that is stopped after each shard, and one whose last shard came without the word that it
  /// is whole, end as one that is built at once; with any number of threads.
  void it_goes_on_where_it_was() {
    const std::string text = put("a.txt", long_text());
    recipe::Data at_once = data({text, put("b.jsonl", "{\"text\": \"and on\"}\n")});
    recipe::Data in_parts = at_once;
    in_parts.cache = path("parts");
    const auto whole = store_origin(at_once), parts = store_origin(in_parts);
    QCOMPARE(said(build_store(*whole, {.jobs = 2})), "done");
    QCOMPARE(said(build_store(*parts, {.jobs = 1, .shards = 1})), "done");
    QVERIFY(fs::exists(heddle::data::shard_path(parts->folder(), 0)));
    QVERIFY(!fs::exists(heddle::data::whole_path(parts->folder())));
    QCOMPARE(said(build_store(*parts, {.jobs = 3, .shards = 1})), "done");
    QVERIFY(!fs::exists(heddle::data::shard_path(parts->folder(), 1)));
    QCOMPARE(said(build_store(*parts, {.jobs = 3})), "done");
    const Contents all = contents_of(*whole);
    QVERIFY(all.ids.size() > 4'700'000);
    QVERIFY(contents_of(*parts) == all);
    fs::remove(heddle::data::whole_path(parts->folder()));
    QCOMPARE(said(build_store(*parts, {})), "done");
    QVERIFY(contents_of(*parts) == all);
    QCOMPARE(heddle::data::read_totals(parts->folder()).value()->documents, int64_t{2});
  }

  void a_damaged_shard_is_found() {
    const auto origin = store_origin(data({put("a.txt", long_text())}));
    QCOMPARE(said(build_store(*origin, {.shards = 1})), "done");
    const std::string shard = heddle::data::shard_path(origin->folder(), 0);
    std::fstream(shard, std::ios::in | std::ios::out | std::ios::binary).seekp(1'000'000).put('x');
    QVERIFY(said(build_store(*origin, {})).contains("000000.tokens: is damaged"));
  }

  void what_makes_another_store() {
    const std::string text = put("a.txt", "one");
    const recipe::Data first = data({text});
    const auto id = [](const recipe::Data& of) { return store_origin(of)->id; };
    QCOMPARE(id(first), id(first));
    recipe::Data other = first;
    other.tokenizer = put("tokenizer.json", "{}");
    QVERIFY(id(other) != id(first));
    other = first;
    other.field = "content";
    QVERIFY(id(other) != id(first));
    other = first;
    other.skip_limit = 0.5;
    other.seq_len = 7;
    QCOMPARE(id(other), id(first));
    const std::string before = id(first);
    const auto changed = fs::last_write_time(text);
    put("a.txt", "two");
    fs::last_write_time(text, changed);  // as within a tick of the clock
    QVERIFY(id(first) != before);
  }

  /// When two build the same store, one waits for the other, and both find all of it.
  void two_at_once() {
    const auto origin = store_origin(data({put("a.txt", long_text())}));
    Result<> first, second;
    {
      const std::jthread one([&] { first = build_store(*origin, {.jobs = 1}); });
      const std::jthread two([&] { second = build_store(*origin, {.jobs = 1}); });
    }
    QCOMPARE(said(first), "done");
    QCOMPARE(said(second), "done");
    QVERIFY(contents_of(*origin).ids.size() > 4'700'000);
  }

  void readers_wait_for_the_builder() {
    const auto origin = store_origin(data({put("a.txt", long_text())}));
    TokenStore store(*origin);
    std::jthread builder([&] { (void)build_store(*origin, {.jobs = 1}); });
    const auto some = store.await(1);
    QVERIFY(some.has_value());
    QCOMPARE(*some, heddle::data::tokens_of_shard(0));
    const auto all = store.await(std::numeric_limits<int64_t>::max());
    QVERIFY(all.has_value());
    QCOMPARE(*all, store.totals()->tokens);
  }

  void readers_without_a_builder() {
    const auto origin = store_origin(data({put("a.txt", "one")}));
    const auto nothing = TokenStore(*origin).await(1);
    QVERIFY(QString::fromStdString(nothing.error().message)
                .contains("are not all there, and nobody makes them; valid: heddle-engine "
                          "tokenize-corpus RECIPE"));
    // The cause of a builder's death reaches those that wait.
    const auto bad = store_origin(data({put("b.jsonl", "{\n")}));
    const QString why = said(build_store(*bad, {}));
    QVERIFY2(why.contains("b.jsonl:1: not a JSON object with a text in \"text\""), qPrintable(why));
    QCOMPARE(QString::fromStdString(TokenStore(*bad).await(1).error().message), why);
  }

  void parquet_without_the_plug_in() {
    const auto origin = store_origin(data({put("a.parquet", "PAR1")}));
    const QString why = said(build_store(*origin, {}));
    QVERIFY2(why.startsWith(QString::fromStdString(
                 "data.text: " + path("a.parquet") +
                 ": Parquet needs the engine's plug-in for it, which does not load (")),
             qPrintable(why));
    QVERIFY2(why.endsWith("; valid: packaging/start.sh --parquet builds it, or .jsonl instead"),
             qPrintable(why));
  }

  void few_unreadable_documents_are_skipped() {
    std::string lines;
    for (int i = 0; i < 2000; ++i) lines += i == 999 ? "no\n" : "{\"text\": \"a\"}\n";
    recipe::Data few = data({put("a.jsonl", lines)});
    const auto origin = store_origin(few);
    QCOMPARE(said(build_store(*origin, {.skip_limit = 0.001})), "done");
    QCOMPARE(heddle::data::read_totals(origin->folder()).value()->skipped, int64_t{1});
    std::ifstream skipped(origin->folder() + "/skipped.txt");
    std::string line;
    QVERIFY(std::getline(skipped, line) &&
            line.find("a.jsonl:1000: not a JSON object") != line.npos);
    // The same texts under a lower limit.
    few.cache = path("strict");
    QVERIFY(said(build_store(*store_origin(few), {.skip_limit = 0})).contains("a.jsonl:1000"));
  }

  void many_end_the_run_with_the_first_ten() {
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += i % 2 == 0 ? "no\n" : "{\"text\": \"a\"}\n";
    const QString why =
        said(build_store(*store_origin(data({put("a.jsonl", lines)})), {.skip_limit = 0.001}));
    QVERIFY2(why.startsWith("data.text: 20 of 40 documents cannot be read, more than "
                            "data.skip_limit 0.001 allows; the first:\n"),
             qPrintable(why));
    QCOMPARE(why.count('\n'), 10);
    QVERIFY(why.contains("a.jsonl:19: ") && !why.contains("a.jsonl:21: "));
  }

  /// The shards from before the disk filled up stay, and the build goes on from them.
  void no_room_for_the_tokens() {
    const auto origin = store_origin(data({put("a.txt", long_text())}));
    rlimit before{};
    QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit little{1 << 20, before.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &little), 0);
    const Result<> built = build_store(*origin, {});
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &before), 0);
    QVERIFY2(said(built).startsWith("data.cache: " + QString::fromStdString(origin->folder())),
             qPrintable(said(built)));
    QVERIFY(
        said(built).endsWith("; valid: a folder that can be written to, with room for the tokens"));
    for (const auto& entry : fs::directory_iterator(origin->folder()))
      QVERIFY(entry.path().extension() != ".part");
    QCOMPARE(said(build_store(*origin, {})), "done");
  }

  /// Another user who can write there could have put other tokens there.
  void a_store_that_somebody_else_may_have_made_is_not_believed() {
    const auto origin = store_origin(data({put("a.txt", "one")}));
    QCOMPARE(said(build_store(*origin, {})), "done");
    const auto totals = [&] {
      const auto read = heddle::data::read_totals(origin->folder());
      return read ? "believed" : QString::fromStdString(read.error().message);
    };
    QCOMPARE(totals(), "believed");
    fs::permissions(path("cache"), fs::perms(0777));
    QVERIFY2(totals().startsWith("data.cache: others can write to "), qPrintable(totals()));
    QVERIFY2(totals().endsWith("/cache', or a folder in a place of your own"),
             qPrintable(totals()));
    QCOMPARE(said(build_store(*origin, {})), totals());
    QCOMPARE(QString::fromStdString(TokenStore(*origin).await(1).error().message), totals());
    fs::permissions(path("cache"), fs::perms(01777));
    QVERIFY2(totals().startsWith("data.cache: others can write to "), qPrintable(totals()));
    fs::permissions(path("cache"), fs::perms(0700));
    fs::permissions(origin->folder(), fs::perms(0770));
    QVERIFY2(totals().startsWith("data.cache: others can write to "), qPrintable(totals()));
    fs::permissions(origin->folder(), fs::perms(0700));
    QCOMPARE(totals(), "believed");
    if (geteuid() != 0) QSKIP("to give files away needs root");
    const std::string shard = heddle::data::shard_path(origin->folder(), 0);
    QCOMPARE(chown(shard.c_str(), 65534, 65534), 0);
    std::vector<int64_t> id(1);
    std::vector<uint8_t> begins(1);
    QVERIFY(
        said(TokenStore(*origin).read(0, id, begins))
            .endsWith("000000.tokens: cannot be read: it belongs to someone else (user 65534)"));
    QCOMPARE(chown(origin->folder().c_str(), 65534, 65534), 0);
    QVERIFY2(totals().contains(" belongs to someone else (user 65534), who could put other files"),
             qPrintable(totals()));
  }

  /// 1.5 GB of one letter, 1.5 MB packed: its only piece is all of it.
  void a_text_that_cannot_be_cut_takes_little_memory() {
    gzFile file = gzopen(path("a.txt.gz").c_str(), "wb1");
    const std::string letters(1 << 20, 'a');
    for (int i = 0; i < 1430; ++i) gzwrite(file, letters.data(), 1 << 20);
    gzclose(file);
    const auto origin = store_origin(data({path("a.txt.gz")}));
    const double taken = heddle::peak_mebibytes([&] {
      const QString why = said(build_store(*origin, {}));
      if (!why.contains(
              "a.txt.gz: 33554432 bytes from byte 0 on without a place where the text may "
              "be cut"))
        qFatal("%s", qPrintable(why));
    });
    qInfo("%.0f MiB", taken);
    QVERIFY2(taken > 0 && taken < 500, qPrintable(QString::number(taken)));
  }

  void a_cache_that_cannot_be_written() {
    recipe::Data nowhere = data({put("a.txt", "one")});
    nowhere.cache = put("file", "");
    QVERIFY(said(build_store(*store_origin(nowhere), {})).startsWith("data.cache: "));
  }
};

HEDDLE_TEST(TokenStoreTest)
#include "token_store_test.moc"
