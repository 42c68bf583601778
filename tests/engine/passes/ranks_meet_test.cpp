// The plans of all ranks of a pipeline, run beside each other, come to their end: no rank waits for
// one that waits for it, and what meets in a group is the same on all its ranks.
#include <QTest>
#include <map>
#include <set>
#include <vector>

#include "engine/passes/stage.h"
#include "engine/recipe/mesh.h"
#include "engine/recipe/parse.h"
#include "engine/train/capture.h"
#include "engine/train/planner.h"
#include "engine/train/rates.h"

using namespace heddle;
using graph::Node;
using graph::ValueId;

namespace {

constexpr int kRanks = 4, kSteps = 2;

recipe::Recipe small(const QStringList& sets) {
  std::vector<std::string> all;
  for (const QString& each : sets) all.push_back(each.toStdString());
  const recipe::Parsed parsed = recipe::resolve(recipe::parse(
      "[model]\ndim = 24\nn_layers = 8\nn_heads = 2\nn_kv_heads = 2\nffn_dim = 40\n"
      "vocab_size = 77\n[data]\ntoken_ids = \"none\"\nseq_len = 16\n[training]\nlocal_batch = 4\n"
      "[hardware]\nranks = 4\n",
      "small.toml", all));
  for (const recipe::Fault& fault : parsed.faults) qFatal("%s", fault.what.c_str());
  return parsed.recipe;
}

// A group of ranks as they know it: groups of one name have no rank in common.
using Group = std::pair<std::string, std::vector<int>>;

// The ranks that `rank` meets in a group of this name.
std::vector<int> ranks_of(const recipe::Mesh& mesh, int rank, const std::string& name) {
  for (const recipe::Dims dims : recipe::kGroups)
    if (mesh.name(dims) == name) return mesh.group(rank, dims);
  const std::vector<int> pipeline = mesh.group(rank, recipe::kPp);
  if (name == passes::kEndsGroup) return {pipeline.front(), pipeline.back()};
  for (int stage = 0; stage < 2 * kRanks; ++stage)
    for (const int next : {stage - 1, stage + 1}) {
      if (next < 0 || passes::transfer_group(stage, next) != name) continue;
      const auto size = static_cast<int>(pipeline.size());
      std::set<int> two{pipeline[stage % size], pipeline[next % size]};
      return {two.begin(), two.end()};
    }
  qFatal("no group %s", name.c_str());
}

std::string what_meets(const graph::Graph& graph, const Node& node) {
  const bool transfer = graph::is_send(node) || graph::is_receive(node);
  std::string text = transfer ? "transfer" : node.op.text();
  const ValueId output = node.outputs.front();
  return text + " " + std::to_string(graph.values[output].bytes()) + " bytes";
}

class Ranks {
 public:
  Ranks(const std::vector<graph::Graph>& graphs, const recipe::Mesh& mesh)
      : graphs_(graphs), mesh_(mesh), position_(graphs.size(), 0), started_by_(graphs.size()) {}

  /// Where each rank stands when no rank can go on; "" if all have ended.
  QString run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < kRanks; ++rank)
        while (position_[rank] < end(rank) && step(rank)) moved = true;
    }
    QStringList stuck;
    for (int rank = 0; rank < kRanks; ++rank)
      if (position_[rank] < end(rank))
        stuck << QString("rank %1 waits at %2").arg(rank).arg(text(node_at(rank)));
    return (stuck + differences_).join("; ");
  }

 private:
  struct Start {
    Group group;
    size_t number = 0;
  };

  size_t end(int rank) const { return kSteps * graphs_[rank].nodes.size(); }
  const Node& node_at(int rank) const {
    return graphs_[rank].nodes[position_[rank] % graphs_[rank].nodes.size()];
  }
  static QString text(const Node& node) {
    return QString("%1 @%2, stage %3, micro-batch %4")
        .arg(node.op.text().c_str(), node.module.text().c_str())
        .arg(node.stage)
        .arg(node.micro_batch);
  }

  // False if the rank has to wait.
  bool step(int rank) {
    const Node& node = node_at(rank);
    if (graph::is_wait(node)) {
      const auto start = started_by_[rank].find(graph::list_of(node).front().value);
      // What the step before the first would have started has ended.
      if (start != started_by_[rank].end() && !ended(start->second)) return false;
    } else if (graph::is_collective(node)) {
      const std::string& name = graph::group_of(node);
      const Group group{name, ranks_of(mesh_, rank, name)};
      std::vector<std::string>& own = started_[group][rank];
      for (ValueId output : node.outputs) started_by_[rank][output] = {group, own.size()};
      own.push_back(what_meets(graphs_[rank], node));
      for (const auto& [other, theirs] : started_[group])
        if (theirs.size() >= own.size() && theirs[own.size() - 1] != own.back())
          differences_ << QString("%1: rank %2 %3, rank %4 %5")
                              .arg(name.c_str())
                              .arg(rank)
                              .arg(own.back().c_str())
                              .arg(other)
                              .arg(theirs[own.size() - 1].c_str());
    }
    ++position_[rank];
    return true;
  }

  bool ended(const Start& start) {
    for (const int rank : start.group.second)
      if (started_[start.group][rank].size() <= start.number) return false;
    return true;
  }

  const std::vector<graph::Graph>& graphs_;
  const recipe::Mesh& mesh_;
  std::vector<size_t> position_;  // by rank: its next node
  std::map<Group, std::map<int, std::vector<std::string>>> started_;
  std::vector<std::map<ValueId, Start>> started_by_;  // by rank: what makes a value
  QStringList differences_;
};

