// Attention's memory besides its arguments and results does not grow with the square of the
// sequence, and the plan knows of all of it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <QTest>

#include "engine/kernels/attention_pieces.h"
#include "engine/kernels/attention_scratch.h"
#include "engine/kernels/composite.h"
#include "engine/predict/planner.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/parse.h"
#include "engine/runtime/placement.h"
#include "engine/step/capture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::kernels;
using at::Tensor;

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

int64_t bytes_of(const Tensor& x) { return static_cast<int64_t>(x.nbytes()); }

/// Allocates as flash attention does, and computes nothing (flash_api.cpp of LibTorch).
struct Allocating {
  using Scratch = runtime::ReusedScratch;

  static std::tuple<Tensor, Tensor> forward(const Tensor& q) {
    const auto fp32 = q.options().dtype(at::kFloat);
    const Tensor seed = at::empty({2}, fp32);
    const Tensor joined = at::zeros({q.size(2), q.size(1)}, fp32);
    return {at::zeros(q.sizes(), q.options()), joined.view({1, q.size(2), q.size(1)}).clone()};
  }
  static std::tuple<Tensor, Tensor, Tensor> backward(const Tensor& q, const Tensor& k,
                                                     const Tensor& lse, int64_t documents) {
    const auto fp32 = q.options().dtype(at::kFloat);
    const auto rounded = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
    const int64_t rows = rounded(q.size(1), 128) + 128 * documents;
    const Tensor joined = lse.clone();
    const Tensor sums = at::empty({rows, q.size(2), rounded(q.size(3), 32)}, fp32),
                 numbers = at::empty({q.size(2), rows}, fp32);
    const Tensor dk = at::empty({k.size(1), q.size(2), q.size(3)}, q.options()),
                 dv = at::empty_like(dk);
    return {at::zeros(q.sizes(), q.options()), at::zeros(k.sizes(), k.options()),
            at::zeros(k.sizes(), k.options())};
  }

  static std::tuple<Tensor, Tensor> documents(const Tensor& q, const Tensor&, const Tensor&,
                                              const OwnKeys&, double) {
    return forward(q);
  }
  static std::tuple<Tensor, Tensor> range(const Tensor& q, const Tensor&, const Tensor&,
                                          const SeenRange&, double) {
    return forward(q);
  }
  static std::tuple<Tensor, Tensor, Tensor> documents_backward(const Tensor&, const Tensor& q,
                                                               const Tensor& k, const Tensor&,
                                                               const Tensor&, const Tensor& lse,
                                                               const OwnKeys&, double) {
    return backward(q, k, lse, cuda::kPieceDocuments);
  }
  static std::tuple<Tensor, Tensor, Tensor> range_backward(const Tensor&, const Tensor& q,
                                                           const Tensor& k, const Tensor&,
                                                           const Tensor&, const Tensor& lse,
                                                           const SeenRange&, double) {
    return backward(q, k, lse, 4);
  }
};

/// Runs `work` in a scratch of so many bytes; what it allocates elsewhere.
template <typename Work>
int64_t outside_of(int64_t bytes, Work&& work) {
  std::vector<std::byte> memory(static_cast<size_t>(bytes) + 64);
  auto* begin = memory.data();
  while (reinterpret_cast<uintptr_t>(begin) % 64 != 0) ++begin;
  runtime::Placement placement;
  placement.scratch = {begin, static_cast<size_t>(bytes)};
  runtime::take_outside_bytes();
  {
    const runtime::Placing placing(placement);
    work();
  }
  return runtime::take_outside_bytes();
}

struct Attention {
  AttentionSizes sizes;
  Tensor q, k, v, dout, lse;
  Optional first, last, starts, sight;

  Attention(int64_t tokens, int64_t ranks, bool ranges, at::ScalarType type)
      : sizes{.type = type,
              .batch = 1,
              .queries = tokens / ranks,
              .keys = tokens,
              .heads = 4,
              .kv_heads = 1,
              .head_dim = 64,
              .ranges = ranges,
              .pieces = ranks > 1 ? 2 * ranks : 0} {
    const auto zeros = [&](int64_t rows, int64_t heads) {
      return at::zeros({1, rows, heads, sizes.head_dim}, at::TensorOptions(type));
    };
    q = zeros(sizes.queries, sizes.heads);
    dout = zeros(sizes.queries, sizes.heads);
    k = zeros(tokens, 1);
    v = zeros(tokens, 1);
    lse = at::zeros({1, sizes.heads, sizes.queries});
    if (!ranges) return;
    last = at::arange(sizes.queries).unsqueeze(0);
    first = at::zeros_like(*last);
    if (ranks > 1) starts = at::arange(sizes.pieces) * (tokens / sizes.pieces);
    sight = sight_of(*first, *last, starts, tokens);
  }
};

}  // namespace

class AttentionMemoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A second thread would mostly wait for work this small.
  void initTestCase() { at::set_num_threads(1); }

  void no_buffer_holds_all_scores_above_4096_tokens_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<bool>("ranges");
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
      for (const int head_dim : {128, 20})
        for (const int ranks : {1, 8})
          for (const bool ranges : {false, true})
            if (ranges || ranks == 1)
              QTest::addRow("%s, head dim %d, %d ranks%s", c10::toString(type), head_dim, ranks,
                            ranges ? ", documents" : "")
                  << int(type) << head_dim << ranks << ranges;
  }
  void no_buffer_holds_all_scores_above_4096_tokens() {
    QFETCH(int, type);
    QFETCH(int, head_dim);
    QFETCH(int, ranks);
    QFETCH(bool, ranges);
    for (int64_t tokens = 4096 * ranks; tokens <= int64_t{1} << 20; tokens *= 2) {
      const AttentionSizes sizes{.type = at::ScalarType(type),
                                 .batch = 1,
                                 .queries = tokens / ranks,
                                 .keys = tokens,
                                 .heads = 32,
                                 .kv_heads = 8,
                                 .head_dim = head_dim,
                                 .ranges = ranges,
                                 .pieces = ranks > 1 ? 2 * ranks : 0};
      const int64_t scores = sizes.queries * sizes.keys * sizes.heads * kFloatBytes;
      QVERIFY2(gpu_forward_scratch(sizes) < scores / 4, qPrintable(QString::number(tokens)));
      QVERIFY2(gpu_backward_scratch(sizes) < scores / 4, qPrintable(QString::number(tokens)));
    }
  }

  void pieces_allocate_no_more_than_the_plan_knows_data() {
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<bool>("ranges");
    QTest::newRow("gathered keys") << 40960 << 4 << true;
    QTest::newRow("gathered keys, short pieces") << 8192 << 8 << true;
    QTest::newRow("documents") << 20480 << 1 << true;
    QTest::newRow("causal") << 20480 << 1 << false;
  }
  void pieces_allocate_no_more_than_the_plan_knows() {
    QFETCH(int, tokens);
    QFETCH(int, ranks);
    QFETCH(bool, ranges);
    const Attention call(tokens, ranks, ranges, at::kBFloat16);
    QVERIFY(call.sizes.is_in_pieces());
    const PiecedCall pieces{call.q, call.k, call.v, call.sizes.pieces, call.sight, 1.0};
    const auto forward = [&] { attention_in_pieces<Allocating>(pieces); };
    const auto backward = [&] {
      attention_in_pieces_backward<Allocating>(pieces, call.dout, call.q, call.lse);
    };
    const int64_t result = aligned(bytes_of(call.q)) + aligned(bytes_of(call.lse)),
                  gradients = aligned(bytes_of(call.q)) + 2 * aligned(bytes_of(call.k));
    const int64_t ahead = gpu_forward_scratch(call.sizes), back = gpu_backward_scratch(call.sizes);
    // A CPU makes a copy in fp32 where bf16 is added to that, a GPU does not.
    const int64_t queries = std::min(kPieceQueries, chunk_of(call.sizes)),
                  keys = std::min<int64_t>(kPieceKeysBackward, tokens);
    const AttentionSizes piece = call.sizes.of(queries, keys);
    const int64_t copies = (piece.query_elements() + 2 * piece.key_elements()) * kFloatBytes;
    QCOMPARE(outside_of(result + ahead, forward), 0);
    QCOMPARE(outside_of(gradients + back + copies, backward), 0);
    // Nor does the plan hold much that is not used.
    QVERIFY(outside_of(result + ahead * 3 / 4, forward) > 0);
    QVERIFY(outside_of(gradients + back * 3 / 4, backward) > 0);
  }

  // For one order flash attention has a sum of dq for each block that a GPU runs at a time (nsplits
  // in flash_api.cpp): as many sequences and heads as there are multiprocessors need but one.
  void sums_in_one_order_are_in_the_plan() {
    const auto scratch = [](int64_t batch, bool ranges, int64_t in_order_on) {
      return gpu_backward_scratch({.type = at::kBFloat16,
                                   .batch = batch,
                                   .queries = 8192,
                                   .keys = 8192,
                                   .heads = 32,
                                   .kv_heads = 8,
                                   .head_dim = 128,
                                   .ranges = ranges,
                                   .pieces = 0,
                                   .in_order_on = in_order_on});
    };
    const int64_t sum = int64_t{8192} * 32 * 128 * 4;
    QCOMPARE(scratch(1, false, 132) - scratch(1, false, 0), 4 * sum);
    QCOMPARE(scratch(4, false, 132) - scratch(4, false, 0), 4 * sum);
    QCOMPARE(scratch(5, false, 132), scratch(5, false, 0));
    QCOMPARE(scratch(1, true, 132), scratch(1, true, 0));  // documents are sequences
  }

  void the_composite_allocates_no_more_than_the_plan_knows_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<bool>("ranges");
    QTest::newRow("fp32, causal") << int(at::kFloat) << 1 << false;
    QTest::newRow("fp32, gathered keys") << int(at::kFloat) << 4 << true;
    QTest::newRow("bf16, documents") << int(at::kBFloat16) << 1 << true;
  }
  void the_composite_allocates_no_more_than_the_plan_knows() {
    QFETCH(int, type);
    QFETCH(int, ranks);
    QFETCH(bool, ranges);
    const Attention call(3000, ranks, ranges, at::ScalarType(type));
    const auto forward = [&] {
      composite::attention(call.q, call.k, call.v, call.first, call.last, call.starts, 1.0);
    };
    const auto backward = [&] {
      composite::attention_backward(call.dout, call.q, call.k, call.v, call.q, call.lse, call.first,
                                    call.last, call.starts, 1.0);
    };
    const int64_t result = aligned(bytes_of(call.q)) + aligned(bytes_of(call.lse)),
                  gradients = aligned(bytes_of(call.q)) + 2 * aligned(bytes_of(call.k));
    QCOMPARE(outside_of(result + composite_scratch(call.sizes, 1), forward), 0);
    QCOMPARE(outside_of(gradients + composite_scratch(call.sizes, 2), backward), 0);
  }

  // 8B's heads at 131,072 tokens on eight ranks: of a kv head and its four query heads.
  void a_head_group_takes_64_mib_at_131072_tokens_data() {
    QTest::addColumn<QString>("mode");
    QTest::addColumn<QString>("type");
    QTest::addColumn<bool>("gpu");
    QTest::addColumn<bool>("documents");
    for (const char* mode : {"allgather", "ring", "ulysses"})
      for (const bool documents : {false, true}) {
        const auto row = [&](const char* where) -> QTestData& {
          return QTest::addRow("%s, %s%s", mode, where, documents ? ", documents" : "");
        };
        row("GPU, bf16") << mode << "bf16" << true << documents;
        row("GPU, fp32") << mode << "fp32" << true << documents;
        row("CPU, fp32") << mode << "fp32" << false << documents;
      }
  }
  void a_head_group_takes_64_mib_at_131072_tokens() {
    QFETCH(QString, mode);
    QFETCH(QString, type);
    QFETCH(bool, gpu);
    QFETCH(bool, documents);
    const std::vector<std::string> sets = {
        "model.n_layers=1",
        "model.vocab_size=1024",
        "model.max_seq_len=131072",
        "data.seq_len=131072",
        "training.local_batch=1",
        "parallelism.cp=8",
        "parallelism.dp_shard=1",
        "recompute.mode=\"none\"",
        "data.document_mask=" + std::string(documents ? "true" : "false"),
        QString("parallelism.cp_mode=\"%1\"").arg(mode).toStdString(),
        QString("precision.param=\"%1\"").arg(type).toStdString()};
    const recipe::Parsed parsed = recipe::resolve(
        recipe::parse_file(HEDDLE_SOURCE_DIR "/resources/recipes/llama3-8b-8xh100.toml", sets));
    for (const recipe::Fault& fault : parsed.faults) qWarning("%s", fault.str().c_str());
    QVERIFY(parsed.ok());
    auto captured = step::capture_step(parsed.recipe);
    if (!captured) qFatal("%s", captured.error().message.c_str());
    auto options =
        predict::plan_options(parsed.recipe, recipe::Layout(parsed.recipe), 0, captured->graph);
    options.scratch_bytes = [&](const graph::Graph& graph, const graph::Node& node) {
      return node.op->scratch ? node.op->scratch(graph, node, {.gpu = gpu, .threads = 2})
                              : int64_t{0};
    };
    const passes::Plan plan = passes::plan(std::move(captured->graph), options);
    int64_t most[2] = {0, 0};
    for (size_t i = 0; i < plan.graph.nodes.size(); ++i) {
      const graph::Node& node = plan.graph.nodes[i];
      const bool back = node.op == "heddle.attention_backward";
      if (!back && !(node.op == "heddle.attention")) continue;
      const int64_t groups = graph::argument(plan.graph, node, back ? 2 : 1).sizes[2];
      most[back] = std::max(most[back], plan.memory.scratch_bytes[i] / groups);
    }
    qInfo("forward %.1f MiB, backward %.1f MiB a head group", double(most[0]) / kMiB,
          double(most[1]) / kMiB);
    QVERIFY(most[0] > 0 && most[1] > 0);
    QVERIFY(most[0] <= 64 * kMiB && most[1] <= 64 * kMiB);
  }
};

HEDDLE_TEST(AttentionMemoryTest)
#include "attention_memory_test.moc"
