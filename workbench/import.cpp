#include "workbench/import.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/recipe/parse.h"
#include "storage/queries.h"
#include "workbench/backend.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 6;           // folders down to a run
constexpr size_t kMaxSeen = 200'000;  // files and folders that are looked at on the way
constexpr size_t kUnderWay = 2;       // parts of a log that the writer has not stored yet

using GoesOn = std::function<bool()>;  // null: always

tl::unexpected<Error> stopped_import() { return fail("the import was stopped"); }

/// A run in the store whose parts are still being written.
struct Arrival {
  storage::CreatedRun run;
  ForeignRun foreign;
  struct Part {
    std::string log;  // for messages
    storage::Writer::Future<storage::Ingested> taken;
  };
  std::deque<Part> parts;  // under way, oldest first
  storage::Writer::Future<> ended = {};
};

/// Waits until at most `most` parts are under way.
Result<> settle(Arrival& arrival, size_t most) {
  for (; arrival.parts.size() > most; arrival.parts.pop_front()) {
    Arrival::Part& part = arrival.parts.front();
    if (const auto taken = part.taken.get(); !taken)
      return fail("{}: {}", part.log, taken.error().message);
  }
  return {};
}

/// Reads a log while the writer stores the earlier parts.
Result<> take_log(storage::Writer& writer, Arrival& arrival, const ForeignLog& log,
                  const GoesOn& goes_on) {
  const storage::RunId run = arrival.run.id;
  uint64_t offset = 0;  // of the next part, while all earlier parts were bytes
  bool knows_offset = true;
  for (;;) {
    if (goes_on && !goes_on()) return stopped_import();
    Result<storage::LogPart> part = log.next();
    if (!part) return fail(part);
    if (storage::is_empty(*part)) break;
    auto* bytes = std::get_if<std::string>(&*part);
    if (bytes && knows_offset) {
      const size_t count = bytes->size();
      arrival.parts.push_back(
          {log.path, writer.ingest(run, log.rank, log.epoch, offset, std::move(*bytes))});
      offset += count;
    } else {
      arrival.parts.push_back(
          {log.path, writer.append(run, log.rank, log.epoch, std::move(*part))});
      knows_offset = false;
    }
    if (Result<> settled = settle(arrival, kUnderWay); !settled) return settled;
  }
  arrival.parts.push_back({log.path, writer.end_log(run, log.rank, log.epoch)});
  return {};
}

Result<> take_logs(storage::Writer& writer, Arrival& arrival, const GoesOn& goes_on) {
  for (ForeignLog& log : arrival.foreign.logs) {
    if (Result<> taken = take_log(writer, arrival, log, goes_on); !taken) return taken;
    log.next = nullptr;  // its file is closed
  }
  const ForeignRun& foreign = arrival.foreign;
  arrival.ended = writer.set_state(arrival.run.id, foreign.state, foreign.cause, foreign.finished);
  return {};
}

bool is_same(const storage::LogLine& a, const storage::LogLine& b) {
  return a.rank == b.rank && a.time == b.time && a.level == b.level && a.text == b.text;
}

/// Lines that the logs have not brought.
Result<> add_lines(storage::Reader& reader, storage::Writer& writer, storage::RunId run,
                   const std::vector<storage::LogLine>& lines) {
  std::vector<storage::LogLine> here;
  for (int64_t after = 0;;) {
    auto next = reader.lines_after(run, after);
    if (!next) return fail(next);
    if (next->empty()) break;
    after = next->back().id;
    std::ranges::move(*next, std::back_inserter(here));
  }
  const auto key = [](const storage::LogLine& line) { return line.time; };
  std::ranges::sort(here, {}, key);
  for (const storage::LogLine& line : lines) {
    const auto near = std::ranges::equal_range(here, line.time, {}, key);
    if (std::ranges::any_of(near, [&](const auto& other) { return is_same(line, other); }))
      continue;
    if (Result<> added = writer.add_line(run, line).get(); !added) return added;
  }
  return {};
}

/// Another store's row of the run.
Result<> add_marks(storage::Writer& writer, storage::RunId run, const ForeignRun& foreign) {
  const storage::RunSummary& marks = foreign.marks;
  std::vector<storage::Writer::Future<>> changes;
  if (!foreign.results.empty()) changes.push_back(writer.set_results(run, foreign.results));
  if (!foreign.environment.empty())
    changes.push_back(writer.set_environment(run, foreign.environment));
  storage::Writer::Future<std::vector<std::string>> tagged;
  if (!marks.tags.empty()) tagged = writer.change_tags(run, marks.tags);
  if (!marks.notes.empty()) changes.push_back(writer.set_notes(run, marks.notes));
  if (!marks.color.empty()) changes.push_back(writer.set_color(run, marks.color));
  if (marks.starred) changes.push_back(writer.set_starred(run, true));
  if (marks.archived) changes.push_back(writer.set_archived(run, true));
  for (auto& change : changes)
    if (Result<> done = change.get(); !done) return done;
  if (tagged.valid())
    if (const auto done = tagged.get(); !done) return fail(done);
  if (foreign.lines.empty()) return {};
  auto reader = storage::Reader::open(writer.path());
  return reader ? add_lines(*reader, writer, run, foreign.lines) : fail(reader);
}

