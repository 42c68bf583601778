// A log cut, flipped, or with garbage in it: the whole records before the damage are kept, the
// damage is reported, reading goes on.
#include <QtTest>
#include <random>

#include "engine/telemetry/frame.h"
#include "tests/engine/telemetry/sample_log.h"
#include "tests/support/test_class.h"

using namespace heddle::telemetry;

namespace {

std::vector<uint64_t> numbers(const Parsed& parsed) {
  std::vector<uint64_t> numbers;
  for (const Frame& frame : parsed.frames) numbers.push_back(frame.seq);
  return numbers;
}

std::vector<uint64_t> range(uint64_t from, uint64_t to) {
  std::vector<uint64_t> range;
  for (; from < to; ++from) range.push_back(from);
  return range;
}

}  // namespace

class DamageTest : public QObject {
  Q_OBJECT

  const std::vector<std::string> frames_ = sample_frames();
  const std::string log_ = joined(frames_);

  size_t frame_at(size_t offset) const {
    size_t index = 0;
    for (size_t end = frames_[0].size(); end <= offset; end += frames_[++index].size()) {
    }
    return index;
  }
  size_t start_of(size_t index) const {
    size_t start = 0;
    for (size_t i = 0; i < index; ++i) start += frames_[i].size();
    return start;
  }

 private Q_SLOTS:
  void byte_by_byte() {
    LogReader reader;
    Parsed parsed;
    for (const char byte : log_) {
      reader.feed({&byte, 1});
      take(reader, parsed);
    }
    QCOMPARE(numbers(parsed), range(0, frames_.size()));
    QVERIFY(parsed.gaps.empty());
    QCOMPARE(reader.consumed(), uint64_t{log_.size()});
  }

  void a_cut_tail_is_awaited_then_completed() {
    for (size_t cut = 0; cut < log_.size(); ++cut) {
      LogReader reader;
      Parsed parsed;
      reader.feed(std::string_view(log_).substr(0, cut));
      take(reader, parsed);
      const size_t whole = frame_at(cut);
      QCOMPARE(numbers(parsed), range(0, whole));
      QVERIFY(parsed.gaps.empty());
      QCOMPARE(reader.consumed(), uint64_t{start_of(whole)});
      QCOMPARE(reader.end(), uint64_t{cut});

      LogReader resumed(reader.consumed());
      resumed.feed(std::string_view(log_).substr(reader.consumed()));
      take(resumed, parsed);
      QCOMPARE(numbers(parsed), range(0, frames_.size()));
      QVERIFY(parsed.gaps.empty());
      QCOMPARE(parsed.frames.back().offset, uint64_t{start_of(frames_.size() - 1)});
    }
  }

  void a_cut_tail_of_an_ended_log_is_a_gap() {
    for (size_t cut = 0; cut <= log_.size(); ++cut) {
      const Parsed parsed = parse(std::string_view(log_).substr(0, cut));
      const size_t whole = cut == log_.size() ? frames_.size() : frame_at(cut);
      const size_t torn = cut - start_of(whole);
      QCOMPARE(numbers(parsed), range(0, whole));
      QCOMPARE(parsed.gaps.size(), size_t(torn > 0));
      if (torn == 0) continue;
      QCOMPARE(parsed.gaps[0].offset, uint64_t{start_of(whole)});
      QCOMPARE(parsed.gaps[0].bytes, uint64_t{torn});
    }
  }

