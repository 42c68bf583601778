// Each pass on the toy, against a fixture that shows what it gives; and what must hold of any plan.
#include <QFile>
#include <QTest>

#include "../graph/toy.h"
#include "engine/graph/text.h"
#include "engine/passes/pipeline.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const QString kFolder = QString(HEDDLE_SOURCE_DIR) + "/tests/engine/passes/";

passes::PlanOptions options_for(const graph::Graph& toy) {
  passes::PlanOptions options;
  options.overlap.gathers_in_flight = 1;  // of three blocks
  options.buckets = passes::by_block(toy);
  return options;
}

}  // namespace

class PassesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void each_pass_gives_what_its_fixture_shows_data() {
    QTest::addColumn<QString>("pass");
    for (const passes::Pass& pass : passes::all_passes())
      if (pass.name != QString("stage")) QTest::newRow(pass.name) << QString(pass.name);
  }
  void each_pass_gives_what_its_fixture_shows() {
    QFETCH(QString, pass);
    graph::Graph toy = capture_toy();
    passes::PlanOptions options = options_for(toy);
    options.recompute.mode = [](std::string_view block) {
      return block == "block.0" ? passes::Recompute::full : passes::Recompute::none;
    };
    toy.micro_batches = 2;
    compare(passes::plan(std::move(toy), options, pass.toStdString()), "toy.after-" + pass);
  }

  // Block 0 is one stage, block 1 and the head are the other.
  void a_rank_of_a_pipeline_has_its_stages_data() {
    QTest::addColumn<int>("rank");
    QTest::addColumn<QString>("pass");
    QTest::newRow("first, cut") << 0 << "stage";
    QTest::newRow("last, cut") << 1 << "stage";
    QTest::newRow("first, three micro-batches") << 0 << "unroll";
  }
  void a_rank_of_a_pipeline_has_its_stages() {
    QFETCH(int, rank);
    QFETCH(QString, pass);
    graph::Graph toy = capture_toy();
    passes::PlanOptions options = options_for(toy);
    toy.micro_batches = pass == "stage" ? 1 : 3;
    options.stages = {{passes::PipelineSchedule::one_f_one_b, 2, 2, toy.micro_batches},
                      rank,
                      [](std::string_view module) -> int64_t {
                        return module == "block.0" ? 0 : module.empty() ? -1 : 1;
                      },
                      ""};
    compare(passes::plan(std::move(toy), options, pass.toStdString()),
            QString("toy.rank-%1-after-%2").arg(rank).arg(pass));
  }

 private:
  static void compare(const passes::Plan& plan, const QString& name) {
    const QByteArray text = QByteArray::fromStdString(passes::to_text(plan));
    QFile fixture(kFolder + name + ".graph");
    const QByteArray expected = fixture.open(QFile::ReadOnly) ? fixture.readAll() : QByteArray();
    if (text != expected) fprintf(stderr, "%s", text.constData());
    QVERIFY2(text == expected, "the pass now gives what is printed above");
  }
};

HEDDLE_TEST(PassesTest)
#include "passes_test.moc"
