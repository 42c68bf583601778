// The record of a rank's last collectives: it outlives the rank, and says where ranks part.
#include "engine/launch/flight_report.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>

#include "engine/runs/last_word.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::launch;
using transport::FlightEntry;
using transport::FlightRecorder;

namespace {

FlightEntry entry(uint64_t sequence, const std::string& what, double posted, double ended,
                  const std::string& group = "dp_shard", int32_t first_member = 0) {
  FlightEntry made{.number = sequence + 1,
                   .sequence = sequence,
                   .bytes = 4096,
                   .posted = posted,
                   .begun = ended,
                   .ended = ended,
                   .first_member = first_member};
  std::ranges::copy(group, made.group.begin());
  std::ranges::copy(what, made.what.begin());
  return made;
}

}  // namespace

class FlightReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_killed_process_leaves_its_collectives() {
    const auto word = runs::LastWord::make();
    QVERIFY(word);
    int ready[2];
    QCOMPARE(pipe(ready), 0);
    const pid_t rank = fork();
    if (rank == 0) {
      const auto recorder = FlightRecorder::open(word->fd(), runs::kFlightAt);
      if (!recorder) _exit(1);
      for (uint64_t sequence = 0; sequence < 200; ++sequence) {
        const uint64_t number =
            (*recorder)->post("dp_shard", 2, sequence, "all-gather layers.3", 64);
        if (sequence < 198) (*recorder)->begin(number);
        if (sequence < 197) (*recorder)->end(number);
      }
      [[maybe_unused]] const ssize_t told = write(ready[1], "", 1);
      for (;;) pause();
    }
    char byte = 0;
    QCOMPARE(read(ready[0], &byte, 1), ssize_t(1));
    kill(rank, SIGKILL);
    QCOMPARE(waitpid(rank, nullptr, 0), rank);
    const std::vector<FlightEntry> left = transport::read_flight(word->fd(), runs::kFlightAt);
    QCOMPARE(left.size(), transport::kFlightEntries);
    for (size_t i = 0; i < left.size(); ++i)
      QCOMPARE(left[i].sequence, uint64_t(200 - transport::kFlightEntries + i));
    QCOMPARE(left.back().first_member, 2);
    QCOMPARE(std::string(left.back().group.data()), std::string("dp_shard"));
    QCOMPARE(std::string(left.back().what.data()), std::string("all-gather layers.3"));
    QVERIFY(left.back().posted > 0);
    const std::string text = flight_text({{1, left}}, "rank 1 was killed by SIGKILL");
    QVERIFY2(text.find("The run: rank 1 was killed by SIGKILL\n") != std::string::npos,
             text.c_str());
    const auto count = [&](const std::string& part) {
      return QString::fromStdString(text).count(QString::fromStdString(part));
    };
    QCOMPARE(count(" waiting "), 2);
    QCOMPARE(count(" moving "), 1);
    QCOMPARE(count(" ended "), 125);
  }

  void memory_without_a_record_has_none() {
    const auto word = runs::LastWord::make();
    QVERIFY(word);
    QVERIFY(transport::read_flight(word->fd(), runs::kFlightAt).empty());
    QVERIFY(transport::read_flight(-1, runs::kFlightAt).empty());
    QVERIFY(flight_text({{0, {}}}, "").find("rank 0: none") != std::string::npos);
  }

  void the_first_collective_that_differs_is_named_data() {
    QTest::addColumn<int>("number");
    QTest::addColumn<QString>("says");
    QTest::newRow("alike") << 0 << "";
    QTest::newRow("one lags")
        << 1
        << "#8 of group dp_shard: rank 0 is in all-gather layers.1 (4096 bytes), rank 1 has not "
           "come to it";
    QTest::newRow("another collective")
        << 2
        << "#8 of group dp_shard: rank 0 is in all-gather layers.1 (4096 bytes), rank 1 in barrier "
           "(4096 bytes)";
    QTest::newRow("of two groups the one that waits longer")
        << 3 << "#3 of group tp: rank 1 is in all-reduce (4096 bytes), rank 0 has not come to it";
    QTest::newRow("groups of one name") << 4 << "";
  }
  void the_first_collective_that_differs_is_named() {
    QFETCH(int, number);
    QFETCH(QString, says);
    const FlightEntry seven = entry(7, "all-gather layers.0", 10, 11);
    const FlightEntry eight = entry(8, "all-gather layers.1", 12, 0);
    const FlightEntry nine = entry(9, "all-gather layers.2", 13, 0);
    const std::vector<std::vector<RankFlight>> all = {
        {{0, {seven, eight}}, {1, {seven, eight}}},
        {{0, {seven, eight, nine}}, {1, {seven}}},
        {{0, {seven, eight}}, {1, {seven, entry(8, "barrier", 12, 0), nine}}},
        {{0, {seven, eight, entry(2, "all-reduce", 9, 9.5, "tp")}},
         {1, {seven, entry(2, "all-reduce", 9, 9.5, "tp"), entry(3, "all-reduce", 11, 0, "tp")}}},
        {{0, {entry(4, "all-reduce", 9, 0, "tp", 0)}}, {2, {entry(5, "barrier", 9, 0, "tp", 2)}}},
    };
    QCOMPARE(QString::fromStdString(first_difference(all[static_cast<size_t>(number)])), says);
  }
};

HEDDLE_TEST(FlightReportTest)
#include "flight_report_test.moc"
