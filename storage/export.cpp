#include "storage/export.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "base/new_file.h"
#include "storage/chrome_trace.h"

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

/// Quoted where the format (RFC 4180) asks for it.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

/// Writes next to the file, then renames: an export that fails leaves the old file.
Result<> write_whole(const fs::path& path, const std::function<Result<>(std::ostream&)>& write) {
  constexpr mode_t kForOthersToo = 0666;  // less the umask: it is made to be handed on
  Result<NewFile> made = NewFile::create(path, kForOthersToo);
  if (!made) return fail(made);
  std::ofstream file(made->part(), std::ios::binary);
  Result<> written = write(file);
  file.close();
  if (written && !file) {
    written = fail("{}: cannot write: check the disk's space and the folder's permissions",
                   path.string());
  }
  return written ? made->take_place() : written;
}

Result<> write_metrics(Reader& reader, const RunDetail& run, std::ostream& out) {
  out << "step,rank,time";
  for (const std::string& name : run.series) out << ',' << field(name);
  out << '\n';
  for (int64_t after = 0;;) {
    const Result<std::vector<StepRow>> rows = reader.steps_after(run.summary.id, after, 10'000);
    if (!rows) return fail(rows);
    if (rows->empty()) return {};
    for (const StepRow& row : *rows) {
      out << row.step.step << ',' << row.rank << ',' << fmt::format("{:.6f}", row.step.time);
      for (const std::string& name : run.series) {
        const auto value = row.step.values.find(name);
        out << ',' << (value == row.step.values.end() ? "" : number(value->second));
      }
      out << '\n';
    }
    after = rows->back().id;
  }
}

Result<> write_trace(Reader& reader, const RunDetail& run, std::ostream& out) {
  const Result<std::vector<int64_t>> steps = reader.profiled_steps(run.summary.id);
  if (!steps) return fail(steps);
  ChromeTrace trace(out);
  for (const int32_t rank : run.ranks) trace.add_process(rank, fmt::format("rank {}", rank));
  std::optional<double> origin;
  for (const int64_t step : *steps) {
    const Result<std::vector<RankSpans>> timelines = reader.spans(run.summary.id, step);
    if (!timelines) return fail(timelines);
    for (const RankSpans& timeline : *timelines) {
      if (!origin) origin = timeline.spans.time;
      for (const telemetry::Span& span : timeline.spans.spans)
        trace.add(timeline.rank, span, step, (timeline.spans.time - *origin) * 1e6);
      trace.add_memory(timeline.rank, timeline.spans.memory, (timeline.spans.time - *origin) * 1e6);
    }
  }
  trace.end();
  return {};
}

}  // namespace

Result<> export_run(Reader& reader, RunId id, const std::string& folder) {
  const Result<RunDetail> run = reader.run(id);
  if (!run) return fail(run);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("{}: cannot make the folder: {}", folder, error.message());
  const fs::path into = folder;
  Result<> written = write_whole(
      into / "metrics.csv", [&](std::ostream& out) { return write_metrics(reader, *run, out); });
  if (!written) return written;
  written = write_whole(into / "trace.json",
                        [&](std::ostream& out) { return write_trace(reader, *run, out); });
  if (!written) return written;
  return write_whole(into / "recipe.toml", [&](std::ostream& out) -> Result<> {
    if (const auto& lineage = run->summary.lineage)
      out << fmt::format("# {}\n", words_of(*lineage));
    out << run->recipe;
    return {};
  });
}

}  // namespace heddle::storage
