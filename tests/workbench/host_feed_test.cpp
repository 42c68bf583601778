// One host's records, read piece by piece: as much at a time as a slow link brings.
#include "workbench/host_feed.h"

#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"

using namespace heddle;
using namespace heddle::workbench;

class HostFeedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_backlog_comes_in_small_parts_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<qulonglong>("bytes");  // of each log
    QTest::newRow("one rank") << 1 << 5'000'000ull;
    QTest::newRow("64 ranks") << 64 << 100'000ull;
  }
  void a_backlog_comes_in_small_parts() {
    QFETCH(int, ranks);
    QFETCH(qulonglong, bytes);
    const RunFixture fixture;
    Place place = place_on(fixture.target());
    place.shares.push_back(
        {.root = fixture.path("node"), .folder = "many", .engine_id = "", .local_ranks = ranks});
    const std::string run_dir = place.shares[0].run_dir();
    std::filesystem::create_directories(run_dir);
    for (int rank = 0; rank < ranks; ++rank)
      std::ofstream(fmt::format("{}/rank-{}.0.hlog", run_dir, rank)) << std::string(bytes, 'x');

    const auto writer = must(storage::Writer::open(fixture.store));
    must(writer->take_lease());
    storage::NewRun run;
    run.name = "many";
    run.hosts = to_json(place);
    HostFeed feed(*writer, must(writer->create_run(run)).id, place, 0);
    must(feed.connect(place.target));
    uint64_t all = 0, most = 0;
    while (const uint64_t came = must(feed.poll())) {
      all += came;
      most = std::max(most, came);
    }
    QCOMPARE(all, static_cast<uint64_t>(ranks) * bytes);
    QVERIFY2(most <= 2 << 20, fmt::format("{} bytes at once", most).c_str());
  }
};

HEDDLE_TEST(HostFeedTest)
#include "host_feed_test.moc"
