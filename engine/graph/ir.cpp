#include "engine/graph/ir.h"

#include <algorithm>
#include <array>

namespace heddle::graph {
namespace {

const Name kAllGather = "heddle.all_gather";
const Name kReduceScatter = "heddle.reduce_scatter";
const Name kAllReduce = "heddle.all_reduce";
const Name kWait = "heddle.wait";
const Name kActivationGather = "heddle.activation_gather";
const Name kActivationScatter = "heddle.activation_scatter";
const Name kActivationSend = "heddle.activation_send";
const Name kActivationReceive = "heddle.activation_receive";
const std::array<Name, 7> kExchanges = {kActivationGather,         kActivationScatter,
                                        "heddle.activation_sum",   "heddle.activation_all_to_all",
                                        "heddle.activation_shift", kActivationSend,
                                        kActivationReceive};

}  // namespace

int64_t Value::bytes() const {
  int64_t count = static_cast<int64_t>(c10::elementSize(dtype));
  for (int64_t size : sizes) count *= size;
  return count;
}

const char* name_of(Phase phase) {
  constexpr std::array names = {"forward", "backward", "optimizer"};
  return names[static_cast<size_t>(phase)];
}

ValueId Graph::add_value(Sizes sizes, c10::ScalarType dtype) {
  values.push_back(Value{sizes, dtype, {}});
  return static_cast<ValueId>(values.size()) - 1;
}

bool is_all_gather(const Node& node) { return node.op == kAllGather; }
bool is_reduce_scatter(const Node& node) { return node.op == kReduceScatter; }
bool is_all_reduce(const Node& node) { return node.op == kAllReduce; }
bool is_wait(const Node& node) { return node.op == kWait; }

bool is_exchange(const Node& node) {
  return std::find(kExchanges.begin(), kExchanges.end(), node.op) != kExchanges.end();
}

bool is_collective(const Node& node) {
  return is_all_gather(node) || is_reduce_scatter(node) || is_all_reduce(node) || is_exchange(node);
}

bool is_send(const Node& node) { return node.op == kActivationSend; }
bool is_receive(const Node& node) { return node.op == kActivationReceive; }

bool gathers(const Node& node) { return is_all_gather(node) || node.op == kActivationGather; }
bool scatters(const Node& node) { return is_reduce_scatter(node) || node.op == kActivationScatter; }

const std::string& group_of(const Node& collective) {
  return std::get<c10::IValue>(collective.args.back()).toStringRef();
}

int64_t ranks_of(const Graph& graph, const Node& collective) {
  const auto group = graph.groups.find(group_of(collective));
  TORCH_CHECK(group != graph.groups.end(), "the graph does not say how many ranks the group \"",
              group_of(collective), "\" has");
  return group->second;
}

Uses& list_of(Node& node, size_t arg) { return std::get<Uses>(node.args[arg]); }
const Uses& list_of(const Node& node, size_t arg) { return std::get<Uses>(node.args[arg]); }

int64_t collectives_per_step(const Graph& graph) {
  int64_t count = 0;
  for (const Node& node : graph.nodes)
    if (is_collective(node)) count += node.phase == Phase::optimizer ? 1 : graph.micro_batches;
  return count;
}

std::vector<int32_t> producers(const Graph& graph) {
  std::vector<int32_t> made_by(graph.values.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId output : graph.nodes[i].outputs)
      if (output != kNoValue) made_by[output] = static_cast<int32_t>(i);
    for_each_use(graph.nodes[i], [&](const Use& use) {
      if (use.written != kNoValue) made_by[use.written] = static_cast<int32_t>(i);
    });
  }
  return made_by;
}

}  // namespace heddle::graph
