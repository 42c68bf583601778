// A rank's log, and payloads of its frames without their checksums.
#include "engine/telemetry/frame.h"
#include "engine/telemetry/lines.h"
#include "engine/telemetry/log_reader.h"
#include "tests/fuzz/input.h"

using namespace heddle::telemetry;

namespace {

void show(const Record& record) {
  if (const auto* start = std::get_if<Start>(&record)) (void)start_text(*start);
  if (const auto* step = std::get_if<Step>(&record)) (void)step_text(*step, 100, 1.0);
  if (const auto* log = std::get_if<Log>(&record)) (void)log_text(*log);
  if (const auto* end = std::get_if<End>(&record)) (void)end_text(*end);
  if (const auto* spans = std::get_if<Spans>(&record))
    for (const Span& span : spans->spans)
      if (span.start_us + span.duration_us < span.start_us) std::abort();
  if (const auto written = encode(record, 1);
      written && !decode(type_of(record), written->substr(kFrameHeaderBytes)))
    std::abort();  // what is written is read
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input = heddle::fuzz::text(data, size);
  const uint8_t what = heddle::fuzz::choice(input);
  if (const auto record = decode(static_cast<Type>(what % 8), input)) show(*record);

  LogReader reader(what);
  reader.feed(what % 2 ? std::string(input) : frame(what % 8, 1, input));
  for (int end = 0; end < 2; ++end) {
    while (const auto event = reader.next())
      if (const auto* whole = std::get_if<Frame>(&*event))
        if (const auto record = whole->record()) show(*record);
    reader.finish();
  }
  return 0;
}
