// Ranks whose collectives run on a device, as far as the host sees them: what they have started,
// and how many have ended. Each rank is a watchdog with its own journal and its own handle of the
// store.
#include "engine/transport/watchdog.h"

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <vector>

#include "tests/support/test_class.h"

using namespace heddle::transport;

namespace {

Descriptor gather(const char* label, uint64_t bytes = 4096) {
  Descriptor descriptor;
  descriptor.kind = Kind::all_gather;
  descriptor.dtype = at::kFloat;
  descriptor.range_count = 1;
  descriptor.bytes = descriptor.sizes_hash = bytes;
  std::strncpy(descriptor.label, label, kLabelBytes - 1);
  return descriptor;
}

struct Rank {
  std::atomic<uint64_t> ended = 0;
  std::atomic<int> aborts = 0;
  Journal journal{ended};
  std::unique_ptr<Watchdog> watchdog;
};

struct ThrowingStore : c10d::FileStore {
  using FileStore::FileStore;
  bool check(const std::vector<std::string>&) override { throw 7; }
};

}  // namespace

class WatchdogTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> folder_;

  // Ranks 4 and 6 of the run; none in `silent` has a watchdog.
  std::vector<std::unique_ptr<Rank>> start(std::optional<int> silent = {}) {
    std::vector<std::unique_ptr<Rank>> ranks;
    GroupOptions options;
    options.group = "dp_shard";
    options.ranks = {4, 6};
    options.timeout = std::chrono::milliseconds(400);
    for (int rank = 0; rank < 2; ++rank) {
      Rank& each = *ranks.emplace_back(std::make_unique<Rank>());
      if (rank == silent) continue;
      each.watchdog = std::make_unique<Watchdog>(
          c10::make_intrusive<c10d::FileStore>(folder_->filePath("store").toStdString(), 2), rank,
          2, options, each.journal, [&each](const std::string&) { ++each.aborts; });
    }
    return ranks;
  }

  static QString error_of(const Rank& rank) {
    return QString::fromStdString(rank.watchdog->error().value_or(""));
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void a_rank_that_lags_is_named_with_its_last_collectives() {
    const auto ranks = start();
    for (const char* label : {"layers.0", "layers.1", "layers.2"}) {
      ranks[0]->journal.post(gather(label));
      if (std::strcmp(label, "layers.2") != 0) ranks[1]->journal.post(gather(label));
    }
    ranks[0]->ended = ranks[1]->ended = 2;
    for (const auto& rank : ranks) {
      QTRY_COMPARE(rank->aborts.load(), 1);
      QCOMPARE(error_of(*rank),
               "#2 all-gather layers.2 (1 range, 4096 bytes of Float) of group dp_shard has not "
               "ended after 0.4 s: rank 6 lags; last collectives: rank 4: #0 all-gather layers.0 "
               "(1 range, 4096 bytes of Float), #1 all-gather layers.1 (1 range, 4096 bytes of "
               "Float), #2 all-gather layers.2 (1 range, 4096 bytes of Float); rank 6: #0 "
               "all-gather layers.0 (1 range, 4096 bytes of Float), #1 all-gather layers.1 (1 "
               "range, 4096 bytes of Float)");
    }
  }

  void the_first_bucket_that_ranks_disagree_on_is_named() {
    const auto ranks = start();
    for (const auto& rank : ranks) rank->journal.post(gather("layers.0"));
    ranks[0]->journal.post(gather("layers.1"));
    ranks[1]->journal.post(gather("layers.1 layers.2", 8192));
    for (const auto& rank : ranks) {
      rank->journal.post(gather(rank == ranks[0] ? "layers.2" : "layers.3"));
      rank->ended = 1;
    }
    for (const auto& rank : ranks) {
      QTRY_COMPARE(rank->aborts.load(), 1);
      QCOMPARE(error_of(*rank),
               "the ranks of group dp_shard disagree at collective 1: rank 4 is in #1 all-gather "
               "layers.1 (1 range, 4096 bytes of Float), rank 6 in #1 all-gather layers.1 layers.2 "
               "(1 range, 8192 bytes of Float)");
    }
  }

  void a_rank_that_does_not_answer_lags() {
    const auto ranks = start(1);
    ranks[0]->journal.post(gather("norm"));
    QTRY_COMPARE(ranks[0]->aborts.load(), 1);
    QVERIFY2(error_of(*ranks[0]).contains("rank 6 lags; last collectives: rank 4: #0 all-gather "
                                          "norm (1 range, 4096 bytes of Float); rank 6: none"),
             qPrintable(error_of(*ranks[0])));
  }

  void where_all_ranks_have_come_none_lags() {
    const auto ranks = start();
    for (const auto& rank : ranks) rank->journal.post(gather("norm"));
    for (const auto& rank : ranks) {
      QTRY_COMPARE(rank->aborts.load(), 1);
      QVERIFY2(error_of(*rank).contains("has not ended after 0.4 s: all ranks have come to it; "
                                        "last collectives: rank 4: #0 all-gather norm"),
               qPrintable(error_of(*rank)));
    }
  }

  // Capturing a step, a library's call may wait for the other ranks as well.
  void a_collective_that_is_recorded_is_watched_and_then_forgotten() {
    const auto ranks = start();
    for (const auto& rank : ranks) {
      rank->journal.post(gather("layers.0"));
      rank->ended = 1;
      rank->journal.begin_recording();
      rank->journal.post(gather("layers.1"));
      rank->journal.recorded();
    }
    QTest::qWait(600);  // all are over
    for (const auto& rank : ranks) QVERIFY(!rank->watchdog->error());
    ranks[0]->journal.post(gather("layers.2"));
    for (const auto& rank : ranks) {
      QTRY_COMPARE(rank->aborts.load(), 1);
      QVERIFY2(error_of(*rank).startsWith("#2 all-gather layers.2 (1 range, 4096 bytes of Float) "
                                          "of group dp_shard has not ended after 0.4 s: rank 6 "
                                          "lags"),
               qPrintable(error_of(*rank)));
      rank->journal.end_recording();
      QCOMPARE(rank->journal.progress().entries.size(), size_t(1));
      QCOMPARE(rank->journal.post(gather("layers.1")), uint64_t(1));
    }
  }

  void what_the_transport_finds_wrong_ends_the_group() {
    const auto ranks = start(0);
    std::atomic<bool> broken = false;
    GroupOptions options;
    options.timeout = std::chrono::milliseconds(400);
    ranks[0]->watchdog = std::make_unique<Watchdog>(
        c10::make_intrusive<c10d::FileStore>(folder_->filePath("other").toStdString(), 2), 0, 2,
        options, ranks[0]->journal, [&ranks](const std::string&) { ++ranks[0]->aborts; },
        [&broken] { return broken ? "the network is down" : ""; });
    QTest::qWait(100);
    QVERIFY(!ranks[0]->watchdog->error());
    broken = true;
    QTRY_COMPARE(ranks[0]->aborts.load(), 1);
    QCOMPARE(error_of(*ranks[0]), "the network is down");
  }

  void what_a_library_throws_ends_the_group_with_that() {
    const auto ranks = start(0);
    GroupOptions options;
    options.timeout = std::chrono::milliseconds(400);
    ranks[0]->watchdog = std::make_unique<Watchdog>(
        c10::make_intrusive<ThrowingStore>(folder_->filePath("other").toStdString(), 2), 0, 2,
        options, ranks[0]->journal, [&ranks](const std::string&) { ++ranks[0]->aborts; });
    QTRY_COMPARE(ranks[0]->aborts.load(), 1);
    QCOMPARE(error_of(*ranks[0]), "something was thrown that is no exception");
    QCOMPARE(ranks[1]->aborts.load(), 0);
  }

  void collectives_that_go_on_are_left_alone() {
    const auto ranks = start();
    for (int i = 0; i < 20; ++i) {  // for longer than the timeout, never longer without an end
      for (const auto& rank : ranks) rank->journal.post(gather("layers.0"));
      QTest::qWait(50);
      for (const auto& rank : ranks) ++rank->ended;
    }
    QTest::qWait(600);  // nothing is under way
    for (const auto& rank : ranks) QVERIFY(!rank->watchdog->error());
  }

  void a_journal_keeps_what_has_not_ended_and_the_last_that_have() {
    std::atomic<uint64_t> ended = 0;
    Journal journal(ended);
    for (int i = 0; i < 200; ++i) {
      QCOMPARE(journal.post(gather("layers.0")), uint64_t(i));
      if (i < 195) ended = i;
    }
    const Progress progress = progress_from(to_bytes(journal.progress()));
    QCOMPARE(progress.ended, uint64_t(194));
    QCOMPARE(progress.entries.front().sequence, uint64_t(191));
    QCOMPARE(progress.entries.back().sequence, uint64_t(199));
    QCOMPARE(progress.stalled()->sequence, uint64_t(194));
    QVERIFY(progress_from({1, 2, 3}).entries.empty());
  }
};

HEDDLE_TEST(WatchdogTest)
#include "watchdog_test.moc"
