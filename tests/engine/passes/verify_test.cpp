// Each rule of graph/ir.h is broken, one change to a sound plan at a time, and seen.
#include "engine/passes/verify.h"

#include <QTest>
#include <algorithm>
#include <functional>

#include "../graph/toy.h"
#include "engine/passes/pipeline.h"
#include "tests/support/test_class.h"

using namespace heddle;
using graph::Node;
using graph::Use;

namespace {

passes::Plan planned_small() {
  graph::Graph toy = capture_toy();
  passes::PlanOptions options;
  options.overlap.gathers_in_flight = 1;
  options.buckets = passes::by_block(toy);
  options.scratch_bytes = [](const graph::Graph&, const Node& node) {
    return graph::is_view(node) || graph::is_collective(node) ? int64_t{0} : int64_t{64};
  };
  toy.micro_batches = 2;
  return passes::plan(std::move(toy), options);
}

using Is = std::function<bool(const Node&)>;
using Nodes = std::vector<Node>;

size_t first(const Nodes& nodes, const Is& is) {
  return static_cast<size_t>(std::find_if(nodes.begin(), nodes.end(), is) - nodes.begin());
}
size_t last(const Nodes& nodes, const Is& is) {
  return nodes.size() - 1 -
         static_cast<size_t>(std::find_if(nodes.rbegin(), nodes.rend(), is) - nodes.rbegin());
}
Is named(const char* op) {
  return [op](const Node& node) { return node.op == op; };
}
// As at the beginning of a step: not what the step before has started.
bool starts_here(const Node& node) { return graph::is_all_gather(node) && !node.next_step; }

void move(Nodes& nodes, size_t from, size_t to) {
  Node node = std::move(nodes[from]);
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(from));
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(to), std::move(node));
}

// The wait of what a node makes.
size_t wait_of(const Nodes& nodes, size_t start) {
  return first(nodes, [&](const Node& node) {
    return graph::is_wait(node) &&
           graph::list_of(node).front().value == nodes[start].outputs.front();
  });
}

// Two values of the arena that are both needed at one time: a product's factor, and its result.
std::pair<graph::ValueId, graph::ValueId> factor_and_product(const passes::Plan& plan) {
  for (const Node& node : plan.graph.nodes) {
    if (node.op != "aten.mm") continue;
    const graph::ValueId factor = plan.memory.root[std::get<Use>(node.args[1]).value];
    if (plan.memory.place[factor] >= 0) return {factor, node.outputs.front()};
  }
  return {};
}

struct PlanMutation {
  const char* name;
  int rule;
  std::function<void(passes::Plan&)> make;
};

const std::vector<PlanMutation> kPlanMutations = {
    {"a node before what it reads", 1,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       move(nodes, last(nodes, named("aten.silu")), 0);
     }},
    {"a node that is missing", 1,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(first(nodes, named("aten.mm"))));
     }},
    {"a value made twice", 1,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const size_t node = first(nodes, named("aten.mm"));
       nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(node), nodes[node]);
     }},
    {"an output that nothing makes", 1,
     [](passes::Plan& plan) {
       plan.graph.outputs.push_back({"more", plan.graph.add_value({1}, c10::kFloat)});
     }},
    {"what the next step needs, read before it is made", 1,
     [](passes::Plan& plan) {
       for (Node& node : plan.graph.nodes) node.next_step = false;
     }},
    {"a wait that is missing", 2,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const size_t start = first(nodes, starts_here), wait = wait_of(nodes, start);
       const graph::ValueId pending = nodes[start].outputs.front(),
                            ready = nodes[wait].outputs.front();
       nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(wait));
       for (Node& node : nodes)
         graph::for_each_use(node, [&](Use& use) {
           if (use.value == ready) use.value = pending;
         });
     }},
    {"nobody waits for a sum", 2,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const graph::ValueId norm =
           nodes[wait_of(nodes,
                         first(nodes, [](const Node& node) { return graph::is_all_reduce(node); }))]
               .outputs.front();
       plan.graph.states.push_back({"norm", norm});
       std::erase_if(nodes, [&](const Node& node) {
         return graph::is_wait(node) && node.outputs.front() == norm;
       });
     }},
    {"a second wait", 2,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const size_t wait = wait_of(nodes, first(nodes, starts_here));
       Node again = nodes[wait];
       for (graph::ValueId& output : again.outputs) {
         plan.graph.values.push_back(plan.graph.values[output]);
         output = static_cast<graph::ValueId>(plan.graph.values.size()) - 1;
       }
       nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(wait), again);
     }},
    {"a wait for a part", 2,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const size_t start = first(nodes, starts_here);
       plan.graph.values.push_back(plan.graph.values[nodes[start].outputs.front()]);
       nodes[start].outputs.push_back(static_cast<graph::ValueId>(plan.graph.values.size()) - 1);
     }},
    {"a gather after the update", 3,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const size_t update = last(nodes, named("aten.addcmul_"));
       const graph::ValueId before = std::get<Use>(nodes[update].args[0]).value;
       Node norm;
       norm.op = "heddle.squared_norms";
       norm.args = {graph::Uses{{before, graph::kNoValue}}};
       norm.outputs = {plan.graph.add_value({}, c10::kDouble)};
       nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(update) + 1, norm);
     }},
    {"an update while a gather reads", 3,
     [](passes::Plan& plan) {
       Nodes& nodes = plan.graph.nodes;
       const size_t start = first(nodes, starts_here);
       const graph::ValueId shard = graph::list_of(nodes[start]).front().value;
       Node zero;
       zero.op = "aten.zero_";
       plan.graph.values.push_back(plan.graph.values[shard]);
       const auto zeroed = static_cast<graph::ValueId>(plan.graph.values.size()) - 1;
       zero.args = {Use{shard, zeroed}};
       nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(start) + 1, zero);
       for (size_t i = start + 2; i < nodes.size(); ++i)
         graph::for_each_use(nodes[i], [&](Use& use) {
           if (use.value == shard) use.value = zeroed;
         });
     }},
    {"a result over what it is made of", 4,
     [](passes::Plan& plan) {
       const auto [factor, product] = factor_and_product(plan);
       plan.memory.place[product] = plan.memory.place[factor];
     }},
    {"a value over one that is still needed", 4,
     [](passes::Plan& plan) {
       // The whole step's loss is where a product is made later.
       const graph::ValueId loss = plan.graph.outputs.front().value;
       for (const Node& node : plan.graph.nodes)
         if (node.op == "aten.mm" && node.phase == graph::Phase::backward)
           plan.memory.place[node.outputs.front()] = plan.memory.place[loss];
     }},
    {"scratch over an argument", 4,
     [](passes::Plan& plan) {
       const Nodes& nodes = plan.graph.nodes;
       const auto [factor, product] = factor_and_product(plan);
       const graph::ValueId made = product;
       const size_t node =
           first(nodes, [&](const Node& each) { return each.outputs.front() == made; });
       plan.memory.scratch_place[node] = plan.memory.place[factor];
     }},
    {"memory of a gather that is under way", 4,
     [](passes::Plan& plan) {
       const Nodes& nodes = plan.graph.nodes;
       const size_t start = first(nodes, starts_here), wait = wait_of(nodes, start);
       const int64_t place = plan.memory.place[nodes[start].outputs.front()];
       for (size_t i = start + 1; i < wait; ++i) plan.memory.scratch_place[i] = place;
     }},
};

}  // namespace

class VerifyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qputenv("HEDDLE_VERIFY", "1"); }

  void a_plan_keeps_all_rules() {
    const passes::Plan plan = planned_small();
    const auto kept = passes::verify(plan.graph, plan.memory);
    QVERIFY2(kept, kept ? "" : kept.error().message.c_str());
  }

  void a_broken_rule_is_seen_data() {
    QTest::addColumn<int>("mutation");
    for (size_t i = 0; i < kPlanMutations.size(); ++i)
      QTest::addRow("%s", kPlanMutations[i].name) << static_cast<int>(i);
  }
  void a_broken_rule_is_seen() {
    QFETCH(int, mutation);
    passes::Plan plan = planned_small();
    const PlanMutation& what = kPlanMutations[static_cast<size_t>(mutation)];
    what.make(plan);
    const auto kept =
        passes::verify(plan.graph, what.rule == 4 ? plan.memory : passes::MemoryPlan{});
    QVERIFY(!kept);
    const QString rule = QString::number(what.rule) + ": ";
    QVERIFY2(QString::fromStdString(kept.error().message).startsWith(rule),
             kept.error().message.c_str());
  }

  void ranks_that_do_not_meet_are_seen() {
    const auto both = [](int, const std::string&) { return std::vector{0, 1}; };
    const graph::Graph graph = planned_small().graph;
    const auto met = passes::verify_ranks({graph, graph}, both);
    QVERIFY2(met, met ? "" : met.error().message.c_str());

    graph::Graph other = graph;  // gathers in another order
    Nodes& nodes = other.nodes;
    const size_t start = first(nodes, starts_here);
    const auto next = std::find_if(
        nodes.begin() + static_cast<std::ptrdiff_t>(start) + 1, nodes.end(), [&](const Node& node) {
          return starts_here(node) && node.module != nodes[start].module && node.module == "head";
        });
    std::swap(nodes[start], *next);
    const auto order = passes::verify_ranks({graph, other}, both);
    QVERIFY(!order && order.error().message.starts_with("5: "));

    other = graph;  // one collective less
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(last(
                                    nodes, [](const Node& n) { return graph::is_all_reduce(n); })));
    const auto stuck = passes::verify_ranks({graph, other}, both);
    QVERIFY(!stuck && stuck.error().message.starts_with("5: "));
  }

  // The passes look after themselves in tests.
  void a_pass_that_breaks_a_rule_is_named() {
    graph::Graph toy = capture_toy();
    std::reverse(toy.nodes.begin(), toy.nodes.end());
    try {
      passes::plan(std::move(toy), {}, "stage");
    } catch (const c10::Error& error) {
      QVERIFY2(QString(error.what_without_backtrace())
                   .startsWith("after the pass recompute the graph breaks rule 1: "),
               error.what_without_backtrace());
      return;
    }
    QFAIL("a graph whose nodes stand the wrong way round went through");
  }
};

HEDDLE_TEST(VerifyTest)
#include "verify_test.moc"
