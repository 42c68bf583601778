// Invariants of every plan of a Llama's step, looked up in the planned graph.
#include <QTest>
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/graph/operators.h"
#include "engine/passes/in_place.h"
#include "engine/passes/join.h"
#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using graph::Node;
using graph::Phase;
using graph::Use;
using graph::ValueId;

namespace {

recipe::Recipe small(const QStringList& sets) {
  std::vector<std::string> all;
  for (const QString& each : sets) all.push_back(each.toStdString());
  const std::string text =
      "[model]\ndim = 54\nn_layers = 4\nn_heads = 3\nn_kv_heads = 3\nffn_dim = 100\n"
      "vocab_size = 77\n[data]\ntoken_ids = \"none\"\nseq_len = 32\n[hardware]\nranks = 4\n";
  const recipe::Parsed parsed = recipe::resolve(recipe::parse(text, "small.toml", all));
  for (const recipe::Fault& fault : parsed.faults) qWarning("%s", fault.what.c_str());
  return parsed.recipe;
}

passes::Plan planned(const recipe::Recipe& recipe, int64_t rank = 0) {
  auto captured = step::capture_step(recipe);
  if (!captured) qFatal("%s", captured.error().message.c_str());
  auto plan =
      predict::plan_step(recipe, rank, std::move(captured->graph), predict::rates_here(recipe));
  if (!plan) qFatal("%s", plan.error().message.c_str());
  return std::move(*plan);
}

// Positions of the nodes that read a value or a view of it.
std::vector<size_t> readers(const passes::Plan& plan, ValueId root) {
  std::vector<size_t> found;
  for (size_t i = 0; i < plan.graph.nodes.size(); ++i)
    graph::for_each_use(plan.graph.nodes[i], [&](const Use& use) {
      if (plan.memory.root[use.value] == root) found.push_back(i);
    });
  return found;
}

// Whether node `index` makes `result` of all of `before`, in its place.
bool takes_place(const passes::Plan& plan, size_t index, size_t result, size_t before) {
  const Node& node = plan.graph.nodes[index];
  const auto output = std::find(node.outputs.begin(), node.outputs.end(), ValueId(result));
  if (output == node.outputs.end() || plan.memory.bytes[result] != plan.memory.bytes[before])
    return false;
  for (const size_t position :
       passes::may_take(plan.graph, node, static_cast<size_t>(output - node.outputs.begin())))
    if (plan.memory.root[std::get<Use>(node.args[position]).value] == ValueId(before))
      return plan.memory.place[result] == plan.memory.place[before];
  return false;
}

}  // namespace

class LlamaPlanTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void plans_data() {
    QTest::addColumn<QStringList>("sets");
    const QString manual = "wrapping.mode=\"manual\"";
    QTest::newRow("none") << QStringList{"wrapping.mode=\"none\""};
    QTest::newRow("layers") << QStringList{"wrapping.mode=\"layers\""};
    QTest::newRow("pairs") << QStringList{
        manual,
        R"(wrapping.buckets=[["tok_embeddings"],["layers.0-1"],["layers.2-3"],["norm","output"]])"};
    QTest::newRow("recomputed") << QStringList{"wrapping.mode=\"layers\"",
                                               "recompute.mode=\"full\""};
    QTest::newRow("bf16") << QStringList{"wrapping.mode=\"layers\"", "precision.param=\"bf16\""};
    QTest::newRow("accumulated") << QStringList{"wrapping.mode=\"layers\"",
                                                "training.global_batch=24"};
    QTest::newRow("hsdp") << QStringList{"wrapping.mode=\"layers\"", "parallelism.dp_replicate=2"};
  }

  // Design, issue: no gathered parameter lives from forward to backward, save what the end of
  // forward leaves for the start of backward; every gather has a consumer.
  void gathered_parameters_do_not_cross_into_backward_data() { plans_data(); }
  void gathered_parameters_do_not_cross_into_backward() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    size_t last = 0;                                 // gather of forward, by its first reader
    std::vector<std::pair<size_t, size_t>> forward;  // first reader, gather
    for (size_t i = 0; i < plan.graph.nodes.size(); ++i) {
      const Node& node = plan.graph.nodes[i];
      if (!graph::is_all_gather(node)) continue;
      size_t first = plan.graph.nodes.size();
      for (ValueId output : node.outputs) {
        bool computed_with = false;
        for (size_t reader : readers(plan, plan.memory.root[output])) {
          computed_with = computed_with || !graph::is_view(plan.graph.nodes[reader]);
          first = std::min(first, reader);
        }
        QVERIFY2(computed_with, qPrintable("nobody computes with a gather of " +
                                           QString::fromStdString(node.module)));
      }
      if (plan.graph.nodes[first].phase == Phase::forward) forward.emplace_back(first, i);
    }
    QVERIFY(!forward.empty());
    for (const auto& [first, gather] : forward) last = std::max(last, first);
    for (const auto& [first, gather] : forward) {
      if (plan.graph.nodes[first].module == plan.graph.nodes[last].module) continue;
      for (ValueId output : plan.graph.nodes[gather].outputs)
        for (size_t reader : readers(plan, plan.memory.root[output]))
          QVERIFY2(plan.graph.nodes[reader].phase != Phase::backward,
                   plan.graph.nodes[gather].module.text().c_str());
    }
  }

  // One product for wq, wk and wv and one for w1 and w3, and so in backward, of weights that were
  // put side by side: nothing is copied for it.
  void weights_that_read_the_same_rows_are_one_product_data() {
    QTest::addColumn<QStringList>("sets");
    QTest::addColumn<int>("products");  // of a layer, in forward
    const QStringList even{"model.dim=64", "model.n_heads=4", "model.n_kv_heads=2",
                           "model.ffn_dim=128", "precision.param=\"bf16\""};
    const auto row = [&](const char* name, const QStringList& sets, int products) {
      QTest::newRow(name) << even + sets << products;
    };
    row("gathered", {}, 4);
    row("each by itself", {"wrapping.mode=\"none\""}, 4);
    row("kept", {"wrapping.reshard_after_forward=false"}, 4);
    row("recomputed", {"recompute.mode=\"full\""}, 4);
    row("micro-batches", {"training.global_batch=16"}, 4);
    row("biases", {"model.attention_bias=true", "model.mlp_bias=true"}, 4);
    row("cast on one rank", {"hardware.ranks=1"}, 4);
    row("replicas", {"parallelism.dp_replicate=4"}, 4);
    row("norms of queries and keys", {"model.qk_norm=true"}, 6);
    row("context parallelism", {"parallelism.cp=2"}, 6);
    row("rows that do not divide", {"model.ffn_dim=130"}, 5);
    row("8 bits", {"precision.float8=\"tensorwise\""}, 7);
    row("fp32", {"precision.param=\"fp32\""}, 7);
  }
  void weights_that_read_the_same_rows_are_one_product() {
    QFETCH(QStringList, sets);
    QFETCH(int, products);
    const recipe::Recipe recipe = small(sets);
    const passes::Plan plan = planned(recipe);
    int found = 0;
    for (const Node& node : plan.graph.nodes) {
      QVERIFY2(node.op != "aten.cat", node.module.text().c_str());
      found += node.phase == Phase::forward && node.micro_batch == 0 &&
               node.module.text().starts_with("layers.0.") &&
               (node.op == "aten.mm" || node.op == "heddle.float8_mm" ||
                node.op == "heddle.float8_scaled_mm");
    }
    QCOMPARE(found, products);
  }

  // Results that tensor parallelism makes chunk by chunk, forward and backward.
  void chunks_are_made_where_they_are_joined_data() {
    QTest::addColumn<QStringList>("sets");
    const QStringList two{"model.dim=64",      "model.n_heads=4",  "model.n_kv_heads=2",
                          "model.ffn_dim=128", "parallelism.tp=2", "parallelism.tp_chunks=2"};
    QTest::newRow("rows spread") << two;
    QTest::newRow("rows whole") << two + QStringList{"parallelism.sequence_parallel=false"};
    QTest::newRow("bf16, recomputed")
        << two + QStringList{"precision.param=\"bf16\"", "recompute.mode=\"full\""};
    QTest::newRow("micro-batches") << two + QStringList{"training.global_batch=16"};
  }
  void chunks_are_made_where_they_are_joined() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    int joins = 0;
    for (const Node& node : plan.graph.nodes) {
      joins += passes::is_join(node);
      QVERIFY2(node.op != "aten.cat", node.module.text().c_str());
    }
    QVERIFY(joins > 0);
  }

  // Behind the last scatters and the gathers of the next step it would be waited for at the end.
  void the_loss_is_sent_before_the_last_scatter_data() { plans_data(); }
  void the_loss_is_sent_before_the_last_scatter() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    std::optional<size_t> loss, scatter;
    for (size_t i = 0; i < plan.graph.nodes.size(); ++i) {
      const Node& node = plan.graph.nodes[i];
      if (graph::is_reduce_scatter(node)) scatter = i;
      if (!loss && node.op == "heddle.all_reduce" && node.module.empty()) loss = i;
    }
    QVERIFY(loss && scatter);
    QVERIFY(*loss < *scatter);
  }

  // The norm's, which alone waits for backward; the loss's sum; what is the largest of all ranks.
  void the_scalars_of_a_step_take_three_collectives_data() { plans_data(); }
  void the_scalars_of_a_step_take_three_collectives() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    const auto of_scalars = std::ranges::count_if(plan.graph.nodes, [](const Node& node) {
      return node.op == "heddle.all_reduce" && node.module.empty();
    });
    QCOMPARE(of_scalars, 3);
  }

  // The stages have different parts of the model and meet in few collectives: in one order, and not
  // while the first stage has yet to send forward what the last one makes the loss of.
  void stages_agree_on_what_all_do_data() {
    QTest::addColumn<QStringList>("sets");
    const QString batches = "training.local_batch=4";
    QTest::newRow("pipeline") << QStringList{"parallelism.pp=4", batches};
    QTest::newRow("and shards") << QStringList{"parallelism.pp=2", batches};
    QTest::newRow("and replicas") << QStringList{"parallelism.pp=2", "parallelism.dp_replicate=2",
                                                 batches};
    QTest::newRow("interleaved") << QStringList{"parallelism.pp=2",
                                                "parallelism.pp_schedule=\"interleaved\"", batches};
    QTest::newRow("zero bubble") << QStringList{"parallelism.pp=2",
                                                "parallelism.pp_schedule=\"zero-bubble\"", batches};
  }
  void stages_agree_on_what_all_do() {
    QFETCH(QStringList, sets);
    std::map<std::string, QStringList> first;
    for (int64_t rank = 0; rank < 4; ++rank) {
      const passes::Plan plan = planned(small(sets), rank);
      std::map<std::string, QStringList> meetings;
      size_t last_forward = 0;
      std::optional<size_t> loss;
      for (size_t i = 0; i < plan.graph.nodes.size(); ++i) {
        const Node& node = plan.graph.nodes[i];
        if (node.phase == Phase::forward && node.op == "aten.mm") last_forward = i;
        if (node.op != "heddle.all_reduce" || !node.module.empty()) continue;
        if (!loss) loss = i;
        const std::string& group = graph::group_of(node);
        if (group.starts_with("pp"))
          meetings[group] +=
              QString::fromStdString(std::get<c10::IValue>(node.args[1]).toStringRef());
      }
      QVERIFY(loss);
      QVERIFY(*loss > last_forward);
      QVERIFY(!meetings.empty());
      if (rank == 0) first = meetings;
      QCOMPARE(meetings, first);
    }
  }

  // The pipeline rank that needs most, without states, which are the same.
  static int64_t most_alive(const QStringList& sets) {
    const recipe::Recipe recipe = small(sets);
    int64_t most = 0;
    for (int64_t rank = 0; rank < 4; ++rank)
      most = std::max(most, planned(recipe, rank).memory.live_bytes);
    return most;
  }

  void zero_bubble_holds_no_more_than_1f1b_data() {
    QTest::addColumn<QStringList>("sets");
    const QStringList long_rows{"model.n_layers=8", "data.seq_len=256", "wrapping.mode=\"layers\"",
                                "checkpoint.enabled=false"};
    const QStringList two{"model.dim=64",      "model.n_heads=4",  "model.n_kv_heads=2",
                          "model.ffn_dim=128", "parallelism.pp=2", "parallelism.tp=2"};
    QTest::newRow("four stages") << long_rows + QStringList{"parallelism.pp=4"};
    QTest::newRow("and shards") << long_rows + QStringList{"parallelism.pp=2"};
    QTest::newRow("tensor parallel") << long_rows + two;
    QTest::newRow("tensor parallel, bf16")
        << long_rows + two + QStringList{"precision.param=\"bf16\""};
    QTest::newRow("a large vocabulary")
        << long_rows + QStringList{"parallelism.pp=4", "model.vocab_size=256"};
    for (const char* mode : {"full", "selective"})
      QTest::newRow(mode) << long_rows + two +
                                 QStringList{QString("recompute.mode=\"%1\"").arg(mode)};
  }
  void zero_bubble_holds_no_more_than_1f1b() {
    QFETCH(QStringList, sets);
    for (const int micro_batches : {4, 8, 16, 64}) {
      const auto with = [&](const char* schedule) {
        return most_alive(sets +
                          QStringList{QString("training.local_batch=%1").arg(micro_batches),
                                      QString("parallelism.microbatches=%1").arg(micro_batches),
                                      QString("parallelism.pp_schedule=\"%1\"").arg(schedule)});
      };
      const int64_t of_1f1b = with("1f1b"), of_zero_bubble = with("zero-bubble");
      const QString both = QString("%1 micro-batches: %2 bytes, 1f1b %3")
                               .arg(micro_batches)
                               .arg(of_zero_bubble)
                               .arg(of_1f1b);
      qInfo("%s", qPrintable(both));
      QVERIFY2(static_cast<double>(of_zero_bubble) <= 1.05 * static_cast<double>(of_1f1b),
               qPrintable(both));
    }
  }

  void a_larger_limit_holds_more() {
    const QStringList sets{"data.seq_len=256", "parallelism.pp=4", "training.local_batch=16",
                           "parallelism.microbatches=16",
                           "parallelism.pp_schedule=\"zero-bubble\""};
    int64_t before = 0;
    for (const int limit : {2, 4, 7}) {
      const int64_t now =
          most_alive(sets + QStringList{QString("parallelism.zero_bubble_limit=%1").arg(limit)});
      QVERIFY(now > before);
      before = now;
    }
  }

  // Without it each of a layer's two inputs stays whole on every rank.
  void inputs_that_are_gathered_again_are_not_kept() {
    const QStringList two{"model.dim=64",      "model.n_heads=4",  "model.n_kv_heads=4",
                          "model.ffn_dim=128", "parallelism.tp=4", "data.seq_len=256"};
    const int64_t again = most_alive(two),
                  kept = most_alive(two + QStringList{"parallelism.tp_gather_again=false"});
    // Four layers' two inputs: rows of 64 numbers, of which a rank has a quarter.
    const int64_t inputs = int64_t{4} * 2 * 2 * 256 * 64 * 4;
    QVERIFY2(kept - again > inputs * 3 / 4 * 7 / 10,
             qPrintable(QString("%1 and %2 bytes").arg(again).arg(kept)));
  }

  void nothing_is_written_while_it_is_being_sent_data() { plans_data(); }
  void nothing_is_written_while_it_is_being_sent() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    const auto& nodes = plan.graph.nodes;
    const std::vector<int32_t> made_by = graph::producers(plan.graph);
    int sent = 0;
    std::multiset<ValueId> being_sent;
    // Twice around: what one step starts at its end is waited for in the next.
    for (size_t i = 0; i < 2 * nodes.size(); ++i) {
      const Node& node = nodes[i % nodes.size()];
      const bool starts = graph::is_collective(node) && !graph::is_wait(node);
      graph::for_each_use(node, [&](const Use& use) {
        const ValueId root = plan.memory.root[use.value];
        if (starts) being_sent.insert(root), ++sent;
        if (use.written != graph::kNoValue)
          QVERIFY2(!being_sent.contains(root), (node.op.text() + " " + node.module.text()).c_str());
      });
      if (!graph::is_wait(node)) continue;
      const int32_t start = made_by[graph::list_of(node).front().value];
      graph::for_each_use(nodes[start], [&](const Use& use) {
        const auto found = being_sent.find(plan.memory.root[use.value]);
        if (found != being_sent.end()) being_sent.erase(found);
      });
    }
    QVERIFY(sent > 0);
  }

  void buckets_are_not_copied_data() { plans_data(); }
  void buckets_are_not_copied() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    int copies = 0, casts = 0;
    for (const Node& node : plan.graph.nodes) {
      if (node.op == "aten._to_copy") ++casts;
      // The step's loss is cloned once: its sum is set to zero.
      if ((node.op == "aten.clone" || node.op == "aten.cat" || node.op == "aten.copy_") &&
          !node.module.empty())
        ++copies;
    }
    QCOMPARE(copies, 0);
    if (!sets.join(' ').contains("bf16")) QCOMPARE(casts, 0);
  }

  // Two values that are alive at one time never share memory, save a result with the argument that
  // it replaces: looked at pair by pair.
  void memory_is_never_shared_data() { plans_data(); }
  void memory_is_never_shared() {
    QFETCH(QStringList, sets);
    const passes::Plan plan = planned(small(sets));
    const passes::MemoryPlan& memory = plan.memory;
    const auto count = plan.graph.nodes.size();
    std::vector<std::pair<size_t, size_t>> alive(memory.root.size(), {count, 0});
    std::vector<bool> wraps(memory.root.size(), false);
    std::vector<size_t> waited(memory.root.size(), 0);
    for (size_t i = 0; i < count; ++i)
      if (graph::is_wait(plan.graph.nodes[i]))
        waited[graph::list_of(plan.graph.nodes[i]).front().value] = i;
    for (size_t i = 0; i < count; ++i) {
      const Node& node = plan.graph.nodes[i];
      const size_t until = graph::is_collective(node) && !node.next_step
                               ? std::max(i, waited[node.outputs.front()])
                               : i;
      auto touch = [&](ValueId value) {
        auto& [from, to] = alive[memory.root[value]];
        from = std::min(from, i);
        to = std::max(to, until);
      };
      graph::for_each_use(node, [&](const Use& use) { touch(use.value); });
      for (ValueId output : node.outputs) {
        touch(output);
        if (node.next_step) wraps[memory.root[output]] = true;
      }
    }
    for (const graph::Binding& output : plan.graph.outputs)
      alive[memory.root[output.value]].second = count;
    int64_t end = 0;
    for (size_t a = 0; a < memory.place.size(); ++a) {
      if (memory.place[a] < 0 || memory.root[a] != ValueId(a)) continue;
      end = std::max(end, memory.place[a] + memory.bytes[a]);
      for (size_t b = 0; b < a; ++b) {
        if (memory.place[b] < 0 || memory.root[b] != ValueId(b)) continue;
        const bool together =
            wraps[a] || wraps[b] ||
            (alive[a].first <= alive[b].second && alive[b].first <= alive[a].second);
        const bool apart = memory.place[a] + memory.bytes[a] <= memory.place[b] ||
                           memory.place[b] + memory.bytes[b] <= memory.place[a];
        const bool taken =
            takes_place(plan, alive[a].first, a, b) && alive[b].second == alive[a].first;
        const bool given =
            takes_place(plan, alive[b].first, b, a) && alive[a].second == alive[b].first;
        QVERIFY2(!together || apart || taken || given,
                 qPrintable(QString("%1 and %2").arg(a).arg(b)));
      }
    }
    QVERIFY(end <= memory.arena_bytes);
    QVERIFY(memory.arena_bytes <= memory.live_bytes * 5 / 4);
  }

  void a_budget_keeps_more_the_larger_it_is() {
    int64_t before = 0;
    for (const char* budget : {"0.0", "0.1", "0.25", "0.5", "0.75", "0.9", "1.0"}) {
      const passes::Plan plan =
          planned(small({"wrapping.mode=\"layers\"", "recompute.mode=\"budget\"",
                         QString("recompute.budget=") + budget}));
      QVERIFY2(plan.memory.live_bytes >= before, budget);
      before = plan.memory.live_bytes;
    }
    QCOMPARE(before, planned(small({"wrapping.mode=\"layers\""})).memory.live_bytes);
    QVERIFY(
        planned(small({"wrapping.mode=\"layers\"", "recompute.mode=\"budget\"",
                       "recompute.budget=0.0"}))
            .memory.live_bytes <=
        planned(small({"wrapping.mode=\"layers\"", "recompute.mode=\"full\""})).memory.live_bytes);
  }
};

HEDDLE_TEST(LlamaPlanTest)
#include "llama_plan_test.moc"
