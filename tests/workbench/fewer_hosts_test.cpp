// Layouts of a recipe on some of its hosts, and what does not divide.
#include "workbench/fewer_hosts.h"

#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::workbench;

class FewerHostsTest : public QObject {
  Q_OBJECT

 private:
  /// Two ranks a host.
  static recipe::Recipe resolved(int64_t hosts, int64_t replicate, int64_t shard, int64_t tp) {
    recipe::Recipe recipe;
    recipe.hardware.ranks = 2 * hosts;
    recipe.parallelism.dp_replicate = replicate;
    recipe.parallelism.dp_shard = shard;
    recipe.parallelism.tp = tp;
    return recipe;
  }

 private Q_SLOTS:
  void layouts_that_fit_data() {
    QTest::addColumn<int>("hosts");
    QTest::addColumn<int>("replicate");
    QTest::addColumn<int>("shard");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("global");
    QTest::addColumn<int>("local");
    QTest::addColumn<int>("left");
    QTest::addColumn<int>("taken");
    QTest::addColumn<QString>("layout");  // ranks, replicate, shard, global, local
    QTest::newRow("one of two") << 2 << 1 << 4 << 1 << 8 << 2 << 1 << 1 << "2 1 2 8 2";
    QTest::newRow("with tp") << 2 << 1 << 2 << 2 << 8 << 4 << 1 << 1 << "2 1 1 8 4";
    QTest::newRow("replicas stay") << 4 << 2 << 4 << 1 << 24 << 3 << 3 << 3 << "6 2 3 24 2";
    QTest::newRow("replicas go") << 2 << 4 << 1 << 1 << 8 << 2 << 1 << 1 << "2 2 1 8 2";
    QTest::newRow("not all that are left") << 4 << 1 << 8 << 1 << 16 << 2 << 3 << 2 << "4 1 4 16 2";
  }
  void layouts_that_fit() {
    QFETCH(int, hosts);
    QFETCH(int, replicate);
    QFETCH(int, shard);
    QFETCH(int, tp);
    QFETCH(int, global);
    QFETCH(int, local);
    QFETCH(int, left);
    QFETCH(int, taken);
    QFETCH(QString, layout);
    recipe::Recipe recipe = resolved(hosts, replicate, shard, tp);
    recipe.training.global_batch = global;
    recipe.training.local_batch = local;
    std::vector<size_t> those_left;
    for (int host = 1; host <= left; ++host) those_left.push_back(static_cast<size_t>(host));
    const FewerHosts fewer = must(fit_fewer_hosts(recipe, static_cast<size_t>(hosts), those_left));
    QCOMPARE(fewer.hosts.size(), static_cast<size_t>(taken));
    QCOMPARE(fewer.hosts.front(), size_t(1));
    const QStringList values = layout.split(' ');
    const char* keys[] = {"hardware.ranks", "parallelism.dp_replicate", "parallelism.dp_shard",
                          "training.global_batch", "training.local_batch"};
    QCOMPARE(fewer.sets.size(), size_t(5));
    for (size_t i = 0; i < 5; ++i)
      QCOMPARE(QString::fromStdString(fewer.sets[i]),
               QString("%1=%2").arg(keys[i]).arg(values[static_cast<qsizetype>(i)]));
  }

  void what_does_not_divide_is_told() {
    recipe::Recipe recipe = resolved(2, 1, 1, 4);
    recipe.training.global_batch = 4;
    const auto fewer = fit_fewer_hosts(recipe, 2, {0});
    QVERIFY(!fewer);
    QVERIFY2(fewer.error().message.find("tp × cp × pp is 4") != std::string::npos,
             fewer.error().message.c_str());
  }
};

HEDDLE_TEST(FewerHostsTest)
#include "fewer_hosts_test.moc"
