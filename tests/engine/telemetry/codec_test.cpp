// Every record comes back from its frame as it went in.
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/telemetry/frame.h"
#include "tests/engine/telemetry/sample_log.h"
#include "tests/support/test_class.h"

using namespace heddle::telemetry;

class CodecTest : public QObject {
  Q_OBJECT

  template <typename T>
  static T there_and_back(const Record& record) {
    const Parsed parsed = parse(heddle::telemetry::encode(record, 7).value());
    if (parsed.frames.size() != 1 || parsed.frames[0].seq != 7) qFatal("not one frame");
    return std::get<T>(parsed.frames[0].record().value());
  }

 private Q_SLOTS:
  void start() {
    const Start start = there_and_back<Start>(sample_records()[0]);
    QCOMPARE(start.time, 1e9);
    QCOMPARE(start.rank, 1);
    QCOMPARE(start.world_size, 2);
    QCOMPARE(start.mode, std::string("planned"));
    QCOMPARE(start.environment.at("torch"), std::string("2.11.0"));
    QCOMPARE(start.facts.at("nodes"), 8044.0);
  }

  void log() {
    const Log log = there_and_back<Log>(sample_records()[1]);
    QCOMPARE(log.level, Level::warning);
    QCOMPARE(log.text, std::string("slow disk: größer als erwartet"));
  }

  void step_keeps_what_is_not_finite() {
    const Step step = there_and_back<Step>(sample_records()[3]);
    QCOMPARE(step.step, int64_t{2});
    QVERIFY(std::isnan(step.values.at("loss")));
    QCOMPARE(step.values.at("grad_norm"), std::numeric_limits<double>::infinity());
    QCOMPARE(step.values.at("lr"), -std::numeric_limits<double>::infinity());
  }

  void a_step_is_the_cbor_of_its_json() {
    std::vector<double> numbers = {0,    -0.0,   1,      0.1,   1e-3,     -2.5,
                                   1e30, 1e-310, -1e300, NAN,   -NAN,     INFINITY,
                                   1e10, 65504,  3.5e38, -3e38, -INFINITY};
    Step step{.step = 0, .time = 0, .values = {}};
    for (const int64_t number : {0l, 23l, 24l, 255l, 256l, 65'535l, 65'536l, 4'294'967'296l, -1l,
                                 -25l, std::numeric_limits<int64_t>::min()}) {
      step.step = number;
      step.time = numbers[step.values.size() % numbers.size()];
      const nlohmann::json json{{"step", step.step}, {"time", step.time}, {"values", step.values}};
      std::string payload;
      nlohmann::json::to_cbor(json, payload);
      const std::string frame = encode(step, 1).value();
      QVERIFY2(frame.substr(kFrameHeaderBytes) == payload, qPrintable(QString::number(number)));
      for (const double each : numbers)
        step.values[std::string(step.values.size() * 3, 'n') + std::to_string(number)] = each;
    }
  }

  void spans() {
    const Spans spans = there_and_back<Spans>(sample_records()[4]);
    QCOMPARE(spans.spans.size(), size_t{3});
    QCOMPARE(spans.spans[1].name, std::string("all_gather"));
    QCOMPARE(spans.spans[1].module, std::string("layers.4"));
    QCOMPARE(spans.spans[1].start_us, int64_t{12});
    QCOMPARE(spans.spans[1].duration_us, int64_t{900});
    QCOMPARE(int(spans.spans[1].stream), 1);
    QCOMPARE(int(spans.spans[2].phase), 2);
    QCOMPARE(spans.spans[2].name, std::string("mm"));
  }

  void plan() {
    const Plan plan = there_and_back<Plan>(Plan{1e9, "0a1b", R"({"ranks": 2})"});
    QCOMPARE(plan.time, 1e9);
    QCOMPARE(plan.hash, std::string("0a1b"));
    QCOMPARE(plan.document, std::string(R"({"ranks": 2})"));
  }

  void spans_name_their_nodes() {
    Spans spans{1, 0, {{"mm", "layers.0", 1, 2, 0, 0, 42}, {"mm", "layers.1", 3, 4, 0, 0}}};
    const Spans read = there_and_back<Spans>(spans);
    QCOMPARE(read.spans[0].node, 42);
    QCOMPARE(read.spans[1].node, -1);
  }

  void spans_have_the_memory_over_their_step() {
    Spans spans{1, 0, {{"mm", "layers.0", 1, 2, 0, 0, 42}}};
    QVERIFY(there_and_back<Spans>(spans).memory.empty());
    for (int64_t i = 0; i < static_cast<int64_t>(heddle::telemetry::kMaxMoments); ++i) {
      heddle::telemetry::MemoryMoment moment{7 * i, {}};
      moment.bytes[heddle::telemetry::Category::parameters] = int64_t{1} << 37;
      moment.bytes[heddle::telemetry::Category::activations] = 1000 * i;
      spans.memory.push_back(moment);
    }
    QVERIFY(there_and_back<Spans>(spans).memory == spans.memory);
    for (const int64_t time : {int64_t{-1}, int64_t{1} << 60}) {
      spans.memory.back().time_us = time;  // before the others; no time of a step
      const std::string frame = encode(spans, 1).value();
      QVERIFY(!heddle::telemetry::decode(Type::spans, frame.substr(kFrameHeaderBytes)));
    }
  }

  void end() {
    const End end = there_and_back<End>(sample_records()[5]);
    QCOMPARE(end.state, std::string("failed"));
    QCOMPARE(end.cause, std::string("rank 1: loss is not finite"));
    QCOMPARE(end.results.at("peak_bytes"), 3e9);
  }

  void bad_payloads_are_errors_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<QByteArray>("payload");
    QTest::newRow("empty") << 2 << QByteArray();
    QTest::newRow("not CBOR") << 2 << QByteArray("\xff\xff", 2);
    QTest::newRow("not a map") << 2 << QByteArray("\x01", 1);
    QTest::newRow("a step that is a word") << 2 << QByteArray("\xa1\x64step\x61x", 8);
    QTest::newRow("spans without columns") << 3 << QByteArray("\xa0", 1);
    QTest::newRow("unknown type") << 99 << QByteArray("\xa0", 1);
  }
  void bad_payloads_are_errors() {
    QFETCH(int, type);
    QFETCH(QByteArray, payload);
    const auto record = heddle::telemetry::decode(
        static_cast<Type>(type), {payload.data(), static_cast<size_t>(payload.size())});
    QVERIFY(!record);
    QVERIFY(!record.error().message.empty());
  }

  void too_large_is_refused() {
    QVERIFY(
        !heddle::telemetry::encode(Log{0, Level::info, std::string(kMaxPayloadBytes + 1, 'x')}, 0));
  }
};

HEDDLE_TEST(CodecTest)
#include "codec_test.moc"
