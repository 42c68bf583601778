// Numbers of ranks: what is made of their throughput and price, their JSON, and how people write
// them.
#include "engine/plan/rank_counts.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

/// 8 ranks make 1,000 tokens/s each, 16 make 900; 4 do not fit.
plan::RankCounts counts() {
  plan::RankCounts all;
  all.hardware = "loom";
  all.usd_per_rank_hour = 3.6;
  all.price_source = "what we pay";
  all.tokens = 1e9;
  all.complete = true;
  all.counts = {{.ranks = 4, .best = std::nullopt, .why = "nothing fits"},
                {.ranks = 8, .best = plan::Found{.tokens_per_second = 8000, .fits = true}},
                {.ranks = 16, .best = plan::Found{.tokens_per_second = 14400, .fits = true}}};
  return all;
}

}  // namespace

class RankCountsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void efficiency_is_against_the_least_that_fits() {
    const plan::RankCounts all = counts();
    QVERIFY(!efficiency(all, all.counts[0]));
    QCOMPARE(*efficiency(all, all.counts[1]), 1.0);
    QCOMPARE(*efficiency(all, all.counts[2]), 0.9);
  }

  void costs_are_those_of_all_ranks() {
    plan::RankCounts all = counts();
    QVERIFY(!usd_per_million_tokens(all, all.counts[0]));
    // 8 ranks cost 0.008 USD a second and make 8,000 tokens in it.
    QCOMPARE(*usd_per_million_tokens(all, all.counts[1]), 1.0);
    QCOMPARE(*training_seconds(all, all.counts[1]), 125'000.0);
    QCOMPARE(*training_usd(all, all.counts[1]), 1000.0);
    all.usd_per_rank_hour.reset();
    QVERIFY(!usd_per_million_tokens(all, all.counts[1]));
    QVERIFY(!training_usd(all, all.counts[1]));
    all.tokens = 0;
    QVERIFY(!training_seconds(all, all.counts[1]));
  }

  void json_and_back() {
    const plan::RankCounts all = counts();
    const auto json = nlohmann::json::parse(json_text(to_json(all)));
    QCOMPARE(json["counts"][2]["efficiency"].get<double>(), 0.9);
    QVERIFY(!json["counts"][0].contains("usd_per_million_tokens"));
    QVERIFY(plan::rank_counts_from_json(json) == all);
  }

  void numbers_of_ranks() {
    using Counts = std::vector<int64_t>;
    QVERIFY(plan::parse_rank_counts("64").value() == Counts{64});
    QVERIFY((plan::parse_rank_counts(" 32, 8,16,8").value() == Counts{8, 16, 32}));
    QVERIFY((plan::parse_rank_counts("8-64").value() == Counts{8, 16, 32, 64}));
    QVERIFY((plan::parse_rank_counts("6 - 30").value() == Counts{6, 12, 24}));
    for (const char* text :
         {"", "8,", "0", "-8", "64-8", "8 16", "many", "8-", "9999999999999999999"})
      QVERIFY2(!plan::parse_rank_counts(text), text);
    std::string many = "1";
    for (int i = 2; i < 100; ++i) many += "," + std::to_string(i);
    QVERIFY(!plan::parse_rank_counts(many));
  }

  void numbers_of_tokens() {
    QCOMPARE(plan::parse_tokens("15T").value(), 15e12);
    QCOMPARE(plan::parse_tokens(" 2.5 B ").value(), 2.5e9);
    QCOMPARE(plan::parse_tokens("1e9").value(), 1e9);
    for (const char* text : {"", "T", "-3B", "0", "nan", "inf", "15 TB", "1e30"})
      QVERIFY2(!plan::parse_tokens(text), text);
  }
};

HEDDLE_TEST(RankCountsTest)
#include "rank_counts_test.moc"
