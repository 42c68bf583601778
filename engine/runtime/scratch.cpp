#include "engine/runtime/scratch.h"

#include "engine/kernels/documents.h"
#include "engine/kernels/list_blocks.h"
#include "engine/kernels/operators.h"
#include "engine/passes/node_cost.h"
#include "engine/transport/host_backend.h"

namespace heddle::runtime {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

const Value& argument(const Graph& graph, const Node& node, size_t i) {
  return graph.values[std::get<graph::Use>(node.args[i]).value];
}

// As fp32.
int64_t float_bytes(const Value& value) {
  return aligned(value.bytes() / static_cast<int64_t>(c10::elementSize(value.dtype)) * 4);
}

bool converts(const Value& value) { return value.dtype != c10::kFloat; }

bool is_heddles(const Node& node) { return node.op.text().starts_with("heddle."); }

// Heddle's operators read contiguous tensors: a copy of what is not.
int64_t contiguous_copies(const Graph& graph, const Node& node) {
  if (!is_heddles(node) || graph::is_collective(node)) return 0;
  int64_t bytes = 0;
  graph::for_each_use(node, [&](const graph::Use& use) {
    const Value& value = graph.values[use.value];
    if (!value.strides.empty()) bytes += aligned(std::max(value.bytes(), float_bytes(value)));
  });
  return bytes;
}

// A block of score rows for each thread (two in backward), and fp32 copies of what is bf16.
int64_t attention(const Graph& graph, const Node& node, int64_t threads, bool backward) {
  const Value& q = argument(graph, node, backward ? 1 : 0);
  const Value& k = argument(graph, node, backward ? 2 : 1);
  const int64_t rows = threads * kernels::kAttentionRows * (backward ? 2 : 1);
  int64_t bytes = aligned(rows * k.sizes[1] * 4);
  if (converts(q))
    bytes += backward ? 4 * float_bytes(q) + 4 * float_bytes(k)  // q, dout, out, dq; k, v, dk, dv
                      : 2 * float_bytes(q) + 2 * float_bytes(k);
  return bytes;
}

int64_t rms_norm_backward(const Graph& graph, const Node& node) {
  const Value& x = argument(graph, node, 1);
  const Value& weight = argument(graph, node, 2);
  const int64_t blocks = (x.sizes[0] + kernels::kNormRows - 1) / kernels::kNormRows;
  const int64_t partial = aligned(blocks * x.sizes[1] * 4);
  return converts(weight) ? partial + 2 * float_bytes(weight) : partial;
}

// oneDNN reorders bf16 operands into blocks, which fills up what ends within one, and sums in fp32:
// an upper bound.
int64_t product(const Graph& graph, const Node& node, size_t first) {
  const Value &a = argument(graph, node, first), &b = argument(graph, node, first + 1);
  const Value& result = first > 0 ? argument(graph, node, 0) : graph.values[node.outputs.front()];
  if (!converts(a)) return 0;
  constexpr int64_t kReorders = 65536, kBlock = 64;
  const auto in_blocks = [](const Value& value, int64_t element_bytes) {
    int64_t elements = 1;
    for (size_t i = 0; i < value.sizes.size(); ++i) {
      const bool of_matrix = i + 2 >= value.sizes.size();
      const int64_t n = value.sizes[i];
      elements *= of_matrix ? (n + kBlock - 1) / kBlock * kBlock : n;
    }
    return elements * element_bytes;
  };
  return in_blocks(a, 2) + in_blocks(b, 2) + in_blocks(result, 4) + kReorders;
}

// Flash attention's backward: fp32 sums of dq, and a number a row; with grouped heads dk and dv of
// each query head as well (flash_api.cpp of LibTorch).
int64_t flash_backward(const Graph& graph, const Node& node) {
  constexpr int64_t kTokens = 128, kHeadDim = 32;  // what sizes are rounded up to
  const auto rounded = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
  const Value &q = argument(graph, node, 1), &k = argument(graph, node, 2);
  if (!converts(q)) return 0;
  const int64_t b = q.sizes[0], heads = q.sizes[2], d = q.sizes[3];
  const auto* first_key = node.args.size() > 6 ? std::get_if<graph::Use>(&node.args[6]) : nullptr;
  const bool documents = first_key && first_key->value != graph::kNoValue;
  const int64_t more = documents ? kTokens * kernels::cuda::kDocuments : 0;
  const int64_t rows = b * (rounded(q.sizes[1], kTokens) + more) * heads;
  const int64_t expanded = k.sizes[2] == heads ? 0 : 2 * aligned(b * k.sizes[1] * heads * d * 2);
  return aligned(rows * 4) + aligned(rows * rounded(d, kHeadDim) * 4) + expanded;
}

// One fp64 number for each block of each tensor.
int64_t gpu_squared_norms(const Graph& graph, const Node& node) {
  constexpr int64_t kChunk = kernels::cuda::kListChunk;
  int64_t bytes = 0;
  for (const graph::Use& use : graph::list_of(node)) {
    const Value& value = graph.values[use.value];
    const int64_t elements = value.bytes() / static_cast<int64_t>(c10::elementSize(value.dtype));
    bytes += (elements + kChunk - 1) / kChunk * 8;
  }
  return aligned(bytes);
}

int64_t of_gpu_kernel(const Graph& graph, const Node& node) {
  constexpr int64_t kSeeds = 4096;  // what takes the place of a random state; documents
  if (node.op == "heddle.attention") return kSeeds;
  if (node.op == "heddle.attention_backward") return kSeeds + flash_backward(graph, node);
  if (node.op == "heddle.squared_norms") return gpu_squared_norms(graph, node);
  if (node.op == "heddle.rms_norm_backward") {
    const Value& x = argument(graph, node, 1);
    return aligned((x.sizes[0] + kernels::kNormRows - 1) / kernels::kNormRows * x.sizes[1] * 4);
  }
  return 0;
}

int64_t of_cpu_kernel(const Graph& graph, const Node& node, int64_t threads) {
  if (node.op == "heddle.attention") return attention(graph, node, threads, false);
  if (node.op == "heddle.attention_backward") return attention(graph, node, threads, true);
  if (node.op == "heddle.rms_norm_backward") return rms_norm_backward(graph, node);
  if (node.op == "heddle.rms_norm" && converts(argument(graph, node, 1)))
    return float_bytes(argument(graph, node, 1));
  if (const auto first = passes::first_factor(node)) return product(graph, node, *first);
  if (node.op.text().ends_with(".Scalar")) return 128;  // the number as a tensor, and its cast
  return 0;
}

}  // namespace

