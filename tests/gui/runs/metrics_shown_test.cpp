// Every metric of the table is on the pages that its row names, over a store that took in real
// records; one that no table knows is there too.
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/value.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/compare_data.h"
#include "gui/views/compare/difference_model.h"
#include "gui/views/live/rank_card.h"
#include "gui/views/runs/run_drawer.h"
#include "storage/export.h"
#include "storage/queries.h"
#include "tests/gui/live/followed.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;
using telemetry::Metric;
using telemetry::Reporter;

namespace {

double valueOf(const Metric& metric) { return metric.unit == Unit::share ? 0.1234 : 1234; }

bool isResult(const Metric& metric) {
  return metric.reporter == Reporter::end || metric.reporter == Reporter::start ||
         metric.over_steps != telemetry::Average::none;
}

/// All values that a run can report, as its rank 0 logs them.
storage::RunId addRun(storage::Writer& writer, const std::string& name) {
  storage::NewRun wanted;
  wanted.name = name;
  const storage::RunId run = running(writer, wanted);
  telemetry::Start start{1e9, 0, 1, "planned", {}, {}};
  telemetry::Step step{1, 1e9 + 1, {{"of_another_engine", 1234}}};
  telemetry::End end{1e9 + 2, "done", "", {{"of_another_engine", 1234}}};
  for (const Metric& each : telemetry::metrics()) {
    const std::string metric(each.name);
    if (each.reporter == Reporter::start) start.facts[metric] = valueOf(each);
    if (each.reporter == Reporter::step) step.values[metric] = valueOf(each);
    if (isResult(each)) end.results[metric] = valueOf(each);
  }
  RankLog log(writer, run, 0);
  for (const telemetry::Record& record : {telemetry::Record(start), {step}, {end}}) log.add(record);
  log.feed();
  return run;
}

QString textOf(const Metric& metric) { return format::withUnit(metric.unit, valueOf(metric)); }

}  // namespace

class MetricsShownTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    Theme::install(Theme::Mode::light);
    shown_ = std::make_unique<Shown>(folder_);
    writer_ = shown_->follower();
    run_ = addRun(*writer_, "one");
    other_ = addRun(*writer_, "two");
  }
  void cleanupTestCase() {
    writer_.reset();
    shown_.reset();
  }

  void live() {
    shown_->page->showRun(run_);
    shown_->show();
    QStringList texts;
    for (const QLabel* label : shown_->page->findChild<RankCard*>()->findChildren<QLabel*>())
      texts << label->text();
    for (const Metric& each : telemetry::metrics()) {
      if (!each.live) continue;
      const qsizetype at = texts.indexOf(keyText(std::string(each.name)));
      QVERIFY2(at >= 0 && at + 1 < texts.size(), each.name.data());
      QCOMPARE(texts[at + 1], textOf(each));
    }
  }

  void runs() {
    RunDrawer drawer(*shown_->session);
    drawer.showRun(run_);
    const auto label = [&](const Metric& metric) {
      return drawer.findChild<ElidedLabel*>(QString::fromUtf8(metric.name));
    };
    QTRY_VERIFY(label(telemetry::metric("peak_bytes")));
    for (const Metric& each : telemetry::metrics()) {
      if (!each.drawer || !isResult(each)) continue;
      QVERIFY2(label(each), each.name.data());
      QCOMPARE(label(each)->fullText(), textOf(each));
    }
  }

  void compare() {
    auto reader = must(storage::Reader::open(shown_->path));
    const auto answer = must(CompareReader().read(reader, {.runs = {run_, other_}}));
    const CompareData& data = answer.data.value();
    DifferenceModel model;
    model.setComparison(data.comparison, {RunStroke{}, RunStroke{}});
    model.setAllKeys(true);
    QHash<QString, QString> values;
    QStringList order;
    for (int row = 0; row < model.rowCount(); ++row) {
      const QString key = model.headerData(row, Qt::Vertical, Qt::DisplayRole).toString();
      values[key] = model.index(row, 0).data().toString();
      order << key;
    }
    qsizetype before = -1;
    for (const Metric& each : telemetry::metrics()) {
      if (!isResult(each)) continue;
      const QString key = resultText(std::string(each.name));
      QCOMPARE(values.value(key), textOf(each));
      QVERIFY2(order.indexOf(key) > before, each.name.data());
      before = order.indexOf(key);
    }
    QCOMPARE(values.value(QStringLiteral("of another engine")), QString("1,234"));
    QVERIFY(order.indexOf(QStringLiteral("of another engine")) > before);
  }

  void exported() {
    auto reader = must(storage::Reader::open(shown_->path));
    const std::string folder = folder_.filePath("exported").toStdString();
    must(storage::export_run(reader, run_, folder));
    std::ifstream file(folder + "/metrics.csv");
    std::string header;
    std::getline(file, header);
    const QStringList columns = QString::fromStdString(header).split(',');
    for (const Metric& each : telemetry::metrics())
      if (each.reporter == Reporter::step)
        QVERIFY2(columns.contains(QString::fromUtf8(each.name)), each.name.data());
    QVERIFY(columns.contains(QStringLiteral("of_another_engine")));
  }

 private:
  QTemporaryDir folder_;
  std::unique_ptr<Shown> shown_;
  std::unique_ptr<storage::Writer> writer_;
  storage::RunId run_ = 0, other_ = 0;
};

HEDDLE_WIDGET_TEST(MetricsShownTest)
#include "metrics_shown_test.moc"
