// The offers for a recipe that does not fit together.
#include "engine/recipe/offers.h"

#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle::recipe;

class OffersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void offered_data() {
    QTest::addColumn<QString>("lines");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("offered");
    const auto row = [](const char* name, const char* lines, const char* key, const char* offered) {
      QTest::newRow(name) << QString(lines) << QString(key) << QString(offered);
    };
    row("tp does not divide the ranks", "hardware.ranks = 8\nparallelism.tp = 3", "parallelism.tp",
        "parallelism.tp=4 parallelism.tp=2 parallelism.tp=8 parallelism.tp=1");
    row("tp does not divide the kv heads", "hardware.ranks = 16\nparallelism.tp = 16",
        "parallelism.tp", "parallelism.tp=8 parallelism.tp=4");
    row("degrees do not multiply to the ranks", "hardware.ranks = 8\nparallelism.dp_shard = 3",
        "parallelism.dp_shard", "parallelism.dp_shard=8");
    row("the pipeline does not divide the batch",
        "hardware.ranks = 8\nparallelism.pp = 8\ntraining.local_batch = 6", "training.local_batch",
        "training.local_batch=8");
    row("warm-up is longer than the run", "training.steps = 10\nschedule.warmup_steps = 15",
        "schedule.warmup_steps", "schedule.warmup_steps=10");
    row("the batch is no multiple",
        "hardware.ranks = 4\ntraining.local_batch = 2\ntraining.global_batch = 12",
        "training.global_batch", "training.global_batch=16 training.global_batch=8");
    row("8 bits of fp32", "precision.float8 = \"rowwise\"", "precision.float8",
        "precision.float8=\"none\" precision.param=\"bf16\"");
  }

  void offered() {
    QFETCH(QString, lines);
    QFETCH(QString, key);
    const Parsed parsed =
        parse("model.preset = \"llama3-8b\"\ndata.token_ids = \"a\"\n" + lines.toStdString(), "r");
    const Parsed resolved = resolve(parsed);
    const auto fault = std::ranges::find(resolved.faults, key.toStdString(), &Fault::key);
    for (const Fault& each : resolved.faults) qInfo("%s", each.str().c_str());
    QVERIFY(fault != resolved.faults.end());
    QStringList words;
    for (const Offer& offer : offers(parsed, *fault)) {
      words << QString::fromStdString(offer.key + "=" + offer.value);
      // Each of them mends it.
      const Parsed mended = resolve(
          parse("model.preset = \"llama3-8b\"\ndata.token_ids = \"a\"\n" + lines.toStdString(), "r",
                {words.last().toStdString()}));
      for (const Fault& each : mended.faults) qInfo("%s", each.str().c_str());
      QVERIFY2(mended.faults.size() < resolved.faults.size(), qPrintable(words.last()));
    }
    QFETCH(QString, offered);
    QVERIFY2(words.join(' ').startsWith(offered), qPrintable(words.join(' ')));
    QVERIFY(words.size() <= 8);
  }

  void nothing_is_offered_for_what_is_missing() {
    const Parsed parsed = parse("", "r");
    for (const Fault& fault : resolve(parsed).faults) QVERIFY(offers(parsed, fault).empty());
  }
};

HEDDLE_TEST(OffersTest)
#include "offers_test.moc"
