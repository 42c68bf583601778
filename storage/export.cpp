#include "storage/export.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/new_file.h"

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array kStreams = {"compute", "communication"};
constexpr std::array kPhases = {"forward", "backward", "optimizer"};

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

template <typename T, size_t N>
std::string name_in(const std::array<T, N>& names, size_t index) {
  return index < N ? std::string(names[index]) : std::to_string(index);
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

json named(const char* what, int32_t rank, size_t stream, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", stream}, {"args", {{"name", name}}}};
}

json complete_event(const RankSpans& timeline, const telemetry::Span& span, double origin) {
  return {
      {"ph", "X"},
      {"name", span.name},
      {"cat", name_in(kPhases, span.phase)},
      {"pid", timeline.rank},
      {"tid", span.stream},
      {"ts", std::round((timeline.spans.time - origin) * 1e6) + static_cast<double>(span.start_us)},
      {"dur", span.duration_us},
      {"args",
       {{"module", span.module},
        {"phase", name_in(kPhases, span.phase)},
        {"step", timeline.spans.step}}}};
}

Result<> write_trace(Reader& reader, const RunDetail& run, std::ostream& out) {
  const Result<std::vector<int64_t>> steps = reader.profiled_steps(run.summary.id);
  if (!steps) return fail(steps);
  const char* separator = "\n";
  const auto put = [&](const json& event) {
    out << std::exchange(separator, ",\n") << json_text(event);
  };
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (const int32_t rank : run.ranks) {
    put(named("process_name", rank, 0, fmt::format("rank {}", rank)));
    for (size_t stream = 0; stream < kStreams.size(); ++stream) {
      put(named("thread_name", rank, stream, kStreams[stream]));
    }
  }
  std::optional<double> origin;
  for (const int64_t step : *steps) {
    const Result<std::vector<RankSpans>> timelines = reader.spans(run.summary.id, step);
    if (!timelines) return fail(timelines);
    for (const RankSpans& timeline : *timelines) {
      if (!origin) origin = timeline.spans.time;
      for (const telemetry::Span& span : timeline.spans.spans) {
        put(complete_event(timeline, span, *origin));
      }
    }
  }
  out << "\n]}\n";
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
