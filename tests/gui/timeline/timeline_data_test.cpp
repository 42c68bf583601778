// Classification, statistics, level of detail and the time axis, without a widget.
//
// A timeline is written as text, a stream a line, a character a microsecond: f, b and o are compute
// of forward, backward and optimizer, c is communication, w is waiting for the other ranks, a dot
// is idle; `|` begins the next span.
#include "gui/timeline/timeline_data.h"

#include <QTest>
#include <random>

#include "gui/timeline/time_axis.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;
using heddle::telemetry::Span;

namespace {

std::vector<Span> spansOf(const char* compute, const char* communication,
                          const char* waiting = "") {
  std::vector<Span> spans;
  const auto read = [&](const char* text, uint8_t stream) {
    int64_t time = 0;
    char previous = '.';
    for (const char* at = text; *at != 0; ++at) {
      if (*at == '|') {
        previous = '.';
        continue;
      }
      if (*at != '.' && *at == previous) {
        ++spans.back().duration_us;
      } else if (*at != '.') {
        const auto phase = static_cast<uint8_t>(*at == 'b' ? 1 : *at == 'o' ? 2 : 0);
        spans.push_back({std::string(1, *at), "layers.0", time, 1, stream, phase});
      }
      previous = *at;
      ++time;
    }
  };
  read(compute, 0);
  read(communication, 1);
  read(waiting, 2);
  return spans;
}

/// The lane's pieces as text: f b o for compute, h hidden, e exposed, w waiting.
QString textOf(const Lane& lane, int64_t length) {
  QString text(length, '.');
  for (const Piece& piece : lane.pieces()) {
    for (int64_t t = piece.time.begin; t < piece.time.end; ++t) {
      text[t] = QChar("fbohew"[static_cast<int>(piece.kind)]);
    }
  }
  return text;
}

Timeline randomTimeline(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Span> spans;
  for (uint8_t stream = 0; stream < 2; ++stream) {
    int64_t at = 0;
    for (int i = 0; i < count; ++i) {
      at += random() % 40;
      const int64_t duration = random() % 60;
      spans.push_back(
          {"op", "layers.1", at, duration, stream, static_cast<uint8_t>(i * 3 / count)});
      at += duration;
    }
  }
  std::shuffle(spans.begin(), spans.end(), random);
  return Timeline(std::move(spans));
}

}  // namespace

class TimelineDataTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // A rank that waits for a slower one does not idle: what it waits for is communication.
  void waiting_for_other_ranks_is_exposed_and_not_idle() {
    const Timeline timeline(spansOf("fff.......bb..",  //
                                    "..c.....cc....",  //
                                    "...wwwww......"));
    QCOMPARE(textOf(timeline.lane(Stream::communication), 14), QString("..hwwwwwee...."));
    const Statistics spent = timeline.statistics();
    QCOMPARE(spent.waiting, int64_t(5));
    QCOMPARE(spent.exposed, int64_t(7));
    QCOMPARE(spent.idle, int64_t(0));
    QCOMPARE(spent.compute + spent.exposed + spent.idle, spent.range);
  }

  // Nor is it exposed when it waits for another pipeline stage, until what it waits for moves.
  void the_bubble_is_neither_exposed_nor_idle() {
    std::vector<Span> spans = spansOf("ff........bb..",  //
                                      "......cccc....",  //
                                      ".....w........");
    spans.push_back({"recv", "layers.1", 2, 6, heddle::telemetry::kBubble, 1});
    const Statistics spent = Timeline(std::move(spans)).statistics();
    QCOMPARE(spent.bubble, int64_t(4));
    QCOMPARE(spent.exposed, int64_t(4));
    QCOMPARE(spent.waiting, int64_t(0));
    QCOMPARE(spent.range, int64_t(12));
    QCOMPARE(spent.idle, int64_t(0));
    QCOMPARE(spent.compute + spent.exposed + spent.bubble + spent.idle, spent.range);
    QCOMPARE(spent.communication, spent.overlapped + spent.exposed + spent.bubble);
  }

  // The second collective waits for the first one, which every rank has reached.
  void waiting_for_the_collective_before_is_no_waiting_for_ranks() {
    const Timeline timeline(spansOf("ff......ff",  //
                                    "..cccc|cc.",  //
                                    "..wwww...."));
    QCOMPARE(timeline.statistics().waiting, int64_t(0));
    QCOMPARE(timeline.statistics().exposed, int64_t(6));
    QCOMPARE(textOf(timeline.lane(Stream::communication), 10), QString("..eeeeee.."));
  }

  void communication_is_split_where_compute_begins_and_ends() {
    const Timeline timeline(spansOf("..fff.bbbb..oo",  //
                                    "ccccccc..cccc."));
    QCOMPARE(textOf(timeline.lane(Stream::communication), 14), QString("eehhheh..heeh."));
    QCOMPARE(textOf(timeline.lane(Stream::compute), 14), QString("..fff.bbbb..oo"));
  }

  void statistics_add_up() {
    const Timeline timeline(spansOf("..fff.bbbb..oo",  //
                                    "ccccccc..cccc."));
    const Statistics all = timeline.statistics();
    QCOMPARE(all.range, 14);
    QCOMPARE(all.compute, 9);
    QCOMPARE(all.communication, 11);
    QCOMPARE(all.overlapped, 6);
    QCOMPARE(all.exposed, 5);
    QCOMPARE(all.idle, 0);
    const Statistics some = timeline.statistics({7, 13});
    QCOMPARE(some.compute, 4);
    QCOMPARE(some.communication, 4);
    QCOMPARE(some.overlapped, 2);
    QCOMPARE(some.exposed, 2);
    QCOMPARE(some.idle, 0);
    QCOMPARE(some.overlap(), 0.5);
  }

  void statistics_equal_a_count_of_every_microsecond() {
    const Timeline timeline = randomTimeline(300, 7);
    const auto busy = [](const Lane& lane, int64_t t) {
      return std::any_of(lane.spans().begin(), lane.spans().end(), [t](const Span& s) {
        return s.start_us <= t && t < s.start_us + s.duration_us;
      });
    };
    const Interval range{timeline.lengthUs() / 5, timeline.lengthUs() / 2};
    Statistics expected;
    expected.range = range.length();
    for (int64_t t = range.begin; t < range.end; ++t) {
      const bool compute = busy(timeline.lane(Stream::compute), t);
      const bool communication = busy(timeline.lane(Stream::communication), t);
      expected.compute += compute;
      expected.communication += communication;
      expected.overlapped += compute && communication;
      expected.exposed += communication && !compute;
      expected.idle += !communication && !compute;
    }
    const Statistics got = timeline.statistics(range);
    QCOMPARE(got.range, expected.range);
    QCOMPARE(got.compute, expected.compute);
    QCOMPARE(got.communication, expected.communication);
    QCOMPARE(got.overlapped, expected.overlapped);
    QCOMPARE(got.exposed, expected.exposed);
    QCOMPARE(got.idle, expected.idle);
  }

  void overlapping_communication_counts_once() {
    std::vector<Span> spans = spansOf("ff......", "..cccc..");
    spans.push_back({"reduce_scatter", "layers.1", 3, 5, 1, 1});
    const Timeline timeline(std::move(spans));
    QCOMPARE(timeline.statistics().communication, 6);
    QCOMPARE(timeline.statistics().exposed, 6);
  }

  void phases_follow_the_compute_lane() {
    const Timeline timeline(spansOf("ff|f.bb.ff.bb.oo", "..cc"));
    QCOMPARE(timeline.phases().size(), 5u);
    QCOMPARE(timeline.phases()[0].time, (Interval{0, 3}));
    QCOMPARE(timeline.phases()[1].phase, Kind::backward);
    QCOMPARE(timeline.phases()[4].time, (Interval{13, 15}));
  }

  void what_the_optimizer_does_meanwhile_interrupts_no_phase() {
    const Timeline timeline(spansOf("ffbb.obb.ooobboo", ""), 150);
    QCOMPARE(timeline.phases().size(), 5u);
    QCOMPARE(timeline.phases()[1].phase, Kind::backward);
    QCOMPARE(timeline.phases()[1].time, (Interval{2, 8}));
    QCOMPARE(timeline.phases()[2].time, (Interval{9, 12}));  // long enough to be seen
  }

  void an_empty_step_is_empty() {
    const Timeline timeline(std::vector<Span>{});
    QVERIFY(timeline.empty());
    QCOMPARE(timeline.statistics().range, 0);
    QVERIFY(timeline.lane(Stream::compute).marks({0, 100}, 1).empty());
  }

  void marks_follow_pixels_not_spans() {
    const Timeline timeline = randomTimeline(50'000, 3);
    const Lane& lane = timeline.lane(Stream::communication);
    const double pixels = 1000;
    const double fold = static_cast<double>(timeline.lengthUs()) / pixels;
    const auto marks = lane.marks({0, timeline.lengthUs()}, fold);
    QVERIFY2(marks.size() <= 2 * pixels + 2, qPrintable(QString::number(marks.size())));
    QVERIFY(lane.pieces().size() > 50'000);
    // Folding loses no time.
    double covered = 0;
    for (const Mark& mark : marks) {
      covered += mark.coverage * static_cast<double>(mark.time.length());
    }
    int64_t expected = 0;
    for (const int64_t time : lane.totals(0, lane.pieces().size())) expected += time;
    QVERIFY(qAbs(covered - static_cast<double>(expected)) < 1);
  }

  void a_close_look_shows_every_piece() {
    const Timeline timeline(spansOf("ff|bb|oo", ""));
    const auto marks = timeline.lane(Stream::compute).marks({1, 5}, 0.5);
    QCOMPARE(marks.size(), 3u);
    QCOMPARE(marks[1].kind, Kind::backward);
    QCOMPARE(marks[1].first, 1u);
    QCOMPARE(marks[1].count, 1u);
  }

  void a_wide_span_is_not_swallowed_by_a_fold() {
    std::vector<Span> spans{{"a", "", 0, 1, 0, 0}, {"b", "", 1, 1, 0, 0}, {"c", "", 2, 100, 0, 1}};
    const Timeline timeline(std::move(spans));
    const auto marks = timeline.lane(Stream::compute).marks({0, 102}, 10);
    QCOMPARE(marks.size(), 2u);
    QCOMPARE(marks[0].count, 2u);
    QCOMPARE(marks[1].first, 2u);
  }

  void neighbours_of_one_layer_share_a_group() {
    const Timeline timeline({{"embedding", "tok_embeddings", 0, 1, 0, 0},
                             {"mm", "layers.0.attention.wq", 1, 1, 0, 0},
                             {"mm", "layers.0.feed_forward.w1", 2, 1, 0, 0},
                             {"mm", "layers.10.attention.wq", 3, 1, 0, 0}});
    const Lane& lane = timeline.lane(Stream::compute);
    QCOMPARE(lane.group(0), 0u);
    QCOMPARE(lane.group(1), 1u);
    QCOMPARE(lane.group(2), 1u);
    QCOMPARE(lane.group(3), 2u);
    QCOMPARE(QString::fromStdString(std::string(layerOf("layers.10.attention"))),
             QString("layers.10"));
    QCOMPARE(QString::fromStdString(std::string(layerOf("norm"))), QString("norm"));
  }

  void the_span_under_a_time_is_found() {
    const Timeline timeline(spansOf("ff..bb", "..cc"));
    const Lane& lane = timeline.lane(Stream::compute);
    QCOMPARE(lane.spanAt(1), 0);
    QCOMPARE(lane.spanAt(2), -1);
    QCOMPARE(lane.spanAt(5), 1);
    QCOMPARE(lane.spanAt(6), -1);
  }

  void zooming_keeps_the_time_under_the_pointer() {
    TimeAxis axis{.lengthUs = 1000, .endUs = 1000, .left = 100, .width = 500};
    const double before = axis.toTime(350);
    axis.zoom(2, 350);
    QCOMPARE(axis.toTime(350), before);
    QCOMPARE(axis.endUs - axis.beginUs, 500);
    axis.zoom(1e9, 350);
    QCOMPARE(axis.endUs - axis.beginUs, TimeAxis::kShortest);
    axis.zoom(1e-9, 350);
    QVERIFY(axis.showsAll());
  }

  void panning_stops_at_the_ends() {
    TimeAxis axis{.lengthUs = 1000, .endUs = 1000, .left = 0, .width = 100};
    axis.show(200, 400);
    axis.pan(-5);
    QCOMPARE(axis.beginUs, 0);
    QCOMPARE(axis.endUs, 200);
    axis.pan(100);
    QCOMPARE(axis.beginUs, 800);
    QCOMPARE(axis.endUs, 1000);
  }

  void ticks_are_round_and_carry_units() {
    TimeAxis axis{.lengthUs = 1.25e6, .endUs = 1.25e6, .left = 0, .width = 1000};
    QStringList labels;
    for (const TimeTick& tick : timeTicks(axis, 150)) labels << QString::fromStdString(tick.label);
    QCOMPARE(labels.join(", "), QString("0, 200 ms, 400 ms, 600 ms, 800 ms, 1.0 s, 1.2 s"));
    axis.show(10.2, 14.4);
    labels.clear();
    for (const TimeTick& tick : timeTicks(axis, 200)) labels << QString::fromStdString(tick.label);
    QCOMPARE(labels.join(", "), QString("11 µs, 12 µs, 13 µs, 14 µs"));
  }

  void long_steps_have_ticks_in_units_that_fit_data() {
    QTest::addColumn<double>("from");  // seconds
    QTest::addColumn<double>("to");
    QTest::addColumn<QString>("labels");
    constexpr double kHour = 3600, kDay = 24 * kHour;
    QTest::newRow("below two minutes") << 0.0 << 110.0 << "0, 20 s, 40 s, 60 s, 80 s, 100 s";
    QTest::newRow("minutes") << 0.0 << 250.0 << "0, 1 min, 2 min, 3 min, 4 min";
    QTest::newRow("hours") << 0.0 << 5 * kHour << "0, 1 h, 2 h, 3 h, 4 h, 5 h";
    QTest::newRow("parts of an hour") << 0.0 << 2.2 * kHour << "0, 0.5 h, 1.0 h, 1.5 h, 2.0 h";
    QTest::newRow("days") << 0.0 << 139 * kDay << "0, 50 d, 100 d";
    QTest::newRow("minutes of days")
        << 10 * kDay << 10 * kDay + 300 << "240.00 h, 240.02 h, 240.04 h, 240.06 h, 240.08 h";
    QTest::newRow("a second of hours")
        << kHour << kHour + 1.1 << "3600.0 s, 3600.2 s, 3600.4 s, 3600.6 s, 3600.8 s, 3601.0 s";
  }

  void long_steps_have_ticks_in_units_that_fit() {
    QFETCH(double, from);
    QFETCH(double, to);
    TimeAxis axis{.lengthUs = to * 1e6, .endUs = to * 1e6, .left = 0, .width = 900};
    axis.show(from * 1e6, to * 1e6);
    QStringList labels;
    for (const TimeTick& tick : timeTicks(axis, 140)) labels << QString::fromStdString(tick.label);
    QTEST(labels.join(", "), "labels");
  }
};

HEDDLE_TEST(TimelineDataTest)
#include "timeline_data_test.moc"
