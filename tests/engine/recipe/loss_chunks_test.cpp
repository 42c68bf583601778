// In how many chunks logits and loss are made.
#include "engine/recipe/loss_chunks.h"

#include <QTest>

#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;

class LossChunksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void as_few_as_keep_their_logits_small_data() {
    QTest::addColumn<QString>("sets");
    QTest::addColumn<int>("chunks");
    const auto row = [](const char* name, const char* sets, int chunks) {
      QTest::newRow(name) << QString(sets) << chunks;
    };
    // 128,256 words of 2 bytes: 2,093 tokens in 512 MiB.
    row("2,048 tokens", "data.seq_len=2048", 1);
    row("4,096 tokens", "data.seq_len=4096", 2);
    row("8,192 tokens", "data.seq_len=8192", 4);
    row("two sequences", "data.seq_len=8192 training.local_batch=2", 8);
    row("of fp32", "data.seq_len=8192 precision.param=\"fp32\"", 8);
    row("a part of the sequence", "data.seq_len=8192 parallelism.cp=2", 2);
    row("a micro-batch of a pipeline",
        "data.seq_len=8192 training.local_batch=4 parallelism.pp=2 parallelism.microbatches=4", 4);
    row("five fit, six divide", "data.seq_len=9222", 6);
    row("no such part has enough tokens", "data.seq_len=9227", 1);  // a prime
    row("logits that are cut already", "data.seq_len=8192 parallelism.tp=2", 1);
    row("an output in 8 bits",
        "data.seq_len=8192 precision.float8=\"rowwise\" precision.float8_except=[]", 1);
    row("as the recipe says", "data.seq_len=8192 training.loss_chunks=16", 16);
    row("no vocabulary yet", "data.seq_len=8192 model.vocab_size=0", 1);
  }
  void as_few_as_keep_their_logits_small() {
    QFETCH(QString, sets);
    QFETCH(int, chunks);
    std::vector<std::string> all = {"model.preset=\"llama3-8b\"", "precision.param=\"bf16\"",
                                    "training.local_batch=1", "data.token_ids=\"a\""};
    for (const QString& set : sets.split(' ')) all.push_back(set.toStdString());
    const recipe::Parsed parsed = recipe::resolve(recipe::parse("", "test", all), 2);
    for (const recipe::Fault& fault : parsed.faults) qWarning("%s", fault.str().c_str());
    QVERIFY(parsed.ok());
    QCOMPARE(recipe::loss_chunks(parsed.recipe), int64_t{chunks});
  }
};

HEDDLE_TEST(LossChunksTest)
#include "loss_chunks_test.moc"
