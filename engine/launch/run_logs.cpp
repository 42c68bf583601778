#include "engine/launch/run_logs.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <queue>

#include "base/plain_file.h"

namespace heddle::launch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = size_t{1} << 16;  // bytes read at a time

std::optional<int32_t> number_in(std::string_view text) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
  return number;
}

/// The bytes of a file from `offset` on, at most kPiece of them. The file is not kept open: a run
/// may have more ranks than a process may have files.
Result<std::string> piece_of(const std::string& path, uint64_t offset) {
  auto file = PlainFile::open_existing(path);
  if (!file) return fail(file);
  file->skip_to(offset);
  return file->read(kPiece);
}

double time_of(const telemetry::Record& record) {
  return std::visit([](const auto& one) { return one.time; }, record);
}

}  // namespace

std::optional<LogName> log_name(const std::string& file) {
  std::string_view name = file;
  if (!name.ends_with(".hlog")) return {};
  name.remove_suffix(5);
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view who = name.substr(0, dot);
  const auto epoch = number_in(name.substr(dot + 1));
  const auto rank = who == "supervisor"        ? telemetry::kSupervisorRank
                    : who.starts_with("rank-") ? number_in(who.substr(5))
                                               : std::nullopt;
  if (!epoch || !rank) return {};
  return LogName{*rank, *epoch};
}

std::string file_of(const LogName& log) {
  if (log.rank == telemetry::kSupervisorRank) return fmt::format("supervisor.{}.hlog", log.epoch);
  return fmt::format("rank-{}.{}.hlog", log.rank, log.epoch);
}

RunLogs::RunLogs(std::string run_dir, Wanted wanted)
    : run_dir_(std::move(run_dir)), wanted_(std::move(wanted)) {}

std::vector<LogName> RunLogs::logs() const {
  std::vector<LogName> names;
  for (const auto& [name, log] : logs_) names.push_back(name);
  return names;
}

Result<> RunLogs::find_logs() {
  std::error_code error;
  for (fs::directory_iterator entry(run_dir_, error), end; !error && entry != end;
       entry.increment(error))
    if (const auto name = log_name(entry->path().filename().string())) logs_.try_emplace(*name);
  if (error) return fail("{}: {}", run_dir_, error.message());
  return {};
}

Result<> RunLogs::advance(const LogName& name, Log& log) {
  log.front.reset();
  for (;;) {
    while (const auto event = log.reader.next()) {
      const auto* frame = std::get_if<telemetry::Frame>(&*event);
      if (!frame || !wanted_(name, frame->type)) continue;
      Result<telemetry::Record> record = frame->record();
      if (!record) continue;  // of a later version
      log.time = std::max(log.time, time_of(*record));
      log.front = LogEntry{name, log.time, std::move(*record)};
      return {};
    }
    const Result<std::string> bytes = piece_of(run_dir_ + "/" + file_of(name), log.reader.end());
    if (!bytes) return fail(bytes);
    if (bytes->empty()) return {};
    log.reader.feed(*bytes);
  }
}

Result<> RunLogs::read(const std::function<void(const LogEntry& entry)>& visit) {
  if (const Result<> found = find_logs(); !found) return found;
  using Next = std::pair<double, LogName>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto come = [&](const LogName& name, Log& log) -> Result<> {
    if (const Result<> advanced = advance(name, log); !advanced) return advanced;
    if (log.front) next.emplace(log.front->time, name);
    return {};
  };
  for (auto& [name, log] : logs_)
    if (const Result<> came = come(name, log); !came) return came;
  while (!next.empty()) {
    const LogName name = next.top().second;
    next.pop();
    Log& log = logs_.at(name);
    visit(*log.front);
    if (const Result<> came = come(name, log); !came) return came;
  }
  return {};
}

}  // namespace heddle::launch
