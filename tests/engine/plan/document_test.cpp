// A plan's document comes back from its JSON as it went in, and says what the design says.
#include "engine/plan/document.h"

#include <QtTest>
#include <nlohmann/json.hpp>

#include "tests/support/test_class.h"

using namespace heddle::plan;

namespace {

Document sample() {
  Document document;
  document.recipe = "8b.toml";
  document.hardware = "h100-sxm";
  document.ranks = 8;
  document.step_seconds = 2.47;
  document.mfu = {{"full attention", 6e10, 0.389}, {"causal attention", 5e10, 0.35}};
  document.memory[Category::activations] = 41'000'000'000;
  document.memory[Category::other] = 2'000'000'000;
  document.peak_bytes = document.memory.total();
  document.limit_bytes = 80'000'000'000;
  RankFigures rank;
  rank.rank = 4;
  rank.stage = 1;
  rank.memory[Category::optimizer] = 7;
  document.ranks_shown = {rank};
  BucketFigures bucket;
  bucket.name = "layers.0";
  bucket.modules = {"layers.0"};
  bucket.gather_bytes = 436'000'000;
  document.buckets = {bucket};
  document.bytes_by_group = {{"dp_shard", 12}};
  document.exposed = {{"all_gather layers.0 (forward)", 4, 0, 0.01, "its compute is shorter"}};
  Shortfall shortfall{.bytes = 5, .largest = Category::activations};
  shortfall.closed_by = {{{"recompute.mode = \"full\""}, 8, 70, 80, 2.5}};
  shortfall.least = Variant{{"training.local_batch = 1"}, 8, 90, 80, 3.0};
  document.shortfall = shortfall;
  document.plan_hash = "0123";
  RankTimeline timeline{4, {{"mm", "layers.0.attention.wq", 10, 20, 0, 1, 7}}, {{5, {}}}};
  timeline.memory.front().bytes[Category::workspace] = 9;
  timeline.transfers = {{2, 5, 4096, "dp_shard"}, {3, -1, 12, "pp 0>1"}, {9, 11, 0, "dp_shard"}};
  document.timelines = {timeline};
  return document;
}

}  // namespace

class DocumentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comes_back() {
    const Document document = sample();
    const Document read = from_json(nlohmann::json::parse(to_json(document).dump()));
    QCOMPARE(to_json(read).dump(), to_json(document).dump());
    QCOMPARE(read.ranks_shown, document.ranks_shown);
    QCOMPARE(read.buckets, document.buckets);
    QCOMPARE(read.exposed, document.exposed);
    QCOMPARE(read.mfu, document.mfu);
    QCOMPARE(read.memory, document.memory);
    QVERIFY(read.shortfall == document.shortfall);
    QCOMPARE(read.shortfall->least->lacks(), int64_t{10});
    const RankTimeline& timeline = read.timelines.front();
    QCOMPARE(timeline.spans.front().module, std::string("layers.0.attention.wq"));
    QCOMPARE(timeline.spans.front().node, 7);
    QCOMPARE(timeline.memory.front().bytes[Category::workspace], int64_t{9});
    QCOMPARE(timeline.transfers, document.timelines.front().transfers);
  }

  // The design promises these to other programs.
  void has_the_stable_keys() {
    const auto json = to_json(sample());
    for (const char* key : {"recipe",
                            "hardware",
                            "ranks",
                            "executor",
                            "step_seconds",
                            "tokens_per_second_per_rank",
                            "mfu",
                            "mfu_convention",
                            "exposed_seconds",
                            "bubble_seconds",
                            "peak_bytes",
                            "limit_bytes",
                            "fits",
                            "memory",
                            "ranks_shown",
                            "collectives",
                            "bytes_by_group",
                            "exposed",
                            "uncertain",
                            "refined_by_runs",
                            "never_measured",
                            "busy_now",
                            "sources",
                            "plan_hash"})
      QVERIFY2(json.contains(key), key);
    QCOMPARE(json["mfu"].get<double>(), 0.389);
    QCOMPARE(json["fits"].get<bool>(), true);
    QCOMPARE(json["memory"]["activations"].get<int64_t>(), int64_t{41'000'000'000});
  }

  void fits_by_its_limit() {
    Document document = sample();
    document.limit_bytes = 10;
    QVERIFY(!document.fits());
    document.limit_bytes = 0;  // no limit is known
    QVERIFY(document.fits());
  }

  // A fuzzer's.
  void numbers_that_no_integer_holds_are_refused() {
    for (const char* text :
         {"{\"ranks\":28888888888888888888888888888888}", "{\"peak_bytes\":4611686018427387904}",
          "{\"memory\":{\"parameters\":-4611686018427387904}}",
          "{\"bytes_by_group\":{\"dp\":0.5}}"})
      QVERIFY_EXCEPTION_THROWN(from_json(nlohmann::json::parse(text)), nlohmann::json::exception);
    QCOMPARE(
        from_json(nlohmann::json::parse("{\"bytes_by_group\":{\"dp\":4}}")).bytes_by_group.at("dp"),
        int64_t{4});
  }

  void a_timeline_whose_columns_do_not_fit_is_refused() {
    for (const char* key : {"start", "module", "stream"}) {
      nlohmann::json json = nlohmann::json::parse(to_json(sample()).dump());
      json["timelines"][0][key].push_back(1);
      QVERIFY_EXCEPTION_THROWN(from_json(json), nlohmann::json::exception);
      json["timelines"][0].erase(key);
      QVERIFY_EXCEPTION_THROWN(from_json(json), nlohmann::json::exception);
    }
    nlohmann::json json = nlohmann::json::parse(to_json(sample()).dump());
    json["timelines"][0]["name"][0] = 99;
    QVERIFY_EXCEPTION_THROWN(from_json(json), nlohmann::json::exception);
    json = nlohmann::json::parse(to_json(sample()).dump());
    json["timelines"][0]["transfers"]["group"][0] = 7;
    QVERIFY_EXCEPTION_THROWN(from_json(json), nlohmann::json::exception);
  }

  void knows_no_more_than_it_reads() {
    const Document read = from_json(nlohmann::json::parse(R"({"recipe": "a", "new_key": [1]})"));
    QCOMPARE(read.recipe, std::string("a"));
    QCOMPARE(read.executor, std::string("heddle"));
  }
};

HEDDLE_TEST(DocumentTest)
#include "document_test.moc"
