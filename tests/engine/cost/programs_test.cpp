// Steps of other programs: worked out by hand from parts of a layer, and as plans of recipes.
#include <QTest>
#include <cmath>
#include <numeric>

#include "engine/cost/program_memory.h"
#include "engine/cost/program_time.h"
#include "engine/hardware/catalogue.h"
#include "engine/predict/predict.h"
#include "engine/recipe/modules.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;
using plan::Category;

namespace {

const hardware::Catalogue& catalogue_here() {
  static const hardware::Catalogue all = hardware::read_catalogue(hardware::built_in());
  return all;
}

recipe::Recipe resolved_8b(const QString& keys, int64_t ranks) {
  const std::string text =
      "[model]\npreset = \"llama3-8b\"\nvocab_size = 128256\n[data]\ntoken_ids = \"x\"\n"
      "seq_len = 4096\n[training]\nlocal_batch = 4\n[parallelism]\nmicrobatches = 4\n" +
      keys.toStdString();
  const auto parsed = recipe::resolve(recipe::parse(text, "r.toml"), ranks);
  for (const auto& fault : parsed.faults) qWarning("%s", fault.str().c_str());
  return parsed.recipe;
}

cost::ProgramShape shape(const QString& keys, int64_t ranks) {
  return cost::program_shape(resolved_8b(keys, ranks), 8);
}

// One that loses nothing: what a step takes then is what its parts do.
hardware::Program ideal() {
  hardware::Program program;
  for (auto* one : {&program.product_share, &program.attention_share, &program.passes,
                    &program.ring_attention_share, &program.reduce_reach, &program.reduce_all_reach,
                    &program.pipeline_reduce})
    one->value = 1;
  program.whole_bytes.value = 6;
  program.sharded_bytes.value = 12;
  program.replicated_bytes.value = program.alone_bytes.value = 18;
  program.all_sharded_bytes.value = 16;
  program.hidden_bytes.value = 10;
  program.live_share.value = 1;
  return program;
}

const cost::StepParts kParts{.layer_forward = {.products = 1, .attention = 0.5, .passes = 0.25},
                             .layer_backward = {.products = 2, .attention = 1, .passes = 0.25},
                             .head_products = 4};

cost::ProgramTime program_seconds(const cost::ProgramShape& of,
                                  const hardware::Program& program = ideal()) {
  return cost::program_time(of, kParts, program, catalogue_here().find("h100-sxm").value(), 1e12);
}

Result<plan::Document> planned(const QString& keys, int64_t ranks, const char* program,
                               const char* hardware = "h100-sxm") {
  return predict::predict(resolved_8b(keys, ranks), {.hardware = hardware, .executor = program});
}

}  // namespace

class ProgramsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void stages_have_all_parameters_data() {
    QTest::addColumn<QString>("keys");
    QTest::addColumn<qint64>("ranks");
    QTest::newRow("one rank") << "" << 1LL;
    QTest::newRow("tensors") << "tp = 8" << 8LL;
    QTest::newRow("stages") << "tp = 2\npp = 4" << 8LL;
    QTest::newRow("interleaved") << "pp = 4\npp_schedule = \"interleaved\"" << 8LL;
  }
  void stages_have_all_parameters() {
    QFETCH(QString, keys);
    QFETCH(qint64, ranks);
    const auto recipe = resolved_8b(keys, ranks);
    const cost::ProgramShape of = cost::program_shape(recipe, 8);
    double sum = 0;
    for (int64_t rank = 0; rank < of.pp; ++rank) sum += of.parameters(rank);
    const auto all = static_cast<double>(recipe::parameter_count(recipe.model));
    // The last norm is not counted.
    QVERIFY(std::abs(sum * static_cast<double>(of.tp) / all - 1) < 1e-5);
    QCOMPARE(std::accumulate(of.layers.begin(), of.layers.end(), int64_t{0}),
             recipe.model.n_layers);
  }

  void a_step_is_its_layers_and_the_head() {
    // 32 layers of 1.75 + 3.25 s, and 4 s.
    QCOMPARE(program_seconds(shape("", 1)).step, 32 * 5.0 + 4);
  }

  void what_is_computed_again_is_in_the_step() {
    cost::ProgramShape of = shape("", 1);
    of.recompute = recipe::RecomputeMode::full;
    QCOMPARE(program_seconds(of).step, 32 * (5.0 + 1.75) + 4);
    of.recompute = recipe::RecomputeMode::selective;  // half of the products, and passes
    QCOMPARE(program_seconds(of).step, 32 * (5.0 + 0.75) + 4);
  }

  void a_host_that_is_slower_than_the_device_decides() {
    hardware::Program program = ideal();
    program.layer_launch_ms.value = 6000;
    QCOMPARE(program_seconds(shape("", 1), program).step, 32 * 6.0 + 4);
  }

  void a_pipeline_waits_for_its_slowest_stage() {
    cost::ProgramShape of = shape("", 1);
    of.pp = 2;
    of.layers = {17, 15};  // 85 and 75 + 4 s
    of.micro_batches = 8;
    const cost::ProgramTime time = program_seconds(of);
    const double hops = time.step - (8 * 85.0 + 79);
    QVERIFY2(hops >= 0 && hops < 0.1, qPrintable(QString::number(time.step)));
    of.stages_a_rank = 2;
    QVERIFY(std::abs(program_seconds(of).step - hops - (8 * 85.0 + 79 / 2.0)) < 1e-9);
    QVERIFY(std::abs(time.compute + time.exposed + time.bubble + time.apart - time.step) < 1e-9);
  }

  void bytes_of_states_are_by_what_is_sharded() {
    const auto held = [](const QString& keys) {
      const plan::MemoryBytes bytes = cost::program_memory(shape(keys, 8), 0, ideal()).reserved;
      return static_cast<double>(bytes[Category::parameters] + bytes[Category::gradients] +
                                 bytes[Category::optimizer]);
    };
    const double parameters = shape("", 1).parameters(0);
    const auto is = [&](double bytes, double a_parameter) {
      return std::abs(bytes / parameters / a_parameter - 1) < 1e-6;
    };
    QVERIFY(is(held("dp_replicate = 8\ndp_shard = 1"), 18));
    QVERIFY(is(held("dp_shard = 8\ndp_shard_states = \"optimizer\""), 6 + 12 / 8.0));
    QVERIFY(is(held("dp_shard = 8"), 16 / 8.0));
    QVERIFY(is(held("dp_replicate = 2\ndp_shard = 4"), 16 / 4.0));
  }

  void the_first_stage_keeps_what_is_under_way() {
    cost::ProgramShape of = shape("", 1);
    of.pp = 4;
    of.layers = {8, 8, 8, 8};
    of.micro_batches = 16;
    const double layer = 4 * 4096.0 * 4096 * 10;  // of four sequences
    for (int64_t rank = 0; rank < 4; ++rank)
      QCOMPARE(cost::program_memory(of, rank, ideal()).reserved[Category::activations],
               static_cast<int64_t>(8 * layer * static_cast<double>(4 - rank)));
    of.micro_batches = 2;
    QCOMPARE(cost::program_memory(of, 0, ideal()).reserved[Category::activations],
             static_cast<int64_t>(8 * layer * 2));
  }

  void every_program_plans_a_recipe() {
    for (const auto& [name, program] : catalogue_here().programs) {
      const auto plan = planned("tp = 4", 8, name.c_str());
      QVERIFY2(plan.has_value(), plan ? "" : plan.error().message.c_str());
      QVERIFY2(plan->step_seconds > 0.05 && plan->step_seconds < 5, name.c_str());
      QVERIFY(plan->interval && plan->interval->step_low < plan->step_seconds);
      QVERIFY(plan->interval->step_high > plan->step_seconds);
      QVERIFY2(!plan->interval->words.empty(), name.c_str());
      QVERIFY(plan->fits());
      QVERIFY(!planned("dp_shard = 8", 8, name.c_str(), "l40s")->fits());
    }
  }

  void what_is_no_program_and_no_number_is_refused() {
    QCOMPARE(planned("", 8, "nanotrom").error().message.find("--executor: no program \"nanotrom\""),
             size_t{0});
    const auto machine =
        predict::machine_of(resolved_8b("", 8), "h100-sxm", "nanotron", {{"network.reech", 0.5}});
    QVERIFY(!machine);
    QVERIFY(machine.error().message.find("network.reech") != std::string::npos);
    QVERIFY(
        !predict::machine_of(resolved_8b("", 8), "h100-sxm", "nanotron", {{"network.reach", 7}}));
  }
};

HEDDLE_TEST(ProgramsTest)
#include "programs_test.moc"
