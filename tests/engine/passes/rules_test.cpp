// The rules of single passes, a case each in rules/PASS.RULE.case: what the rule says, the pass and
// its options, a graph, and after it the graph that the pass makes of it.
#include <QDir>
#include <QFile>
#include <QTest>
#include <map>

#include "../graph/toy.h"
#include "engine/graph/text.h"
#include "engine/passes/pipeline.h"
#include "engine/passes/verify.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const QString kRules = QString(HEDDLE_SOURCE_DIR) + "/tests/engine/passes/rules/";
constexpr const char* kBegins = "heddle graph 1\n";

struct Case {
  std::string pass, fails;
  passes::PlanOptions plan;
  passes::StageOptions stages;  // of the plan, once there are ranks
  std::map<std::string, int64_t, std::less<>> stage_of;
};

Case options_of(const QString& text) {
  Case options;
  for (const QString& line : text.split('\n', Qt::SkipEmptyParts)) {
    QStringList words = line.split(' ');
    const QString key = words.takeFirst();
    if (key == "pass") options.pass = words[0].toStdString();
    if (key == "gathers") options.plan.overlap.gathers_in_flight = words[0].toInt();
    if (key == "scatters") options.plan.overlap.scatters_in_flight = words[0].toInt();
    if (key == "again")
      options.plan.recompute.gathers_again = options.stages.gathers_again = words[0].toStdString();
    if (key == "across") options.plan.overlap.across_phases = true;
    if (key == "fails") options.fails = words.join(' ').toStdString();
    if (key == "stage") options.stage_of[words[0].toStdString()] = words[1].toInt();
    if (key == "ranks") {
      options.stages.pipeline.ranks = options.stages.pipeline.stages = words[0].toInt();
      options.stages.rank = words[2].toInt();
    }
    if (key == "bucket") {
      std::vector<std::string> modules;
      for (const QString& module : words) modules.push_back(module.toStdString());
      options.plan.buckets.push_back({passes::bucket_name(modules), modules});
    }
  }
  options.stages.stage_of = [stages = options.stage_of](std::string_view module) -> int64_t {
    const auto found = stages.find(module);
    return found == stages.end() ? -1 : found->second;
  };
  if (!options.stage_of.empty()) options.plan.stages = options.stages;
  return options;
}

graph::Graph made_by(const std::string& name, graph::Graph graph,
                     const passes::PlanOptions& options) {
  for (const passes::Pass& pass : passes::all_passes())
    if (pass.name == name) {
      passes::Plan plan{.graph = std::move(graph), .buckets = options.buckets};
      pass.run(plan, options);
      return std::move(plan.graph);
    }
  throw std::runtime_error("no pass " + name);
}

}  // namespace

class RulesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Text names collectives, but only calls make the linker take their file in.
  void initTestCase() { capture_toy(); }

  void the_rule_holds_data() {
    QTest::addColumn<QString>("path");
    for (const QString& name : QDir(kRules).entryList({"*.case"}))
      QTest::newRow(qPrintable(name)) << kRules + name;
  }
  void the_rule_holds() {
    QFETCH(QString, path);
    QFile file(path);
    QVERIFY(file.open(QFile::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    const qsizetype begin = text.indexOf(kBegins), next = text.indexOf(kBegins, begin + 1);
    const Case options = options_of(text.left(begin));
    auto graph = graph::parse_text(text.mid(begin, next - begin).toStdString(), "case");
    QVERIFY2(graph, graph ? "" : graph.error().message.c_str());
    const auto sound = [](const graph::Graph& graph) { return passes::verify(graph); };
    if (const auto kept = sound(*graph); !kept) QFAIL(kept.error().message.c_str());
    try {
      *graph = made_by(options.pass, std::move(*graph), options.plan);
    } catch (const c10::Error& error) {
      QCOMPARE(error.what_without_backtrace(), options.fails);
      return;
    }
    QVERIFY(options.fails.empty());
    if (const auto kept = sound(*graph); !kept) QFAIL(kept.error().message.c_str());
    const std::string made = graph::to_text(*graph);
    const std::string expected = next < 0 ? "" : text.mid(next).toStdString();
    if (made != expected) fprintf(stderr, "%s", made.c_str());
    QVERIFY2(made == expected, "the pass now gives what is printed above");
  }
};

HEDDLE_TEST(RulesTest)
#include "rules_test.moc"
