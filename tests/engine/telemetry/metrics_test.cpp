// The table of metrics: each is there once, and one that nobody knows has a neutral place.
#include "engine/telemetry/metrics.h"

#include <QtTest>
#include <cmath>
#include <set>

#include "engine/plan/memory_bytes.h"
#include "engine/telemetry/step_averages.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::telemetry;

class MetricsTest : public QObject {
  Q_OBJECT

  static std::string text(std::string_view name, double value) {
    return telemetry::value_text(name, value);
  }

 private Q_SLOTS:
  void each_has_a_name_of_its_own_and_words_and_a_unit() {
    std::set<std::string_view> names;
    for (const Metric& each : metrics()) {
      const std::string name(each.name);
      QVERIFY2(names.insert(each.name).second, name.c_str());
      QVERIFY2(!each.words.empty() && each.unit != Unit::unknown, name.c_str());
      QVERIFY2(metric(each.name).name == each.name, name.c_str());
      for (const std::string_view line : {each.step_line, each.end_line})
        QVERIFY2(line.empty() || line.find("{}") != line.npos, name.c_str());
      if (each.reporter == Reporter::plan)
        QVERIFY2(each.name.starts_with(kPredicted), name.c_str());
    }
  }

  void predictions_have_their_metric_s_unit_and_no_direction() {
    for (const Metric& each : metrics()) {
      if (!each.name.starts_with(kPredicted)) continue;
      const Metric& predicted = metric(each.name.substr(kPredicted.size()));
      QVERIFY2(predicted.unit == each.unit, std::string(each.name).c_str());
      QVERIFY(each.better == Better::neither);
    }
  }

  void memory_has_a_metric_for_each_category() {
    for (const std::string category : plan::kCategoryNames)
      for (const std::string& name :
           {category + "_bytes", std::string(kPredicted) + category + "_bytes"})
        QVERIFY2(metric(name).unit == Unit::bytes, name.c_str());
  }

  void an_unknown_one_is_neutral() {
    const Metric& unknown = metric("bits_per_bytes");
    QVERIFY(unknown.name.empty());
    QVERIFY(unknown.unit == Unit::unknown && unknown.better == Better::neither);
    QCOMPARE(words_of("bits_per_bytes"), std::string("bits per bytes"));
    QCOMPARE(text("bits_per_bytes", 1.23456), std::string("1.235"));
    QCOMPARE(order_of("bits_per_bytes"), metrics().size());
    // Parts of names say nothing.
    QCOMPARE(text("some_seconds", 110), std::string("110"));
    QCOMPARE(text("some_bytes", 2048), std::string("2,048"));
  }

  void other_programs_names_are_known() {
    QCOMPARE(foreign_metric("train_loss").name, std::string_view("loss"));
    QCOMPARE(foreign_metric("Val_Loss").name, std::string_view("validation_loss"));
    QCOMPARE(foreign_metric("learning_rate").name, std::string_view("lr"));
    QCOMPARE(foreign_metric("step_seconds").name, std::string_view("step_seconds"));
    QVERIFY(foreign_metric("accuracy").name.empty());
  }

  void a_value_has_its_metric_s_unit() {
    QCOMPARE(text("step_seconds", 110), std::string("110 s"));
    QCOMPARE(text("peak_bytes", 247'305'792), std::string("236 MiB"));
    QCOMPARE(text("tokens_per_second_per_rank", 6667.2), std::string("6,667 tok/s"));
    QCOMPARE(text("last_loss", 4e-4), std::string("0.000400"));
    QCOMPARE(text("mfu", 0.41237), std::string("41.2 %"));
  }

  void ranks_become_one() {
    const auto folded = [](const char* name) {
      RankFold fold(metric(name));
      for (const auto& [rank, value] : {std::pair(2, 3.0), {1, 5.0}, {4, 1.0}})
        fold.add(rank, value);
      return fold.value();
    };
    QCOMPARE(folded("loss"), 5.0);               // the lowest rank's
    QCOMPARE(folded("tokens_per_second"), 3.0);  // the mean
    QCOMPARE(folded("resident_bytes"), 5.0);     // the most
    QVERIFY(std::isnan(RankFold(metric("loss")).value()));
  }

  void steps_become_one() {
    StepAverages steps;
    QVERIFY(!steps.average("step_seconds"));
    for (const double seconds : {9.0, 9.0, 9.0}) steps.add("step_seconds", seconds);
    QCOMPARE(steps.average("step_seconds"), 9.0);  // there is no more than the warm-up
    for (const double seconds : {2.0, 1.0, 3.0, 4.0}) steps.add("step_seconds", seconds);
    QCOMPARE(steps.average("step_seconds"), 3.0);
    QCOMPARE(steps.counted("step_seconds").size(), size_t{4});
    steps.add("exposed_seconds", 0.5);  // has no warm-up
    QCOMPARE(steps.average("exposed_seconds"), 0.5);
    steps.add("lr", 1e-3);
    steps.add("unknown", 1);
    QVERIFY(!steps.average("lr") && !steps.average("unknown"));
  }
};

HEDDLE_TEST(MetricsTest)
#include "metrics_test.moc"
