// A rank holds and gathers the same by the recipe as by the captured graph, bucket by bucket:
// Compose shows the one, training does the other.
#include "engine/holdings/rank_share.h"

#include <QTest>
#include <map>

#include "engine/graph/ir.h"
#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// Sizes that no number of ranks divides but by rounding up.
constexpr const char* kOdd = R"(
[model]
dim = 24
n_layers = 5
n_heads = 4
n_kv_heads = 2
ffn_dim = 44
vocab_size = 101
max_seq_len = 64
[data]
token_ids = "x"
seq_len = 16
[training]
local_batch = 4
[wrapping]
mode = "layers"
[hardware]
ranks = 1
)";

recipe::Recipe recipe_of(const QString& base, const QStringList& sets) {
  std::vector<std::string> all;
  for (const QString& set : sets) all.push_back(set.toStdString());
  const auto parsed =
      base.isEmpty() ? recipe::parse(kOdd, "odd.toml", all)
                     : recipe::parse_file((QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/") +
                                           base + QStringLiteral(".toml"))
                                              .toStdString(),
                                          all);
  const recipe::Parsed resolved = recipe::resolve(parsed);
  for (const recipe::Fault& fault : resolved.faults) qFatal("%s", fault.str().c_str());
  return resolved.recipe;
}

/// The gathers of the first micro-batch's forward, by the name of the bucket.
std::map<std::string, int64_t> gathered(const graph::Graph& graph) {
  std::map<std::string, int64_t> bytes;
  for (const graph::Node& node : graph.nodes)
    if (graph::is_all_gather(node) && node.phase == graph::Phase::forward && node.micro_batch <= 0)
      for (const graph::ValueId value : node.outputs)
        bytes[node.module.text()] += graph.values[value].bytes();
  return bytes;
}

/// Elements of the parameters that the graph of a pipeline rank keeps.
int64_t stored(const graph::Graph& graph, const recipe::Recipe& recipe, int64_t pipeline_rank) {
  const recipe::Layout layout(recipe);
  int64_t elements = 0;
  for (const graph::Binding& state : graph.states) {
    if (!state.name.ends_with(".weight")) continue;
    const std::string module = state.name.substr(0, state.name.rfind('.'));
    if (layout.stage_of(module) % recipe.parallelism.pp != pipeline_rank) continue;
    elements += graph.values[state.value].bytes() / 4;
  }
  return elements;
}

}  // namespace

class RankShareTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void is_what_the_graph_holds_and_gathers_data() {
    QTest::addColumn<QString>("base");
    QTest::addColumn<QStringList>("sets");
    const auto row = [](const char* name, const char* base, const char* sets) {
      QTest::newRow(name) << QString(base) << QString(sets).split(' ', Qt::SkipEmptyParts);
    };
    row("one rank", "", "");
    row("sharded", "", "hardware.ranks=3");
    row("a bucket a parameter", "", "hardware.ranks=3 wrapping.mode=\"none\"");
    row("tp 2", "", "hardware.ranks=6 parallelism.tp=2");
    row("tp 2 alone", "", "hardware.ranks=2 parallelism.tp=2");
    row("cp 2", "", "hardware.ranks=6 parallelism.cp=2");
    row("replicas", "", "hardware.ranks=6 parallelism.dp_replicate=2");
    row("replicas alone", "", "hardware.ranks=2 parallelism.dp_replicate=2");
    row("stages", "", "hardware.ranks=4 parallelism.pp=2");
    row("two stages a rank", "",
        "hardware.ranks=4 parallelism.pp=2 parallelism.pp_schedule=\"interleaved\"");
    row("tied", "", "hardware.ranks=2 model.tied_embeddings=true");
    row("tied, at both ends", "", "hardware.ranks=4 parallelism.pp=2 model.tied_embeddings=true");
    row("all at once", "",
        "hardware.ranks=32 parallelism.pp=2 parallelism.dp_replicate=2 parallelism.cp=2 "
        "parallelism.tp=2 precision.param=\"bf16\"");
    const char* in_8_bits =
        "precision.param=\"bf16\" precision.float8=\"tensorwise\" "
        "model.dim=64 model.ffn_dim=96 ";
    const auto eight = [&](const char* name, const char* sets) {
      row(name, "", qPrintable(QString(in_8_bits) + sets));
    };
    eight("8 bits", "hardware.ranks=3");
    eight("8 bits, one rank", "");
    eight("8 bits, stages, tp 2",
          "hardware.ranks=8 parallelism.pp=2 parallelism.tp=2 training.local_batch=8");
    eight("8 bits, without a layer, with the output",
          "hardware.ranks=2 model.vocab_size=112 precision.float8_except=[\"layers.1\"]");
    eight("8 bits, tied",
          "hardware.ranks=2 model.tied_embeddings=true model.vocab_size=112 "
          "precision.float8_except=[]");
    row("by hand", "",
        "hardware.ranks=6 parallelism.tp=2 wrapping.mode=\"manual\" "
        "wrapping.buckets=[[\"tok_embeddings\",\"layers.0-1\"],[\"layers.2.attention\","
        "\"norm\"],[\"layers.2.attention_norm\",\"layers.2.ffn_norm\",\"layers.2.feed_forward\"],"
        "[\"layers.3-4\",\"output\"]]");
    row("by hand across stages", "",
        "hardware.ranks=4 parallelism.pp=2 wrapping.mode=\"manual\" "
        "wrapping.buckets=[[\"tok_embeddings\",\"layers.0-4\",\"norm\",\"output\"]]");
    row("by hand, tied output in no bucket", "",
        "hardware.ranks=2 model.tied_embeddings=true wrapping.mode=\"manual\" "
        "wrapping.buckets=[[\"tok_embeddings\",\"layers.0-4\",\"norm\"]]");
    row("8B, tp 2", "llama3-8b-8xh100",
        "parallelism.dp_shard=-1 parallelism.tp=2 model.vocab_size=128256");
    row("8B, tp 8", "llama3-8b-8xh100",
        "parallelism.dp_shard=-1 parallelism.tp=8 hardware.ranks=16 model.vocab_size=128256");
    row("405B", "llama3-405b-512xh100", "recompute.mode=\"none\" model.vocab_size=128256");
  }

  void is_what_the_graph_holds_and_gathers() {
    QFETCH(QString, base);
    QFETCH(QStringList, sets);
    recipe::Recipe recipe = recipe_of(base, sets);
    if (recipe.wrapping.mode == recipe::WrappingMode::automatic)
      recipe.wrapping.mode = recipe::WrappingMode::layers;  // the plan has not chosen yet
    const std::vector<recipe::Bucket> buckets = recipe::buckets_of(recipe);
    const recipe::Layout layout(recipe);
    const std::vector<int64_t> holds = holdings::stored_elements(recipe, layout);
    const int64_t pp = recipe.parallelism.pp;
    QCOMPARE(static_cast<int64_t>(holds.size()), pp);
    for (int64_t rank = 0; rank < pp; ++rank) {
      if (rank > 1 && rank + 1 < pp) continue;  // like 1
      auto captured = step::capture_step(recipe);
      if (!captured) qFatal("%s", captured.error().message.c_str());
      QCOMPARE(holds[rank], stored(captured->graph, recipe, rank));
      const auto options = predict::plan_options(
          recipe, layout, rank * (recipe.hardware.ranks / pp), captured->graph);
      std::map<std::string, int64_t> told;
      for (const recipe::Bucket& bucket : buckets) {
        const int64_t bytes = holdings::gathered_bytes(recipe, layout, bucket)[rank];
        if (bytes > 0) told[passes::bucket_name(bucket.names)] += bytes;
      }
      const passes::Plan plan = passes::plan(std::move(captured->graph), options, "bucket");
      const auto found = gathered(plan.graph);
      for (const auto& [name, bytes] : found)
        if (told[name] != bytes)
          qWarning("pipeline rank %lld, bucket %s: the graph gathers %lld bytes, told are %lld",
                   static_cast<long long>(rank), name.c_str(), static_cast<long long>(bytes),
                   static_cast<long long>(told[name]));
      QVERIFY(told == found);
      QCOMPARE(found.empty(), recipe::Mesh(recipe.parallelism).size(recipe::kSharing) == 1);
    }
  }

  // Half of bf16's bytes, but for norms; one all-reduce of scales a step, whatever the
  // micro-batches.
  void weights_in_8_bits_are_gathered_so() {
    const QStringList sets{"hardware.ranks=2", "precision.param=\"bf16\"", "model.dim=64",
                           "model.ffn_dim=96", "training.global_batch=32"};
    const auto planned = [&](const char* float8) {
      const recipe::Recipe recipe =
          recipe_of("", sets + QStringList{QString("precision.float8=\"%1\"").arg(float8)});
      auto captured = step::capture_step(recipe);
      if (!captured) qFatal("%s", captured.error().message.c_str());
      auto plan =
          predict::plan_step(recipe, 0, std::move(captured->graph), predict::rates_here(recipe));
      if (!plan) qFatal("%s", plan.error().message.c_str());
      return std::move(plan->graph);
    };
    const auto reductions = [](const graph::Graph& graph) {
      return std::ranges::count_if(graph.nodes, [](const graph::Node& node) {
        return node.op->role == graph::Role::all_reduce && node.phase != graph::Phase::optimizer;
      });
    };
    const graph::Graph bf16 = planned("none"), rows = planned("rowwise"),
                       whole = planned("tensorwise");
    constexpr int64_t kNorms = 2 * 64 * 2;
    const int64_t of_layer = gathered(bf16).at("layers.1");
    QCOMPARE(gathered(rows).at("layers.1"), of_layer);
    QCOMPARE(gathered(whole).at("layers.1"), (of_layer - kNorms) / 2 + kNorms);
    QCOMPARE(reductions(bf16), 0);
    QCOMPARE(reductions(whole), 1);
  }
};

HEDDLE_TEST(RankShareTest)
#include "rank_share_test.moc"
