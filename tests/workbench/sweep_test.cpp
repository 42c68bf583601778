// Keys with several values become runs.
#include "workbench/sweep.h"

#include <QTest>
#include <set>

#include "storage/run_name.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::workbench;

class SweepTest : public QObject {
  Q_OBJECT

 private:
  static std::vector<SweepRun> runs_of(const std::vector<std::string>& sets,
                                       const std::string& how = "") {
    return must(expand(must(read_sweep(sets, how))));
  }
  static QStringList labels(const std::vector<SweepRun>& runs) {
    QStringList all;
    for (const SweepRun& run : runs) all << QString::fromStdString(run.label);
    return all;
  }
  static std::string refusal(const std::vector<std::string>& sets, const std::string& how = "") {
    const auto sweep = read_sweep(sets, how);
    if (!sweep) return sweep.error().message;
    const auto runs = expand(*sweep);
    return runs ? "" : runs.error().message;
  }

 private Q_SLOTS:
  void one_value_a_key_is_one_run() {
    const auto runs = runs_of({"lr=1e-4", "training.steps=5"});
    QCOMPARE(runs.size(), size_t(1));
    QCOMPARE(runs[0].label, std::string());
    QCOMPARE(runs[0].sets, (std::vector<std::string>{"optimizer.lr=1e-4", "training.steps=5"}));
  }

  void a_grid_has_a_run_for_each_combination() {
    const auto runs =
        runs_of({"optimizer.lr=1e-4, 3e-4", "training.steps=5", "weight_decay=0,0.1"});
    QCOMPARE(labels(runs), (QStringList{"lr=1e-4 weight_decay=0", "lr=1e-4 weight_decay=0.1",
                                        "lr=3e-4 weight_decay=0", "lr=3e-4 weight_decay=0.1"}));
    QCOMPARE(runs[2].sets, (std::vector<std::string>{"training.steps=5", "optimizer.lr=3e-4",
                                                     "optimizer.weight_decay=0"}));
  }

  void commas_within_brackets_and_quotes_divide_nothing() {
    QCOMPARE(runs_of({"optimizer.betas=[0.9, 0.95]"}).size(), size_t(1));
    const auto runs = runs_of({"optimizer.betas=[0.9, 0.95],[0.9,0.99]"});
    QCOMPARE(labels(runs), (QStringList{"betas=[0.9, 0.95]", "betas=[0.9,0.99]"}));
    QCOMPARE(runs_of({"validation.prompt=\"Once, long ago\""}).size(), size_t(1));
    QCOMPARE(runs_of({"validation.prompt='a, b','c'"}).size(), size_t(2));
  }

  void labels_are_valid_names_and_tell_the_runs_apart() {
    const auto runs =
        runs_of({"training.seed=1,2", "data.seed=3,4", "data.text=/corpora/a.txt,b.txt",
                 "wrapping.buckets=[[\"layers.0\",\"layers.1\",\"layers.2\"]],[]"});
    QCOMPARE(runs.size(), size_t(16));
    QCOMPARE(runs[0].label, std::string("training.seed=1 data.seed=3 text=a.txt buckets=#1"));
    std::set<std::string> different;
    for (const SweepRun& run : runs) {
      QVERIFY(storage::check_name(run.label));
      different.insert(run.label);
    }
    QCOMPARE(different.size(), size_t(16));
  }

