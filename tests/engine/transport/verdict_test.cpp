// Ranks that tell each other what has come of something: threads, each with its own handle of the
// store.
#include "engine/transport/verdict.h"

#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <future>
#include <memory>
#include <torch/csrc/distributed/c10d/FileStore.hpp>

#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::transport;

class VerdictTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> folder_;

  // Ranks 2, 5 and 7 of the run.
  std::unique_ptr<Verdict> rank_of_three(int rank) const {
    GroupOptions options;
    options.ranks = {2, 5, 7};
    return std::make_unique<Verdict>(
        c10::make_intrusive<c10d::FileStore>(folder_->filePath("store").toStdString(), 3), rank, 3,
        options);
  }

  static std::future<Result<std::string>> asked(Verdict& verdict, std::string error,
                                                std::chrono::milliseconds timeout) {
    return std::async(std::launch::async, [&verdict, error = std::move(error), timeout] {
      return verdict.of_all(error, timeout);
    });
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void all_ranks_hear_of_the_first_that_failed() {
    std::array<std::unique_ptr<Verdict>, 3> ranks;
    for (int rank = 0; rank < 3; ++rank) ranks[rank] = rank_of_three(rank);
    const std::vector<std::array<std::string, 3>> rounds = {
        {"", "", ""}, {"", "no memory", "too late"}, {"", "", ""}};
    const std::vector<std::string> expected = {"", "rank 5: no memory", ""};
    for (size_t round = 0; round < rounds.size(); ++round) {
      std::vector<std::future<Result<std::string>>> answers;
      for (int rank = 0; rank < 3; ++rank)
        answers.push_back(asked(*ranks[rank], rounds[round][rank], std::chrono::minutes(1)));
      for (auto& answer : answers) {
        const auto heard = answer.get();
        QVERIFY(heard);
        QCOMPARE(*heard, expected[round]);
      }
    }
  }

  void ranks_that_do_not_answer_are_named() {
    const auto first = rank_of_three(0), last = rank_of_three(2);
    QVERIFY(last->told().empty());
    const auto alone = first->of_all("no memory", std::chrono::milliseconds(50));
    QVERIFY(!alone);
    QCOMPARE(alone.error().message,
             std::string("ranks 5, 7 have not answered after 0.05 s (rank 2: no memory)"));
    QCOMPARE(last->told(), std::string("rank 2: no memory"));
    const auto second = rank_of_three(1);
    const auto two = second->of_all("", std::chrono::milliseconds(50));
    QVERIFY(!two);
    QCOMPARE(two.error().message,
             std::string("rank 7 has not answered after 0.05 s (rank 2: no memory)"));
  }
};

HEDDLE_TEST(VerdictTest)
#include "verdict_test.moc"
