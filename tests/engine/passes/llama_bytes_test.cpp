// The bytes that a rank's planned step moves along each dimension of the mesh equal the
// formulas: fully sharded data parallelism (arXiv 2304.11277), tensor and sequence parallelism
// (arXiv 2205.05198), context parallelism (arXiv 2407.21783; Ulysses: 2309.14509), pipeline stages.
// No weights are allocated.
#include <QTest>
#include <cmath>
#include <map>

#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/modules.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using Bytes = std::map<std::string, double>;  // by kind: received by this rank in a step

namespace {

// The bytes that a rank receives: all but its own part.
double received(const graph::Graph& graph, const graph::Node& node) {
  const auto share = [](double ranks) { return (ranks - 1) / ranks; };
  const auto bytes_of = [&](c10::ArrayRef<graph::ValueId> values) {
    double bytes = 0;
    for (const graph::ValueId value : values)
      bytes += static_cast<double>(graph.values[value].bytes());
    return bytes;
  };
  std::vector<graph::ValueId> read;
  graph::for_each_use(node, [&](const graph::Use& use) { read.push_back(use.value); });
  const auto ranks = static_cast<double>(graph::ranks_of(graph, node));
  if (graph::is_receive(node)) return bytes_of(node.outputs);
  if (graph::is_send(node)) return 0;
  if (graph::gathers(node)) return bytes_of(node.outputs) * share(ranks);
  if (node.op == "heddle.activation_shift") return bytes_of(node.outputs);
  if (node.op == "heddle.activation_all_to_all" || graph::scatters(node))
    return bytes_of(read) * share(ranks);
  return 2 * bytes_of(read) * share(ranks);  // an all-reduce: scattered, then gathered
}

Bytes counted(const graph::Graph& graph) {
  Bytes bytes;
  for (const graph::Node& node : graph.nodes) {
    if (!graph::is_collective(node) || node.module.empty()) continue;
    const std::string& group = graph::group_of(node);
    const std::string kind = graph::is_all_gather(node)       ? "parameters"
                             : graph::is_reduce_scatter(node) ? "gradients"
                             : !graph::is_exchange(node)      ? "gradients of what is not cut"
                             : graph::is_receive(node)        ? "pp"
                             : graph::is_send(node)           ? "sent"
                             : node.module == "loss"          ? "loss"
                                                              : group;
    bytes[kind] += received(graph, node);
  }
  return bytes;
}

// The formulas, for a rank of a stage.
Bytes expected(const recipe::Recipe& r, int64_t stage) {
  const recipe::Parallelism& p = r.parallelism;
  const recipe::Layout layout(r);
  const recipe::Mesh& mesh = layout.mesh();
  const auto shards = static_cast<double>(mesh.size(recipe::kSharing));
  const auto tp = static_cast<double>(p.tp), cp = static_cast<double>(p.cp);
  const auto& layers = layout.stage_layers();
  const bool first = stage == 0, last = stage + 1 == static_cast<int64_t>(layers.size());
  const double width = r.precision.param == recipe::Precision::bf16 ? 2 : 4;
  const auto micro_batches = static_cast<double>(r.micro_batches());
  // Padded elements of this rank's parameters; of those that backward gathers again: it does not
  // read the embedding, and begins with what forward has just gathered, where one follows the
  // other.
  double whole = 0, uncut = 0, again = 0;
  for (const recipe::Parameter& parameter : recipe::parameters(r.model)) {
    if (layout.stage_of(parameter.module) != stage) continue;
    const recipe::Cut cut = parameter.cut;
    std::vector<int64_t> local = recipe::local_shape(parameter.shape, cut, p.tp);
    const auto rows = static_cast<double>(local[0]);
    double elements = std::ceil(rows / shards) * shards;
    for (size_t i = 1; i < local.size(); ++i) elements *= static_cast<double>(local[i]);
    whole += elements;
    const bool stays = p.pp == 1 && (parameter.module == "norm" || parameter.module == "output");
    if (!stays && parameter.module != "tok_embeddings") again += elements;
    if (cut == recipe::Cut::none) uncut += elements;
  }
  Bytes bytes;
  if (shards > 1) {
    // Once a step where they stay, else in forward and again in backward of each micro-batch.
    const double gathered =
        r.wrapping.reshard_after_forward == 0 ? whole : micro_batches * (whole + again);
    bytes["parameters"] = gathered * width * (shards - 1) / shards;
    bytes["gradients"] = whole * 4 * (shards - 1) / shards;
  }
  const double tokens = static_cast<double>(r.micro_batch_size() * r.data.seq_len) /
                        cp;  // of a rank in a micro-batch
  const auto dim = static_cast<double>(r.model.dim);
  const auto stage_layers = static_cast<double>(layers[stage]);
  if (p.tp > 1) {
    // A layer: two gathers and two scatters forward, as many backward; so once at either end. What
    // products read is gathered again for their weights; and where these are put off, what backward
    // has gathered, too.
    const bool puts_off = p.pp > 1 && p.pp_schedule == recipe::PipelineSchedule::zero_bubble;
    const double layer = !p.tp_gather_again ? 8 : puts_off ? 12 : 10;
    const double ends = (first ? 2 : 0) + (last ? 2 : 0);
    bytes["tp"] =
        micro_batches * (layer * stage_layers + ends) * tokens * dim * width * (tp - 1) / tp;
    if (last) bytes["loss"] = micro_batches * tokens * 3 * 4 * (tp - 1);
    bytes["gradients of what is not cut"] = 2 * uncut / shards * 4 * (tp - 1) / tp;
  }
  if (p.cp > 1) {
    const double d = static_cast<double>(r.model.head_size()), all = tokens * cp,
                 heads = static_cast<double>(r.model.n_heads) / tp,
                 kv = static_cast<double>(r.model.n_kv_heads) / tp;
    const double forward = p.cp_mode == recipe::ContextMode::ulysses
                               ? all * d * width * (2 * heads + 2 * std::max(kv, cp)) / cp
                               : 2 * all * kv * d * width;
    // Backward as much again; the ring brings keys and their gradients around, those once more.
    double times = 2;
    if (p.cp_mode == recipe::ContextMode::ring) times = 3 + 1 / (cp - 1);
    bytes["cp"] = micro_batches * times * stage_layers * forward * (cp - 1) / cp;
  }
  const double neighbours = (first ? 0 : 1) + (last ? 0 : 1);
  if (p.pp > 1) bytes["pp"] = micro_batches * neighbours * tokens / tp * dim * width;
  return bytes;
}

}  // namespace

class LlamaBytesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bytes_are_those_of_the_formulas_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QStringList>("sets");
    QTest::newRow("8B, 8 ranks") << "llama3-8b-8xh100" << QStringList{};
    QTest::newRow("8B, tp 4") << "llama3-8b-8xh100"
                              << QStringList{"parallelism.tp=4", "parallelism.dp_shard=2"};
    QTest::newRow("8B, tp 4, inputs kept")
        << "llama3-8b-8xh100"
        << QStringList{"parallelism.tp=4", "parallelism.dp_shard=2",
                       "parallelism.tp_gather_again=false"};
    QTest::newRow("8B, tp 4, pp 2, zero-bubble")
        << "llama3-8b-8xh100"
        << QStringList{"parallelism.tp=4", "parallelism.dp_shard=1", "parallelism.pp=2",
                       "training.local_batch=2", "parallelism.pp_schedule=\"zero-bubble\""};
    for (const char* mode : {"allgather", "ring", "ulysses"})
      QTest::newRow(qPrintable(QString("8B, cp 4 %1").arg(mode)))
          << "llama3-8b-8xh100"
          << QStringList{"parallelism.cp=4", "parallelism.dp_shard=2",
                         QString("parallelism.cp_mode=\"%1\"").arg(mode)};
    QTest::newRow("8B, ulysses over more ranks than kv heads")
        << "llama3-8b-8xh100"
        << QStringList{"parallelism.cp=16", "parallelism.dp_shard=1", "hardware.ranks=16",
                       "parallelism.cp_mode=\"ulysses\""};
    QTest::newRow("70B, tp 8, dp 32") << "llama3-70b-256xh100" << QStringList{};
    QTest::newRow("405B, tp 8, pp 8, dp 8") << "llama3-405b-512xh100" << QStringList{};
  }
  void bytes_are_those_of_the_formulas() {
    QFETCH(QString, name);
    QFETCH(QStringList, sets);
    // Recomputation would exchange activations again.
    std::vector<std::string> all = {"recompute.mode=\"none\"", "model.vocab_size=128256"};
    for (const QString& set : sets) all.push_back(set.toStdString());
    const QString path = QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/%1.toml").arg(name);
    const recipe::Parsed parsed = recipe::resolve(recipe::parse_file(path.toStdString(), all));
    for (const recipe::Fault& fault : parsed.faults) qWarning("%s", fault.str().c_str());
    QVERIFY(parsed.ok());
    const recipe::Recipe& recipe = parsed.recipe;
    const int64_t stages = recipe.parallelism.pp;
    for (int64_t stage = 0; stage < stages; ++stage) {
      if (stage > 1 && stage + 1 < stages) continue;  // like stage 1
      const int64_t rank = stage * (recipe.hardware.ranks / stages);
      auto captured = step::capture_step(recipe);
      if (!captured) qFatal("%s", captured.error().message.c_str());
      auto options = predict::plan_options(recipe, recipe::Layout(recipe), rank, captured->graph);
      const auto plan = passes::plan(std::move(captured->graph), options, "unroll");
      Bytes found = counted(plan.graph);
      found.erase("sent");
      Bytes wanted = expected(recipe, stage);
      for (const auto& [kind, bytes] : wanted) {
        QVERIFY2(std::abs(found[kind] - bytes) <= 1e-9 * bytes,
                 qPrintable(QString("stage %1, %2: %3 bytes, by the formula %4")
                                .arg(stage)
                                .arg(QString::fromStdString(kind))
                                .arg(found[kind], 0, 'f', 0)
                                .arg(bytes, 0, 'f', 0)));
        qInfo("stage %lld: %s %.3f GB", static_cast<long long>(stage), kind.c_str(),
              found[kind] / 1e9);
      }
      for (const auto& [kind, bytes] : found)
        QVERIFY2(wanted.contains(kind), qPrintable(QString::fromStdString(kind)));
    }
  }
};

HEDDLE_TEST(LlamaBytesTest)
#include "llama_bytes_test.moc"