  void random_picks_lie_in_their_ranges_and_come_again_with_their_seed() {
    const std::vector<std::string> sets = {"lr=log(1e-5..1e-3)", "optimizer.weight_decay=0..0.2",
                                           "model.n_layers=2..4", "training.seed=1,2"};
    const auto runs = runs_of(sets, "random:40:7");
    QCOMPARE(runs.size(), size_t(40));
    int below_a_ten_thousandth = 0;
    std::set<std::string> layers;
    for (const SweepRun& run : runs) {
      const double lr = std::stod(run.sets[0].substr(sizeof("optimizer.lr=") - 1));
      QVERIFY(lr >= 1e-5 && lr <= 1e-3);
      below_a_ten_thousandth += lr < 1e-4;
      const double decay = std::stod(run.sets[1].substr(sizeof("optimizer.weight_decay=") - 1));
      QVERIFY(decay >= 0 && decay <= 0.2);
      layers.insert(run.sets[2]);
    }
    QVERIFY(below_a_ten_thousandth > 8 && below_a_ten_thousandth < 32);  // half of a decade's two
    QCOMPARE(layers,
             (std::set<std::string>{"model.n_layers=2", "model.n_layers=3", "model.n_layers=4"}));
    QCOMPARE(labels(runs_of(sets, "random:40:7")), labels(runs));
    QVERIFY(labels(runs_of(sets, "random:40:8")) != labels(runs));
  }

  void all_values_can_be_picked_and_none_twice() {
    const auto runs = runs_of({"lr=1e-4,3e-4", "training.seed=1,2"}, "random:4");
    std::set<std::string> different;
    for (const SweepRun& run : runs) different.insert(run.label);
    QCOMPARE(different.size(), size_t(4));
  }

  void what_cannot_be_is_refused_data() {
    QTest::addColumn<QStringList>("sets");
    QTest::addColumn<QString>("how");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QStringList& sets, const char* how,
                        const char* says) { QTest::newRow(name) << sets << how << says; };
    row("two keys", {"seed=1,2"}, "", "several keys end so; valid: data.seed | training.seed");
    row("no key", {"lrr=1,2"}, "", "lrr: unknown key (did you mean optimizer.lr)");
    row("empty value", {"lr=1e-4,,3e-4"}, "", "value 2 of 3 is empty");
    row("twice a value", {"lr=1e-4,1e-4"}, "", "optimizer.lr: 1e-4 is given twice");
    row("a value spelled twice", {"lr=1e-4,3e-4,0.0001"}, "", "1e-4 and 0.0001 are the same value");
    row("twice a key", {"lr=1e-4", "optimizer.lr=2e-4,3e-4"}, "", "set twice");
    row("range in a grid", {"lr=1e-5..1e-3"}, "", "valid: --sweep random:N");
    row("no range", {"lr=log(1e-5)"}, "random:3", "log(1e-5) is no range");
    row("falling range", {"lr=1..0"}, "random:3", "to a larger one");
    row("logarithm of 0", {"lr=log(0..1)"}, "random:3", "begins above 0");
    row("no whole number", {"model.n_layers=2.2..2.8"}, "random:3", "no whole number");
    row("nothing differs", {"lr=1e-4"}, "random:3", "all runs would be the same");
    row("no way", {"lr=1,2"}, "bayes", "valid: grid, random:N or random:N:SEED");
    row("none", {"lr=1,2"}, "random:0", "valid: grid, random:N");
    row("more than there are", {"lr=1,2"}, "random:3", "the grid has only 2 runs");
    row("few whole numbers", {"model.n_layers=2..3"}, "random:3", "only 2 different picks");
  }
  void what_cannot_be_is_refused() {
    QFETCH(const QStringList, sets);
    QFETCH(const QString, how);
    QFETCH(const QString, says);
    std::vector<std::string> words;
    for (const QString& set : sets) words.push_back(set.toStdString());
    const auto said = QString::fromStdString(refusal(words, how.toStdString()));
    QVERIFY2(said.contains(says), qPrintable(said));
  }

  void a_grid_has_an_end() {
    std::string values = "1";
    for (int i = 2; i <= 40; ++i) values += "," + std::to_string(i);
    QVERIFY(refusal({"training.seed=" + values, "data.seed=" + values})
                .starts_with("the grid has more than 1000 runs"));
  }

  void an_unknown_key_is_left_to_the_recipe() {
    const auto runs = runs_of({"optimizer.lrr=1,2"});
    QCOMPARE(runs[1].sets, (std::vector<std::string>{"optimizer.lrr=2"}));
  }
};

HEDDLE_TEST(SweepTest)
#include "sweep_test.moc"
