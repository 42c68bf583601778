// Logs that are made to take a reader's memory: into the store and out of it, as a window does,
// each within 300 MiB and to its end. What follows them in the log is read.
#include <QtTest>
#include <nlohmann/json.hpp>

#include "engine/telemetry/frame.h"
#include "storage/run_metrics.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/peak_memory.h"
#include "tests/support/test_class.h"
#include "workbench/run_steps.h"

using namespace heddle;
using namespace heddle::storage;
using nlohmann::json;
using telemetry::Type;

namespace {

std::string repeated(std::string_view piece, size_t bytes) {
  std::string text;
  text.reserve(bytes);
  while (text.size() + piece.size() <= bytes) text += piece;
  return text;
}

std::string cbor(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

/// `count` items of CBOR in a list.
std::string list_of(std::string_view item, size_t count) {
  std::string bytes{'\x9a'};
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(count >> shift);
  return bytes + repeated(item, count * item.size());
}

/// A map with one member.
std::string map_of(std::string_view key, const std::string& value) {
  return std::string{'\xa1'} + cbor(json(key)) + value;
}

/// Spans that have no name of their own: one text is the module of all of them.
std::string nameless_spans() {
  constexpr size_t kSpans = 10'000;
  const std::vector<int> zeros(kSpans, 0), ones(kSpans, 1);
  return cbor({{"step", 1},
               {"time", 0.0},
               {"strings", {"", std::string(2'100'000, 'x')}},
               {"name", zeros},
               {"module", ones},
               {"start", zeros},
               {"duration", zeros},
               {"stream", zeros},
               {"phase", zeros}});
}

/// A plan whose document is a text of JSON.
std::string plan_of(const std::string& document) {
  return cbor({{"time", 0.0}, {"hash", "x"}, {"document", document}});
}

constexpr size_t kMax = telemetry::kMaxPayloadBytes;

}  // namespace

class HostileLogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_hostile_record_takes_little_and_the_next_one_is_read_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<QByteArray>("payload");
    const auto row = [](const char* name, Type type, const std::string& payload) {
      QTest::newRow(name) << int(type) << QByteArray::fromStdString(payload);
    };
    const std::string nested(1'000'000, '\x81');
    row("a million lists in each other, as a step", Type::step, nested);
    row("as a timeline", Type::spans, nested);
    row("as a plan", Type::plan, nested);
    row("a million texts in each other", Type::step, std::string(1'000'000, '\x7f'));
    row("spans without names that unfold to 21 GB", Type::spans, nameless_spans());
    row("63 MB of empty lists", Type::step, list_of("\x80", 63'000'000));
    row("empty lists, as many as a frame holds", Type::spans, list_of("\x80", kMax - 5));
    row("empty texts, as many as a timeline may have values", Type::spans,
        map_of("name", list_of("\x60", 8 * telemetry::kMaxSpans - 8)));
    row("a list of 4 billion that has none", Type::step, "\x9a\xff\xff\xff\xff");
    row("a text of 2^63 bytes", Type::log, "\x7b\x7f\xff\xff\xff\xff\xff\xff\xff");
    row("100,000 values in a step", Type::step, [] {
      json values = json::object();
      for (int i = 0; i < 100'000; ++i) values[std::to_string(i)] = i;
      return cbor({{"step", 1}, {"values", values}});
    }());
    row("a line of a megabyte", Type::log,
        cbor({{"text", std::string((size_t{1} << 20) - 100, 'x')}}));
    row("a plan of empty objects", Type::plan,
        plan_of("[" + repeated("{},", telemetry::kPlanDocument.bytes - 4) + "{}]"));
    row("a plan of lists in each other", Type::plan,
        plan_of(std::string(telemetry::kPlanDocument.bytes, '[')));
    row("a line of 16 MB", Type::log, cbor({{"text", std::string(kMax - 100, 'x')}}));
    row("times whose sum overflows", Type::spans,
        cbor({{"strings", {"mm"}},
              {"name", {0}},
              {"module", {0}},
              {"start", {INT64_MAX}},
              {"duration", {INT64_MAX}},
              {"stream", {0}},
              {"phase", {0}}}));
  }
  void a_hostile_record_takes_little_and_the_next_one_is_read() {
    QFETCH(int, type);
    QFETCH(QByteArray, payload);
    std::string log = telemetry::frame(static_cast<uint16_t>(type), 0, payload.toStdString()) +
                      must(telemetry::encode(step_record(7), 1));
    payload = {};
    const double taken = peak_mebibytes([&] {
      StoreFixture store;
      const RunId run = store.create();
      constexpr size_t kPiece = 1 << 20;  // as a host's log comes in
      for (size_t at = 0; at < log.size(); at += kPiece)
        must(store.writer->ingest(run, 0, 0, at, log.substr(at, kPiece)));
      must(store.writer->end_log(run, 0, 0));
      const auto steps = must(store.reader.samples(run, "loss", 0, {}));
      if (steps.size() != 1 || steps[0].step != 7) qFatal("the step after it is not there");
      (void)workbench::read_steps(store.reader, must(store.reader.run(run)), 0);
    });
    qInfo("%.0f MiB", taken);
    QVERIFY2(taken >= 0, "it did not finish");
    QVERIFY2(taken <= 300, qPrintable(QString::number(taken)));
  }