/// Absolute, without a slash at its end.
std::string whole(const std::string& path) {
  const fs::path folder = fs::absolute(path).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

/// Removes what a failed import has stored.
tl::unexpected<Error> give_up(storage::Writer& writer, storage::RunId run, const Result<>& failed) {
  [[maybe_unused]] const Result<> removed = writer.remove(run).get();
  return fail(failed);
}

/// Reads the run; `finish_import` waits until the writer has stored it.
Result<Arrival> start_import(storage::Writer& writer, const FoundRun& found,
                             const std::string& name, const GoesOn& goes_on) {
  const std::string path = whole(found.path);
  Result<ForeignRun> foreign = found.importer->read(path);
  if (!foreign) return fail(foreign);

  storage::NewRun run;
  run.recipe = foreign->recipe;
  // A newer Heddle's recipe may have unknown keys: only the others are compared.
  if (!run.recipe.empty()) {
    const recipe::Parsed parsed = recipe::parse(run.recipe, path + "/recipe.toml");
    run.recipe_values = recipe::flatten(recipe::resolve(parsed).recipe);
  }
  run.name = name.empty() ? foreign->name : name;
  run.recipe_name = foreign->recipe_name.empty() ? run.name : foreign->recipe_name;
  run.group = foreign->marks.group;
  run.target = kImported;
  run.imported = true;
  run.run_dir = path;
  run.hosts = to_json(place_on(remote::this_machine()));
  run.lineage = foreign->lineage;
  run.created = foreign->created > 0 ? foreign->created : foreign->finished;
  Result<storage::CreatedRun> created = writer.create_run(std::move(run)).get();
  if (!created) return fail(created);
  Arrival arrival{.run = std::move(*created), .foreign = std::move(*foreign), .parts = {}};
  // First: the environment tells which clock the logs' times are from.
  Result<> taken;
  if (const auto& environment = arrival.foreign.environment; !environment.empty())
    taken = writer.set_environment(arrival.run.id, environment).get();
  if (taken) taken = take_logs(writer, arrival, goes_on);
  if (!taken) return give_up(writer, arrival.run.id, taken);
  return Result<Arrival>(std::move(arrival));
}

Result<storage::CreatedRun> finish_import(storage::Writer& writer, Arrival arrival) {
  Result<> taken = settle(arrival, 0);
  if (taken) taken = arrival.ended.get();
  if (taken) taken = add_marks(writer, arrival.run.id, arrival.foreign);
  if (!taken) return give_up(writer, arrival.run.id, taken);
  return std::move(arrival.run);
}

/// An import whose parts are still under way, and its index in the results.
struct UnderWay {
  size_t place = 0;
  Arrival arrival;
};

/// An import of that path of this machine that was interrupted is removed.
Result<> clear_up(storage::Reader& reader, storage::Writer& writer, const std::string& path) {
  const auto runs = reader.runs_in(path);
  if (!runs) return fail(runs);
  for (const storage::RunId id : *runs) {
    const auto run = reader.run(id);
    if (!run) return fail(run);
    const Result<Place> place = place_from_json(run->hosts);
    if (!place || !backend_of(place->target).has_our_files()) continue;
    if (storage::has_ended(run->summary.state) || !is_import(run->summary, *place) ||
        launcher_lives(*place))
      continue;
    if (Result<> removed = writer.remove(id).get(); !removed) return removed;
  }
  return {};
}

/// The run that the store has already, imported or launched here, from wherever; one in the trash
/// where there is no other.
Result<std::optional<Imported>> run_here(storage::Reader& reader, storage::Writer& writer,
                                         const FoundRun& found) {
  if (Result<> cleared = clear_up(reader, writer, found.path); !cleared) return fail(cleared);
  const std::optional<uint64_t> beginning = found.importer->identify(found.path);
  if (!beginning) return std::nullopt;
  const auto runs = reader.runs_that_began(*beginning);
  if (!runs) return fail(runs);
  std::optional<Imported> trashed;
  for (const storage::RunId id : *runs) {
    const auto run = reader.run(id);
    if (!run) return fail(run);
    Imported here{found.path, storage::CreatedRun{id, run->summary.name}, true,
                  run->summary.trashed.has_value()};
    if (!here.in_trash) return here;
    if (!trashed) trashed = std::move(here);
  }
  return trashed;
}

struct Search {
  const GoesOn& goes_on;
  std::vector<FoundRun> found = {};
  size_t seen = 0;
  bool stopped = false;
};

void search(const fs::path& path, int deeper, Search& all) {
  all.stopped = all.goes_on && !all.goes_on();
  if (all.stopped) return;
  for (const Importer* importer : importers())
    if (importer->recognise(path)) {
      if (!importer->runs_in) return all.found.push_back({path, importer});
      for (const std::string& run : importer->runs_in(path)) all.found.push_back({run, importer});
      return;
    }
  std::error_code error;
  if (deeper == 0 || !fs::is_directory(path, error)) return;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (all.stopped || ++all.seen > kMaxSeen) return;
    std::error_code unknown;
    const fs::file_status status = entry->symlink_status(unknown);
    if (fs::is_directory(status) || fs::is_regular_file(status))
      search(entry->path(), deeper - 1, all);
  }
}

