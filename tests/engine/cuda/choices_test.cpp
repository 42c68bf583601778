// The plug-in's choices on the host, and the code that its kernels share with the host.
#include <QTest>
#include <vector>

#include "engine/cuda/attention_choice.h"
#include "engine/kernels/documents.h"
#include "engine/kernels/list_blocks.h"
#include "tests/support/test_class.h"

using namespace heddle;

class ChoicesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void attention_takes_the_best_kernel_that_can_data() {
    QTest::addColumn<bool>("bf16");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<int>("major");
    QTest::addColumn<int>("queries");
    // Besides q, k and v: first and last keys, their starts; that sums must be in one order.
    QTest::addColumn<QString>("given");
    QTest::addColumn<int>("kernel");
    using cuda::AttentionKernel;
    const auto row = [](const char* name) -> QTestData& { return QTest::newRow(name); };
    row("Hopper") << true << 128 << 9 << 8192 << "" << int(AttentionKernel::cudnn);
    row("Blackwell") << true << 64 << 10 << 512 << "" << int(AttentionKernel::cudnn);
    row("wide heads") << true << 256 << 9 << 512 << "" << int(AttentionKernel::flash);
    row("Ampere") << true << 128 << 8 << 512 << "" << int(AttentionKernel::flash);
    row("Turing") << true << 128 << 7 << 512 << "" << int(AttentionKernel::composite);
    row("fp32") << false << 128 << 9 << 512 << "" << int(AttentionKernel::composite);
    row("odd heads") << true << 20 << 9 << 512 << "" << int(AttentionKernel::composite);
    row("documents") << true << 128 << 9 << 512 << "keys" << int(AttentionKernel::flash_documents);
    row("documents in fp32") << false << 128 << 9 << 512 << "keys"
                             << int(AttentionKernel::composite);
    row("parts of a sequence") << true << 128 << 9 << 512 << "keys, starts"
                               << int(AttentionKernel::pieces);
    row("parts of a sequence in fp32")
        << false << 128 << 9 << 512 << "keys, starts" << int(AttentionKernel::composite);
    row("queries not in whole parts")
        << true << 128 << 9 << 300 << "keys, starts" << int(AttentionKernel::composite);
    row("16,384 tokens") << true << 128 << 9 << 16384 << "" << int(AttentionKernel::cudnn);
    row("more") << true << 128 << 9 << 16385 << "" << int(AttentionKernel::pieces);
    row("more, documents") << true << 128 << 9 << 16385 << "keys" << int(AttentionKernel::pieces);
    row("more on Turing") << true << 128 << 7 << 16385 << "" << int(AttentionKernel::composite);
    row("more keys than queries") << true << 128 << 9 << 300 << "keys"
                                  << int(AttentionKernel::composite);
    row("one token") << true << 128 << 9 << 1 << "" << int(AttentionKernel::composite);
    row("Hopper, in order") << true << 128 << 9 << 8192 << "in order"
                            << int(AttentionKernel::flash);
    row("documents, in order") << true << 128 << 9 << 512 << "keys, in order"
                               << int(AttentionKernel::flash_documents);
  }
  void attention_takes_the_best_kernel_that_can() {
    QFETCH(bool, bf16);
    QFETCH(int, head_dim);
    QFETCH(int, major);
    QFETCH(int, queries);
    QFETCH(QString, given);
    QFETCH(int, kernel);
    const int keys = queries == 300 ? 512 : queries;
    QCOMPARE(int(cuda::attention_kernel({.type = bf16 ? c10::kBFloat16 : c10::kFloat,
                                         .queries = queries,
                                         .keys = keys,
                                         .head_dim = head_dim,
                                         .ranges = given.contains("keys"),
                                         .pieces = given.contains("starts") ? 4 : 0,
                                         .major = major,
                                         .in_order = given.contains("in order")})),
             kernel);
  }

  // The shapes that the plug-in expects of LibTorch's kernels; another is an error there.
  void the_shape_of_a_logsumexp_is_told() {
    QVERIFY(cuda::is_logsumexp({2, 32, 512}, 2, 32, 512));     // flash attention
    QVERIFY(cuda::is_logsumexp({2, 32, 512, 1}, 2, 32, 512));  // cuDNN's
    QVERIFY(!cuda::is_logsumexp({2, 512, 32}, 2, 32, 512));
    QVERIFY(!cuda::is_logsumexp({2, 32, 512, 2}, 2, 32, 512));
    QVERIFY(!cuda::is_logsumexp({2, 32, 640}, 2, 32, 512));  // rounded up to a block
    QVERIFY(cuda::is_joined_logsumexp({32, 1024}, 32, 1024));
    QVERIFY(!cuda::is_joined_logsumexp({2, 32, 512}, 32, 1024));
  }

  // The question that find_documents asks for each token.
  void documents_are_told_from_other_keys() {
    const auto of = [](const std::vector<int64_t>& first, const std::vector<int64_t>& last) {
      const kernels::cuda::SeenKeys keys{first.data(), last.data()};
      QString text;
      for (size_t token = 0; token < first.size(); ++token) {
        const auto at = static_cast<int64_t>(token);
        text += !keys.sees_its_document(at) ? 'x' : keys.begins(at) ? 'b' : '.';
      }
      return text;
    };
    QCOMPARE(of({0, 0, 0, 3, 4, 4}, {0, 1, 2, 3, 4, 5}), "b..bb.");
    QCOMPARE(of({0, 0, 0, 0}, {0, 1, 2, 3}), "b...");  // causal
    QCOMPARE(of({0, 0, 0, 0}, {0, 1, 3, 3}), "b.x.");  // one sees ahead
    QCOMPARE(of({1, 1, 0, 3}, {0, 1, 2, 3}), "xbxb");  // one sees none, one too much
    QCOMPARE(of({0, 0, 1, 2}, {0, 1, 2, 3}), "b.xx");  // a window
  }

  // Every element of every tensor belongs to one block, and to one only.
  void blocks_of_a_list_cover_it_once() {
    const std::vector<int64_t> sizes = {5, 0, 16, 17, 1, 0, 48, 33, 0};
    kernels::cuda::ListBlocks list{.chunk = 16};
    for (int64_t size : sizes) list.add(size);
    std::vector<std::vector<int>> touched;
    for (int64_t size : sizes) touched.emplace_back(static_cast<size_t>(size), 0);
    for (int block = 0; block < list.blocks(); ++block) {
      const int tensor = list.tensor_of(block);
      QVERIFY(list.begin(block, tensor) < list.end(block, tensor));
      for (int64_t i = list.begin(block, tensor); i < list.end(block, tensor); ++i)
        ++touched[tensor][static_cast<size_t>(i)];
    }
    for (const auto& tensor : touched)
      for (int count : tensor) QCOMPARE(count, 1);
    QCOMPARE(list.count, int(sizes.size()));
  }
};

HEDDLE_TEST(ChoicesTest)
#include "choices_test.moc"