  // Each promises 16 MiB and has a sum of its own: made for each it would be 8 TB.
  void headers_without_end_come_to_an_end() {
    const std::string header =
        telemetry::frame(2, 0, std::string(kMax, 'x')).substr(0, telemetry::kFrameHeaderBytes);
    const std::string log = repeated(header, kMax) + std::string(kMax, 'y') +
                            must(telemetry::encode(step_record(7), 1));
    telemetry::LogReader reader;
    reader.feed(log);
    reader.finish();
    const auto gap = reader.next();
    QVERIFY(gap && std::get<telemetry::Gap>(*gap).bytes == 2 * kMax);
    const auto frame = reader.next();
    QVERIFY(frame && std::get<telemetry::Frame>(*frame).seq == 1);
    QVERIFY(!reader.next());
  }

  void metrics_that_are_not_drawn_are_told_once() {
    StoreFixture store;
    const auto feed = [](storage::Writer& writer, RunId run, int rank,
                         const std::vector<std::string>& names) {
      std::vector<telemetry::Record> steps;
      for (size_t i = 0; i < names.size(); ++i) {
        if (i % 1000 == 0) steps.emplace_back(telemetry::Step{int64_t(i) + 1, 1e9, {}});
        std::get<telemetry::Step>(steps.back()).values[names[i]] = 1;
      }
      must(writer.ingest(run, rank, 0, 0, log_of(steps)));
    };
    const auto told = [&](RunId run) {
      return std::ranges::count_if(
          must(store.reader.last_lines(run, 100)), [](const LogLine& line) {
            return line.text.find("not all of its metrics are drawn") != std::string::npos;
          });
    };
    std::vector<std::string> all;
    for (size_t i = 1; i < kMaxSeries; ++i) all.push_back(std::to_string(i));
    const RunId full = store.create("full"), wide = store.create("wide");
    feed(*store.writer, full, 0, all);
    QCOMPARE(told(full), 0);
    feed(*store.writer, wide, 0, {std::string(257, 'x')});
    QCOMPARE(told(wide), 1);
    store.writer.reset();
    for (const int rank : {1, 2}) {  // each after a restart
      const auto writer = must(Writer::open(store.path));
      must(writer->take_lease());
      feed(*writer, full, rank, {"one more", "7"});
      feed(*writer, wide, rank, {std::string(300, 'y'), "short"});
      QCOMPARE(told(full), 1);
      QCOMPARE(told(wide), 1);
    }
    QCOMPARE(must(store.reader.run(full)).series.size(), kMaxSeries - 1);
    QCOMPARE(must(store.reader.run(wide)).series.size(), size_t{1});
  }

  void metrics_without_end_are_not_drawn() {
    std::string log;
    for (int step = 1; step <= 300; ++step) {
      telemetry::Step record{step, 1e9, {{"loss", 1.0}}};
      for (int i = 0; i < 999; ++i) record.values[std::to_string(1000 * step + i)] = i;
      log += must(telemetry::encode(record, static_cast<uint64_t>(step - 1)));
    }
    const double taken = peak_mebibytes([&] {
      StoreFixture store;
      const RunId run = store.create();
      store.feed(run, log);
      must(store.writer->end_log(run, 0, 0));
      if (must(store.reader.run(run)).series.size() != kMaxSeries - 1)
        qFatal("other than 9,999 series");
      if (must(store.reader.samples(run, "loss", 0, {})).size() != 300) qFatal("steps are missing");
    });
    qInfo("%.0f MiB", taken);
    QVERIFY2(taken >= 0 && taken <= 300, qPrintable(QString::number(taken)));
  }
};

HEDDLE_TEST(HostileLogTest)
#include "hostile_log_test.moc"