  void a_flipped_byte_costs_one_record() {
    for (size_t at = 0; at < log_.size(); ++at) {
      for (const unsigned char flip : {0x01, 0x80, 0xff}) {
        std::string damaged = log_;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        const Parsed parsed = parse(damaged);
        const size_t hit = frame_at(at);
        std::vector<uint64_t> expected = range(0, frames_.size());
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(hit));
        QCOMPARE(numbers(parsed), expected);
        QCOMPARE(parsed.gaps.size(), size_t{1});
        QCOMPARE(parsed.gaps[0].offset, uint64_t{start_of(hit)});
        QCOMPARE(parsed.gaps[0].bytes, uint64_t{frames_[hit].size()});
        QVERIFY(!parsed.gaps[0].reason.empty());
      }
    }
  }

  void a_hole_costs_what_it_touches() {
    for (size_t at = 0; at < log_.size(); ++at) {
      for (const size_t length : {size_t{1}, size_t{5}, size_t{40}}) {
        const size_t end = std::min(at + length, log_.size());
        std::string damaged = log_;
        damaged.erase(at, end - at);
        const Parsed parsed = parse(damaged);
        const size_t first = frame_at(at);
        const size_t after = frame_at(end - 1) + 1;
        std::vector<uint64_t> expected = range(0, first);
        for (size_t i = after; i < frames_.size(); ++i) expected.push_back(i);
        QCOMPARE(numbers(parsed), expected);
        const size_t left = damaged.size() - (log_.size() - start_of(after)) - start_of(first);
        QCOMPARE(parsed.gaps.size(), size_t(left > 0));
        if (left > 0) QCOMPARE(parsed.gaps[0].bytes, uint64_t{left});
      }
    }
  }

  void garbage_between_records_is_one_gap() {
    std::mt19937 random(1);
    const std::string magic = frames_[0].substr(0, 4);
    for (size_t index = 0; index <= frames_.size(); ++index) {
      for (const size_t length : {1, 3, 4, 31, 32, 33, 5000}) {
        for (const bool with_magic : {false, true}) {
          std::string garbage(length, '\0');
          for (char& byte : garbage) byte = static_cast<char>(random());
          if (with_magic) garbage = garbage.substr(0, length / 2) + magic;
          const size_t at = index == frames_.size() ? log_.size() : start_of(index);
          std::string damaged = log_;
          damaged.insert(at, garbage);
          const Parsed parsed = parse(damaged);
          QCOMPARE(numbers(parsed), range(0, frames_.size()));
          QCOMPARE(parsed.gaps.size(), size_t{1});
          QCOMPARE(parsed.gaps[0].offset, uint64_t{at});
          QCOMPARE(parsed.gaps[0].bytes, uint64_t{garbage.size()});
        }
      }
    }
  }

  void from_any_offset() {
    for (size_t at = 0; at < log_.size(); ++at) {
      const Parsed parsed = parse(std::string_view(log_).substr(at), at);
      const bool on_a_record = start_of(frame_at(at)) == at;
      const size_t first = on_a_record ? frame_at(at) : frame_at(at) + 1;
      QCOMPARE(numbers(parsed), range(first, frames_.size()));
      QCOMPARE(parsed.gaps.size(), size_t(!on_a_record));
    }
  }

  void random_damage_never_invents_records() {
    std::mt19937 random(2);
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = log_;
      for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
        const size_t at = random() % damaged.size();
        switch (random() % 3) {
          case 0:
            damaged[at] = static_cast<char>(random());
            break;
          case 1:
            damaged.erase(at, random() % 60);
            break;
          default:
            damaged.insert(at, log_.substr(random() % log_.size(), random() % 60));
        }
        if (damaged.empty()) damaged.push_back('x');
      }
      LogReader reader;
      Parsed parsed;
      for (size_t at = 0; at < damaged.size();) {
        const size_t piece = 1 + random() % 200;
        reader.feed(std::string_view(damaged).substr(at, piece));
        at += piece;
        take(reader, parsed);
      }
      reader.finish();
      take(reader, parsed);
      uint64_t covered = 0;
      for (const Frame& frame : parsed.frames) {
        QVERIFY(frame.seq < frames_.size());
        QCOMPARE(frame.payload, frames_[frame.seq].substr(kFrameHeaderBytes));
        covered += frame.bytes;
      }
      for (const Gap& gap : parsed.gaps) covered += gap.bytes;
      QCOMPARE(covered, uint64_t{damaged.size()});
      QCOMPARE(reader.consumed(), uint64_t{damaged.size()});
    }
  }

  void a_newer_format_is_reported_and_passed_over() {
    const std::string payload = frames_[1].substr(kFrameHeaderBytes);
    const std::string log = frames_[0] + frame(4, 1, payload, kVersion + 1) + frames_[2];
    const Parsed parsed = parse(log);
    QCOMPARE(numbers(parsed), (std::vector<uint64_t>{0, 2}));
    QCOMPARE(parsed.gaps.size(), size_t{1});
    QVERIFY(parsed.gaps[0].reason.find("format version 2") != std::string::npos);
  }
};

HEDDLE_TEST(DamageTest)
#include "damage_test.moc"