/// The run that "FILE#RUN" names; the file may have several.
std::optional<FoundRun> run_of_store(const std::string& path) {
  const size_t at = path.rfind('#');
  std::error_code error;
  if (at == std::string::npos || fs::exists(path, error)) return std::nullopt;
  const std::string file = whole(path.substr(0, at));
  for (const Importer* importer : importers())
    if (importer->runs_in && importer->recognise(file))
      return FoundRun{file + path.substr(at), importer};
  return std::nullopt;
}

/// One member of every importer, "a or b".
std::string any_of(const char* Importer::*member) {
  std::string words;
  for (const Importer* importer : importers())
    words += (words.empty() ? "" : " or ") + std::string(importer->*member);
  return words;
}

}  // namespace

bool is_import(const storage::RunSummary& run, const Place& place) {
  return run.target == kImported && place.shares.empty();
}

Result<std::vector<FoundRun>> find_runs(const std::string& path, const GoesOn& goes_on) {
  if (auto one = run_of_store(path)) return std::vector{std::move(*one)};
  Search all{goes_on};
  search(whole(path), kDeepest, all);
  if (all.stopped) return stopped_import();
  if (all.seen > kMaxSeen)
    return fail(
        "{}: there are more than {} files in it and below; valid: a folder closer to the "
        "runs",
        path, kMaxSeen);
  std::ranges::sort(all.found, {}, &FoundRun::path);
  return std::move(all.found);
}

std::vector<Imported> import_runs(const std::string& store_path, storage::Writer& writer,
                                  const std::vector<std::string>& paths,
                                  const std::function<bool(const ImportProgress&)>& progress) {
  std::vector<Imported> done;
  std::vector<FoundRun> all;
  std::unordered_set<std::string> taken;  // their paths
  ImportProgress at;
  bool stopped = false;
  const GoesOn goes_on = [&] {
    stopped = stopped || (progress && !progress(at));
    return !stopped;
  };
  const auto is_this_store = [&](const std::string& path) {
    std::error_code error;
    return fs::equivalent(path.substr(0, path.rfind('#')), store_path, error);
  };
  for (const std::string& path : paths) {
    if (is_this_store(path)) {
      done.push_back({path, fail("{}: it is the store that would take it in", path)});
      continue;
    }
    auto found = find_runs(path, [&] { return goes_on() && ++at.seen > 0; });
    if (stopped) return done;
    if (!found) {
      done.push_back({path, fail(found)});
      continue;
    }
    std::erase_if(*found, [&](const FoundRun& run) { return is_this_store(run.path); });
    for (const FoundRun& run : *found)
      if (taken.insert(run.path).second) all.push_back(run);
    if (found->empty())
      done.push_back(
          {path, fail("{}: there is no {} in it or below; valid: {}, or a folder of such", path,
                      any_of(&Importer::sign), any_of(&Importer::words))});
  }
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  std::optional<UnderWay> before;
  const auto finish = [&] {
    if (before) done[before->place].run = finish_import(writer, std::move(before->arrival));
    before.reset();
  };
  for (at.total = all.size(); at.done < at.total && goes_on(); ++at.done) {
    const FoundRun& run = all[at.done];
    // Then a copy of that run is recognised by the first record in the store.
    if (before && !before->arrival.parts.empty()) before->arrival.parts.front().taken.wait();
    const auto here = reader ? run_here(*reader, writer, run) : fail(reader);
    if (!here) {
      done.push_back({run.path, fail(here)});
    } else if (*here) {
      done.push_back(**here);
    } else {
      // While the previous one is written.
      Result<Arrival> arrival = start_import(writer, run, {}, goes_on);
      finish();
      if (stopped) break;
      done.push_back(
          {run.path, arrival ? Result<storage::CreatedRun>(arrival->run) : fail(arrival)});
      if (arrival) before = UnderWay{done.size() - 1, std::move(*arrival)};
    }
  }
  finish();
  return done;
}

Result<storage::CreatedRun> import_run(storage::Writer& writer, const FoundRun& found,
                                       const std::string& name) {
  Result<Arrival> arrival = start_import(writer, found, name, {});
  return arrival ? finish_import(writer, std::move(*arrival)) : fail(arrival);
}

}  // namespace heddle::workbench