int64_t scratch_bytes(const Graph& graph, const Node& node, int64_t threads) {
  return of_cpu_kernel(graph, node, threads) + contiguous_copies(graph, node);
}

int64_t gpu_scratch_bytes(const Graph& graph, const Node& node) {
  return of_gpu_kernel(graph, node) + contiguous_copies(graph, node);
}

int64_t collective_scratch_bytes(const Graph& graph, const Node& node, int64_t remote_ranks) {
  int64_t bytes = 0, share = 0;
  if (graph::scatters(node)) {
    for (graph::ValueId shard : node.outputs) share += graph.values[shard].bytes();
    return remote_ranks * aligned(share);
  }
  if (!graph::is_all_reduce(node) && node.op != "heddle.activation_sum") return 0;
  constexpr int64_t kLine = 64;
  const int64_t ranks = graph::ranks_of(graph, node);
  for (const graph::Use& use : graph::list_of(node)) {
    const int64_t whole = graph.values[use.value].bytes();
    const int64_t lines = (whole + kLine - 1) / kLine;
    bytes += whole;
    share += (lines + ranks - 1) / ranks * kLine;
  }
  return bytes <= transport::kWholeBytes ? transport::kWholeBytes + remote_ranks * aligned(bytes)
                                         : remote_ranks * aligned(share);
}

}  // namespace heddle::runtime
