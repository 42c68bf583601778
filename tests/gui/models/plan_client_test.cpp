// The planning process as the window uses it: heddle-engine itself, asked, killed, stopped.
#include "gui/models/plan_client.h"

#include <signal.h>

#include <QFile>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kLong = 60000;
const QString kEngine = QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine");
const QString kKey = QStringLiteral("test");

plan::PlanQuestion question() {
  plan::PlanQuestion question;
  question.file = HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml";
  QFile file(QString::fromStdString(question.file));
  if (!file.open(QIODevice::ReadOnly)) qFatal("no debug.toml");
  question.text = file.readAll().toStdString();
  question.timeline = true;
  question.closes = false;
  return question;
}

}  // namespace

class PlanClientTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    client_ = std::make_unique<PlanClient>(kEngine);
    connect(client_.get(), &PlanClient::planned, this,
            [this](const QString&, const std::shared_ptr<const Prediction>& prediction) {
              predictions_ << prediction;
            });
    connect(client_.get(), &PlanClient::faulty, this,
            [this](const QString&, const std::vector<plan::Fault>& faults) { faults_ << faults; });
    connect(client_.get(), &PlanClient::failed, this,
            [this](const QString&, const QString& why) { failures_ << why; });
  }

  void cleanup() {
    client_.reset();
    predictions_.clear();
    faults_.clear();
    failures_.clear();
  }

  void a_recipe_is_answered_by_its_plan() {
    QCOMPARE(client_->pid(), qint64{0});  // nothing runs before the first question
    client_->ask(kKey, question());
    QVERIFY(client_->isBusy());
    QTRY_VERIFY_WITH_TIMEOUT(!client_->isBusy(), kLong);
    QCOMPARE(failures_, QStringList());
    QCOMPARE(predictions_.size(), 1);
    const plan::Document& document = predictions_[0]->document;
    QVERIFY(document.step_seconds > 0);
    QVERIFY(document.peak_bytes > 0);
    QVERIFY(!document.timelines.empty());
    QCOMPARE(predictions_[0]->timelines.size(), document.timelines.size());
    QVERIFY(!predictions_[0]->timelines[0]->empty());
    QVERIFY(!document.timelines[0].memory.empty());
    QTRY_VERIFY_WITH_TIMEOUT(!client_->catalogue().empty(), kLong);
    QVERIFY(std::ranges::any_of(client_->catalogue(), [](const plan::HardwareEntry& entry) {
      return entry.name == "this-machine";
    }));
  }

  void faults_have_their_lines() {
    plan::PlanQuestion faulty = question();
    faulty.text =
        "[model]\npreset = \"llama3-debug\"\n[parallelism]\ntp = 3\n[hardware]\nranks = 8\n";
    client_->ask(kKey, faulty);
    QTRY_VERIFY_WITH_TIMEOUT(!client_->isBusy(), kLong);
    QCOMPARE(faults_.size(), 1);
    const auto tp = std::ranges::find(faults_[0], "parallelism.tp", &plan::Fault::key);
    QVERIFY(tp != faults_[0].end());
    QCOMPARE(tp->line, 4);
    QVERIFY(!tp->text.empty());
    // A question after a faulty recipe is answered.
    client_->ask(kKey, question());
    QTRY_COMPARE_WITH_TIMEOUT(predictions_.size(), 1, kLong);
  }

  void the_newest_question_is_answered_and_no_other() {
    for (const int ranks : {1, 2, 4}) {
      plan::PlanQuestion asked = question();
      asked.ranks = ranks;
      client_->ask(kKey, asked);
      QTest::qWait(30);  // it has been sent
    }
    QTRY_VERIFY_WITH_TIMEOUT(!client_->isBusy(), kLong);
    QCOMPARE(predictions_.size(), 1);
    QCOMPARE(predictions_[0]->document.ranks, int64_t{4});
  }

  void keys_do_not_disturb_each_other() {
    plan::PlanQuestion two = question(), four = question();
    two.ranks = 2;
    four.ranks = 4;
    client_->ask(kKey, two);
    client_->ask(QStringLiteral("other"), four);
    QTRY_VERIFY_WITH_TIMEOUT(!client_->isBusy(), kLong);
    QCOMPARE(predictions_.size(), 2);
  }

  void a_killed_planner_is_started_again_and_it_is_said() {
    client_->ask(kKey, question());
    QTRY_COMPARE_WITH_TIMEOUT(predictions_.size(), 1, kLong);
    const qint64 first = client_->pid();
    QVERIFY(first > 0);
    QCOMPARE(kill(static_cast<pid_t>(first), SIGKILL), 0);
    QTRY_VERIFY_WITH_TIMEOUT(client_->trouble().contains("signal 9"), kLong);
    QTRY_VERIFY_WITH_TIMEOUT(client_->pid() != first, kLong);
    client_->ask(kKey, question());
    QTRY_COMPARE_WITH_TIMEOUT(predictions_.size(), 2, kLong);
    QCOMPARE(client_->trouble(), QString());
  }

  void a_question_outlives_its_planner() {
    client_->ask(kKey, question());
    QTRY_COMPARE_WITH_TIMEOUT(predictions_.size(), 1, kLong);
    // Stopped, so that it cannot answer before it is killed.
    QCOMPARE(kill(static_cast<pid_t>(client_->pid()), SIGSTOP), 0);
    client_->ask(kKey, question());
    QTest::qWait(50);
    QCOMPARE(kill(static_cast<pid_t>(client_->pid()), SIGKILL), 0);
    QTRY_COMPARE_WITH_TIMEOUT(predictions_.size(), 2, kLong);
    QVERIFY(client_->trouble().contains("signal 9"));  // until another question is answered
  }

  void a_planner_that_hangs_is_started_again() {
    cleanup();
    client_ = std::make_unique<PlanClient>(kEngine, 5000);
    int answered = 0;
    connect(client_.get(), &PlanClient::planned, this, [&answered] { ++answered; });
    client_->ask(kKey, question());
    QTRY_COMPARE_WITH_TIMEOUT(answered, 1, kLong);
    const qint64 first = client_->pid();
    QCOMPARE(kill(static_cast<pid_t>(first), SIGSTOP), 0);
    client_->ask(kKey, question());
    QTRY_VERIFY_WITH_TIMEOUT(client_->trouble().contains("did not answer"), kLong);
    QTRY_COMPARE_WITH_TIMEOUT(answered, 2, kLong);
    QVERIFY(client_->pid() != first);
  }

  void a_program_that_is_no_planner_is_told() {
    for (const auto& [program, words] : {std::pair("/no/such/engine", "/no/such/engine"),
                                         std::pair("/bin/false", "exit code 1")}) {
      PlanClient client(QString::fromLatin1(program));
      QStringList failures;
      connect(&client, &PlanClient::failed, this,
              [&failures](const QString&, const QString& why) { failures << why; });
      client.ask(kKey, question());
      QTRY_COMPARE_WITH_TIMEOUT(failures.size(), 1, kLong);
      QVERIFY2(failures[0].contains(QLatin1String(words)), qPrintable(failures[0]));
      QVERIFY(!client.isBusy());
    }
  }

  void what_is_no_answer_is_an_error() {
    const PlanAnswer cut = readAnswer("{\"id\": 7, \"plan\": [");
    QCOMPARE(cut.id, quint64{7});
    QVERIFY(!cut.prediction &&
            std::get<Error>(cut.reply).message.find("cannot be read") != std::string::npos);
    QCOMPARE(answerId("nonsense"), quint64{0});
  }

 private:
  std::unique_ptr<PlanClient> client_;
  QList<std::shared_ptr<const Prediction>> predictions_;
  QList<std::vector<plan::Fault>> faults_;
  QStringList failures_;
};

HEDDLE_TEST(PlanClientTest)
#include "plan_client_test.moc"