struct Choice {
  const char* name;
  QStringList sets;
};

const QList<Choice> kSchedules = {
    {"gpipe", {"parallelism.pp_schedule=\"gpipe\""}},
    {"1f1b", {"parallelism.pp_schedule=\"1f1b\""}},
    {"interleaved", {"parallelism.pp_schedule=\"interleaved\""}},
    {"zero bubble", {"parallelism.pp_schedule=\"zero-bubble\""}},
};
const QList<Choice> kMeshes = {
    {"pp 4", {"parallelism.pp=4"}},
    {"pp 2, dp 2", {"parallelism.pp=2"}},
    {"pp 2, replicated", {"parallelism.pp=2", "parallelism.dp_replicate=2"}},
    {"pp 2, tp 2", {"parallelism.pp=2", "parallelism.tp=2"}},
    {"pp 2, cp 2", {"parallelism.pp=2", "parallelism.cp=2"}},
};
const QList<Choice> kWrappings = {
    {"none", {"wrapping.mode=\"none\""}},
    {"layers", {"wrapping.mode=\"layers\""}},
    {"one bucket",
     {"wrapping.mode=\"manual\"",
      R"(wrapping.buckets=[["tok_embeddings","layers.0-7","norm","output"]])"}},
    {"across stages",
     {"wrapping.mode=\"manual\"",
      R"(wrapping.buckets=[["layers.6","layers.1","output"],["tok_embeddings","layers.3-5"],)"
      R"(["layers.0","layers.7","norm"],["layers.2"]])"}},
};
const QList<Choice> kVariants = {
    {"fp32", {}},
    {"bf16", {"precision.param=\"bf16\""}},
    {"bf16, parameters kept", {"precision.param=\"bf16\"", "wrapping.reshard_after_forward=false"}},
    {"bf16, recomputed", {"precision.param=\"bf16\"", "recompute.mode=\"full\""}},
    {"each micro-batch reduced", {"wrapping.reduce_each=\"micro-batch\""}},
    {"tied", {"model.tied_embeddings=true"}},
    {"tied, one micro-batch", {"model.tied_embeddings=true", "parallelism.microbatches=1"}},
    {"tied, each micro-batch reduced, no clipping",
     {"model.tied_embeddings=true", "wrapping.reduce_each=\"micro-batch\"", "training.max_norm=0"}},
};

}  // namespace

class RanksMeetTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_pipeline_ends_data() {
    QTest::addColumn<QStringList>("sets");
    for (const Choice& schedule : kSchedules)
      for (const Choice& mesh : kMeshes)
        for (const Choice& wrapping : kWrappings)
          for (const Choice& step : kVariants)
            QTest::addRow("%s, %s, %s, %s", schedule.name, mesh.name, wrapping.name, step.name)
                << schedule.sets + mesh.sets + wrapping.sets + step.sets;
  }
  void every_pipeline_ends() {
    QFETCH(QStringList, sets);
    const recipe::Recipe recipe = small(sets);
    std::vector<graph::Graph> graphs;
    for (int rank = 0; rank < kRanks; ++rank) {
      auto captured = train::capture_step(recipe);
      QVERIFY2(captured, captured ? "" : captured.error().message.c_str());
      auto plan =
          train::plan_step(recipe, rank, std::move(captured->graph), train::rates_here(recipe));
      QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
      graphs.push_back(std::move(plan->graph));
    }
    QCOMPARE(Ranks(graphs, recipe::Mesh(recipe.parallelism)).run(), "");
  }
};

QTEST_GUILESS_MAIN(RanksMeetTest)
#include "ranks_meet_test.moc"
