// Background work: in which order, what a newer question drops, what is done in any case.
#include "gui/models/worker.h"

#include <QTest>
#include <future>

#include "tests/support/test_class.h"

using namespace heddle::gui;

class WorkerTest : public QObject {
  Q_OBJECT

 private:
  using Numbers = std::vector<int>;

  /// Holds a worker's only thread until it goes.
  class Held {
   public:
    explicit Held(Worker& worker) {
      auto begun = std::make_shared<std::promise<void>>();
      const std::future<void> waited = begun->get_future();
      worker.post([begun, go = go_.get_future().share()] {
        begun->set_value();
        go.wait();
      });
      waited.wait();
    }
    ~Held() { go_.set_value(); }

   private:
    std::promise<void> go_;
  };

 private Q_SLOTS:
  void aNewerQuestionDropsTheOlder() {
    Worker worker;
    QObject receiver;
    Job job(worker, &receiver);
    Numbers done, answers;
    {
      const Held held(worker);
      for (const int number : {1, 2, 3})
        job.start([&done, number] { return done.emplace_back(number); },
                  [&answers](int answer) { answers.push_back(answer); });
      QVERIFY(job.running());
    }
    QTRY_VERIFY(!job.running());
    QCOMPARE(done, Numbers({3}));
    QCOMPARE(answers, Numbers({3}));
  }

  void whatIsToBeDoneIsDoneAndEachResultDelivered() {
    Worker worker;
    QObject receiver;
    Job job(worker, &receiver);
    Numbers answers;
    {
      const Held held(worker);
      for (const int number : {1, 2, 3})
        job.add([number] { return number; }, [&answers](int answer) { answers.push_back(answer); });
    }
    QTRY_VERIFY(!job.running());
    QCOMPARE(answers, Numbers({1, 2, 3}));
  }

  void nothingIsDeliveredToWhatHasGone() {
    Worker worker;
    auto receiver = std::make_unique<QObject>();
    Job job(worker, receiver.get());
    bool delivered = false;
    std::promise<void> done;
    job.add([&done] { return done.set_value(), 0; }, [&delivered](int) { delivered = true; });
    receiver.reset();
    done.get_future().wait();
    QTest::qWait(50);
    QVERIFY(!delivered);
  }

  void whatIsToBeKeptIsFinishedFirst() {
    Numbers done;
    {
      Worker worker(1, Worker::AtEnd::finish);
      worker.post([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
      for (const int number : {1, 2, 3}) worker.post([&done, number] { done.push_back(number); });
    }
    QCOMPARE(done, Numbers({1, 2, 3}));
  }
};

HEDDLE_TEST(WorkerTest)
#include "worker_test.moc"
