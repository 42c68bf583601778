// Which links between hosts are slow, and what is no answer of a host.
#include "engine/links/judge_links.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::links;

namespace {

constexpr double kMiB = 1 << 20;

/// All pairs of so many hosts, 100 MiB/s and 0.1 ms each.
std::vector<Pair> pairs_of(size_t hosts) {
  std::vector<Pair> pairs;
  for (size_t from = 0; from < hosts; ++from)
    for (size_t to = from + 1; to < hosts; ++to)
      pairs.push_back({from, to, {1e-4, 100 * kMiB, 110 * kMiB}});
  return pairs;
}

Link& link_of(std::vector<Pair>& pairs, size_t from, size_t to) {
  for (Pair& pair : pairs)
    if (pair.from == from && pair.to == to) return pair.link;
  qFatal("no such pair");
}

std::string text_of(const std::vector<Slowness>& slow) {
  std::string text;
  for (const Slowness& each : slow) text += each.what + "\n";
  return text;
}

const std::vector<std::string> kNames{"ada", "bell", "cray", "dell"};

}  // namespace

class LinksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void like_links_are_fine() {
    auto pairs = pairs_of(4);
    link_of(pairs, 1, 2) = {1.4e-4, 70 * kMiB, 90 * kMiB};
    QCOMPARE(text_of(links::judge_links(kNames, pairs, {})), std::string());
    QCOMPARE(text_of(links::judge_links(kNames, {}, {})), std::string());
  }

  void one_slow_link_is_named() {
    auto pairs = pairs_of(4);
    link_of(pairs, 1, 2).back = 20 * kMiB;
    QCOMPARE(text_of(links::judge_links(kNames, pairs, {})),
             std::string("the link between bell and cray is slow: 20.0 MiB/s, others 100 MiB/s\n"));
    pairs = pairs_of(4);
    link_of(pairs, 0, 3).seconds = 0.04;
    QCOMPARE(text_of(links::judge_links(kNames, pairs, {})),
             std::string("the link between ada and dell is slow: a word takes 40 ms there and "
                         "back, others 0.1 ms\n"));
  }

  void a_slow_host_is_one_cause_data() {
    QTest::addColumn<int>("hosts");
    QTest::newRow("of three") << 3;
    QTest::newRow("of four") << 4;
  }
  void a_slow_host_is_one_cause() {
    QFETCH(int, hosts);
    auto pairs = pairs_of(static_cast<size_t>(hosts));
    for (Pair& pair : pairs)
      if (pair.from == 1 || pair.to == 1) pair.link.out = 10 * kMiB;
    link_of(pairs, 0, 1).out = 9 * kMiB;
    QCOMPARE(text_of(links::judge_links({kNames.begin(), kNames.begin() + hosts}, pairs, {})),
             std::string("bell is slow: all of its links are; the slowest, to ada: 9.00 MiB/s, "
                         "others 100 MiB/s\n"));
  }

  // All links of another are slow, too, but little.
  void of_two_slow_hosts_the_slowest_is_the_cause() {
    auto pairs = pairs_of(4);
    for (Pair& pair : pairs)
      if (pair.from == 1 || pair.to == 1) pair.link.out = 10 * kMiB;
    link_of(pairs, 0, 2).seconds = link_of(pairs, 0, 3).seconds = 0.04;
    const std::string text = text_of(links::judge_links(kNames, pairs, {}));
    QVERIFY2(text.starts_with("bell is slow: all of its links are"), text.c_str());
    for (const char* other : {"\nthe link between ada and cray", "\nthe link between ada and dell"})
      QVERIFY2(text.find(other) != std::string::npos, text.c_str());
  }

  void two_hosts_are_compared_with_before() {
    const std::vector<std::string> names{"ada", "bell"};
    auto now = pairs_of(2);
    QCOMPARE(text_of(links::judge_links(names, now, {})), std::string());
    link_of(now, 0, 1).out = 30 * kMiB;
    QCOMPARE(text_of(links::judge_links(names, now, {})), std::string());
    QCOMPARE(text_of(links::judge_links(names, now, pairs_of(2))),
             std::string("the link between ada and bell is slow: 30.0 MiB/s, before 100 MiB/s\n"));
  }

  void what_is_no_answer_is_refused() {
    for (const char* text :
         {"", "{}", "[]", "lost", "{\"seconds\":1,\"out\":2}",
          "{\"seconds\":1,\"out\":-2,\"back\":1}", "{\"seconds\":\"1\",\"out\":2,\"back\":1}",
          "{\"seconds\":0,\"out\":2,\"back\":1}"})
      QVERIFY2(!link_from(text), text);
    for (const char* text :
         {"", "{\"port\":1}", "{\"address\":1,\"port\":1}", "{\"address\":\"::1\",\"port\":\"x\"}"})
      QVERIFY2(!listener_from(text), text);
    const auto listener = listener_from("{\"address\":\"::1\",\"port\":65535}");
    QVERIFY(listener && listener->address == "::1" && listener->port == 65535);
  }
};

HEDDLE_TEST(LinksTest)
#include "links_test.moc"
