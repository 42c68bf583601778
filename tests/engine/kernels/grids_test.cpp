// How many blocks the CUDA kernels are launched with: at 4,096 tokens of Llama 3 8B enough to fill
// an H100 twice.
#include <QTest>
#include <functional>

#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

constexpr int64_t kTokens = 4096, kDim = 4096, kGridHeads = 32, kHeadDim = 128, kFfn = 14336,
                  kVocabulary = 128256;
constexpr int64_t kMultiprocessors = 132;
constexpr auto kBf16 = cuda::Type::bf16;

// At a multiple of 32 bytes, as the arena's are; nothing is read.
alignas(32) float somewhere[8];

cuda::ListBlocks a_layers_weights() {
  cuda::ListBlocks blocks{.chunk = cuda::kListChunk};
  for (const int64_t rows : {kDim, kDim / 4, kDim / 4, kDim, kFfn, kFfn, kFfn})
    blocks.add(rows * kDim / 8);  // a shard of eight
  return blocks;
}

}  // namespace

class GridsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void kernels_over_all_elements_fill_the_gpu_twice_data() {
    QTest::addColumn<std::function<void()>>("work");
    QTest::addColumn<int>("lone");  // launches of one block, which sums what the others made
    const auto row = [](const char* name, const std::function<void()>& work, int lone = 0) {
      QTest::newRow(name) << work << lone;
    };
    float* const x = somewhere;
    const auto* const labels = reinterpret_cast<const int64_t*>(somewhere);
    auto* const fp64 = reinterpret_cast<double*>(somewhere);
    row("RMSNorm", [=] { cuda::rms_norm(kBf16, kBf16, x, x, x, x, kTokens, kDim, 1e-5, nullptr); });
    row("RMSNorm's backward", [=] {
      cuda::rms_norm_backward(kBf16, kBf16, x, x, x, x, x, x, x, kTokens, kDim, nullptr);
    });
    row("RoPE", [=] {
      cuda::rope(kBf16, x, x, labels, x, kTokens, kGridHeads, kHeadDim, kTokens, false, nullptr);
    });
    row("joined RoPE", [=] {
      cuda::joined_rope(kBf16, x, x, labels, x, x, x, kTokens, kGridHeads, kGridHeads / 4, kHeadDim,
                        kTokens, nullptr);
    });
    row("joined RoPE's backward", [=] {
      cuda::joined_rope_backward(kBf16, x, x, x, x, labels, x, kTokens, kGridHeads, kGridHeads / 4,
                                 kHeadDim, kTokens, nullptr);
    });
    row("attention's merge", [=] {
      cuda::merge_attention(kBf16, x, x, x, x, x, x, kTokens, kTokens, kGridHeads, kHeadDim,
                            nullptr);
    });
    row("SwiGLU", [=] { cuda::swiglu(kBf16, x, x, x, kTokens * kFfn, nullptr); });
    row("SwiGLU's backward",
        [=] { cuda::swiglu_backward(kBf16, x, x, x, x, x, kTokens * kFfn, nullptr); });
    row("joined SwiGLU", [=] { cuda::joined_swiglu(kBf16, x, x, kTokens, kFfn, nullptr); });
    row("joined SwiGLU's backward",
        [=] { cuda::joined_swiglu_backward(kBf16, x, x, x, kTokens, kFfn, nullptr); });
    row(
        "cross-entropy",
        [=] { cuda::cross_entropy(kBf16, x, labels, x, x, kTokens, kVocabulary, nullptr); }, 1);
    row("cross-entropy's backward", [=] {
      cuda::cross_entropy_backward(kBf16, x, x, labels, x, x, kTokens, kVocabulary, nullptr);
    });
    row("accumulation", [=] { cuda::accumulate(kBf16, x, x, kDim * kDim, nullptr); });
    row("casts", [=] { cuda::cast_list(cuda::Type::fp32, a_layers_weights(), {}, {}, nullptr); });
    row("AdamW", [=] {
      cuda::adamw(a_layers_weights(), {}, {fp64, labels, x, {0.9, 0.95, 1e-8, 0.1}}, nullptr);
    });
    row("SGD", [=] {
      cuda::sgd(a_layers_weights(), {}, {fp64, labels, x, {0.9, 0, 0.1}}, nullptr);
    });
    for (const bool by_row : {false, true})
      for (const bool transposed : {false, true}) {
        const QByteArray name =
            QByteArray("8 bits by ") + (by_row ? "row" : "tensor") + (transposed ? ", turned" : "");
        row(name, [=] {
          cuda::float8_quantize(cuda::Float8::e4m3, x, x, x, reinterpret_cast<unsigned*>(x),
                                kTokens, kDim, by_row, transposed, nullptr);
        });
      }
  }
  void kernels_over_all_elements_fill_the_gpu_twice() {
    QFETCH(std::function<void()>, work);
    QFETCH(int, lone);
    int single = 0;
    const std::vector<Launch> launches = launches_of(work);
    QVERIFY(!launches.empty());
    for (const Launch& launch : launches) {
      const int64_t blocks = static_cast<int64_t>(launch.grid.x) * launch.grid.y;
      if (blocks == 1) {
        ++single;
        continue;
      }
      QVERIFY2(blocks >= 2 * kMultiprocessors, qPrintable(QString("%1 blocks").arg(blocks)));
    }
    QCOMPARE(single, lone);
  }
};

HEDDLE_TEST(GridsTest)
#include "grids_test.moc"
