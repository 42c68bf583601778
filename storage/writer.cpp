#include "storage/writer.h"

#include "base/clock.h"
#include "storage/run_rows.h"
#include "storage/store.h"
#include "storage/writer_thread.h"

namespace heddle::storage {
namespace {

const Error kNoLease{
    "this process does not hold the store's ingest lease: call take_lease before following runs"};

/// Sets one column of a run.
Result<> set_column(Connection& connection, const char* sql, RunId run, const auto& value) {
  if (connection.execute(sql, value, run) == 0) return require_run(connection, run);
  touch(connection, run);
  return {};
}

/// Now, or never.
std::optional<double> since(bool set) { return set ? std::optional(unix_now()) : std::nullopt; }

}  // namespace

Writer::Writer(std::string path, std::unique_ptr<Thread> thread)
    : path_(std::move(path)), thread_(std::move(thread)) {}
Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path) {
  if (Result<> ready = prepare(path); !ready) return fail(ready);
  return guarded(path, [&]() -> Result<std::unique_ptr<Writer>> {
    return std::unique_ptr<Writer>(new Writer(path, std::make_unique<Thread>(path)));
  });
}

Result<> Writer::take_lease() { return thread_->take_lease(); }
bool Writer::has_lease() const { return thread_->has_lease(); }

Writer::Future<CreatedRun> Writer::create_run(NewRun run) {
  return thread_->post<CreatedRun>(
      [run = std::move(run), thread = thread_.get()](Connection& connection, Ingestor&) {
        Result<CreatedRun> created = storage::create_run(connection, run);
        if (created && run.imported) thread->imports(created->id);
        return created;
      });
}

Writer::Future<std::vector<CreatedRun>> Writer::create_runs(std::vector<NewRun> runs,
                                                            Halving halving) {
  return thread_->post<std::vector<CreatedRun>>(
      [runs = std::move(runs), halving = std::move(halving)](Connection& connection, Ingestor&) {
        return storage::create_runs(connection, runs, halving);
      });
}

Writer::Future<> Writer::begin_queued(RunId run, std::string hosts_json, std::string run_dir) {
  return thread_->post<void>([run, hosts = std::move(hosts_json), run_dir = std::move(run_dir)](
                                 Connection& connection, Ingestor&) -> Result<> {
    if (Result<> waits = require_queued(connection, run); !waits) return waits;
    connection.execute("UPDATE runs SET hosts = ?, run_dir = ?, cause = '' WHERE id = ?", hosts,
                       run_dir, run);
    leave_queue(connection, run);
    return {};
  });
}

Writer::Future<> Writer::take_out(RunId run) {
  return thread_->post<void>([run](Connection& connection, Ingestor&) -> Result<> {
    if (Result<> waits = require_queued(connection, run); !waits) return waits;
    return storage::set_state(connection, run, RunState::stopped, "taken out of the queue", 0);
  });
}

Writer::Future<> Writer::reorder_queue(std::vector<RunId> runs) {
  return thread_->post<void>(
      [runs = std::move(runs)](Connection& connection, Ingestor&) -> Result<> {
        storage::reorder_queue(connection, runs);
        return {};
      });
}

Writer::Future<> Writer::set_state(RunId run, RunState state, std::string cause, double time) {
  return thread_->post<void>(
      [run, state, cause = std::move(cause), time](Connection& connection, Ingestor&) {
        return storage::set_state(connection, run, state, cause, time);
      });
}

Writer::Future<> Writer::set_place(RunId run, std::string hosts_json, std::string run_dir) {
  return thread_->post<void>([run, hosts = std::move(hosts_json), run_dir = std::move(run_dir)](
                                 Connection& connection, Ingestor&) -> Result<> {
    if (Result<> found = require_run(connection, run); !found) return found;
    connection.execute("UPDATE runs SET hosts = ?, run_dir = ? WHERE id = ?", hosts, run_dir, run);
    touch(connection, run);
    return {};
  });
}

Writer::Future<> Writer::set_environment(RunId run, Values values) {
  return thread_->post<void>(
      [run, values = std::move(values)](Connection& connection, Ingestor&) -> Result<> {
        if (Result<> found = require_run(connection, run); !found) return found;
        set_facts(connection, run, "environment.", values);
        touch(connection, run);
        return {};
      });
}

Writer::Future<> Writer::set_results(RunId run, Values values) {
  return thread_->post<void>(
      [run, values = std::move(values)](Connection& connection, Ingestor&) -> Result<> {
        if (Result<> found = require_run(connection, run); !found) return found;
        set_facts(connection, run, "results.", values);
        touch(connection, run);
        return {};
      });
}

Writer::Future<> Writer::set_notes(RunId run, std::string notes) {
  return thread_->post<void>([run, notes = std::move(notes)](Connection& connection, Ingestor&) {
    return set_column(connection, "UPDATE runs SET notes = ? WHERE id = ?", run, notes);
  });
}

Writer::Future<std::vector<std::string>> Writer::change_tags(RunId run,
                                                             std::vector<std::string> add,
                                                             std::vector<std::string> remove) {
  return thread_->post<std::vector<std::string>>(
      [run, add = std::move(add), remove = std::move(remove)](Connection& connection, Ingestor&) {
        return storage::change_tags(connection, run, add, remove);
      });
}

Writer::Future<> Writer::rename(RunId run, std::string name) {
  return thread_->post<void>([run, name = std::move(name)](Connection& connection, Ingestor&) {
    return rename_run(connection, run, name);
  });
}

Writer::Future<> Writer::set_starred(RunId run, bool starred) {
  return thread_->post<void>([run, starred](Connection& connection, Ingestor&) {
    return set_column(connection, "UPDATE runs SET starred = ? WHERE id = ?", run, since(starred));
  });
}

Writer::Future<> Writer::set_archived(RunId run, bool archived) {
  return thread_->post<void>([run, archived](Connection& connection, Ingestor&) {
    return set_column(connection, "UPDATE runs SET archived = ? WHERE id = ?", run,
                      since(archived));
  });
}

Writer::Future<> Writer::set_color(RunId run, std::string color) {
  return thread_->post<void>([run, color = std::move(color)](Connection& connection, Ingestor&) {
    return storage::set_color(connection, run, color);
  });
}

Writer::Future<> Writer::set_group(RunId run, std::string group) {
  return thread_->post<void>([run, group = std::move(group)](Connection& connection, Ingestor&) {
    return storage::set_group(connection, run, group);
  });
}

Writer::Future<> Writer::add_line(RunId run, LogLine line) {
  return thread_->post<void>(
      [run, line = std::move(line)](Connection& connection, Ingestor&) -> Result<> {
        if (Result<> found = require_run(connection, run); !found) return found;
        storage::add_line(connection, run, line);
        return {};
      });
}

Writer::Future<> Writer::set_link(RunId run, Link link) {
  return thread_->post<void>([run, link = std::move(link)](Connection& connection, Ingestor&) {
    return storage::set_link(connection, run, link);
  });
}

Writer::Future<> Writer::trash(RunId run) {
  return thread_->post<void>(
      [run](Connection& connection, Ingestor&) { return trash_run(connection, run); });
}

Writer::Future<> Writer::restore(RunId run) {
  return thread_->post<void>(
      [run](Connection& connection, Ingestor&) { return restore_run(connection, run); });
}

Writer::Future<> Writer::remove(RunId run) {
  return thread_->post<void>([run](Connection& connection, Ingestor& ingestor) {
    ingestor.forget(run);
    return remove_run(connection, run);
  });
}

Writer::Future<Ingested> Writer::ingest(RunId run, int32_t rank, int32_t epoch, uint64_t offset,
                                        std::string bytes) {
  if (!thread_->may_ingest(run)) return Thread::refuse<Ingested>(kNoLease);
  return thread_->post<Ingested>(
      [log = LogKey{run, rank, epoch}, offset, bytes = std::move(bytes)](
          Connection&, Ingestor& ingestor) { return ingestor.ingest(log, offset, bytes); });
}

Writer::Future<Ingested> Writer::append(RunId run, int32_t rank, int32_t epoch, LogPart part) {
  if (!thread_->may_ingest(run)) return Thread::refuse<Ingested>(kNoLease);
  const LogKey log{run, rank, epoch};
  if (auto* frames = std::get_if<std::string>(&part))
    return thread_->post<Ingested>(
        [log, frames = std::move(*frames)](Connection&, Ingestor& ingestor) {
          return ingestor.append(log, frames);
        });
  auto& columns = std::get<StepColumns>(part);
  Result<ColumnRecords> records = records_of(columns);  // here: the writer has enough to do
  if (!records) return Thread::refuse<Ingested>(records.error());
  return thread_->post<Ingested>(
      [log, columns = std::move(columns), records = std::move(*records)](
          Connection&, Ingestor& ingestor) { return ingestor.append(log, columns, records); });
}

Writer::Future<Ingested> Writer::end_log(RunId run, int32_t rank, int32_t epoch) {
  if (!thread_->may_ingest(run)) return Thread::refuse<Ingested>(kNoLease);
  return thread_->post<Ingested>([log = LogKey{run, rank, epoch}](Connection&, Ingestor& ingestor) {
    return ingestor.end_log(log);
  });
}

Writer::Future<uint64_t> Writer::cursor(RunId run, int32_t rank, int32_t epoch) {
  return thread_->post<uint64_t>([log = LogKey{run, rank, epoch}](Connection&, Ingestor& ingestor) {
    return ingestor.cursor(log);
  });
}

Writer::Future<> Writer::save_target(Target target) {
  return thread_->post<void>(
      [target = std::move(target)](Connection& connection, Ingestor&) -> Result<> {
        if (target.name.empty()) return fail("a target needs a name");
        connection.execute(
            "INSERT OR REPLACE INTO targets (name, kind, hosts, host_keys, probe) "
            "VALUES (?, ?, ?, ?, ?)",
            target.name, target.kind, target.hosts, target.host_keys, target.probe);
        return {};
      });
}

Writer::Future<> Writer::remove_target(std::string name) {
  return thread_->post<void>(
      [name = std::move(name)](Connection& connection, Ingestor&) -> Result<> {
        if (connection.execute("DELETE FROM targets WHERE name = ?", name) > 0) return {};
        return fail("no target '{}' in the store; `heddle targets` lists them", name);
      });
}

Writer::Future<> Writer::request(RunId run, std::string verb) {
  return thread_->post<void>(
      [run, verb = std::move(verb)](Connection& connection, Ingestor&) -> Result<> {
        if (Result<> found = require_run(connection, run); !found) return found;
        connection.execute("INSERT INTO requests (run, verb) VALUES (?, ?)", run, verb);
        return {};
      });
}

Writer::Future<std::vector<Request>> Writer::take_requests() {
  using Requests = std::vector<Request>;
  if (!has_lease()) return Thread::refuse<Requests>(kNoLease);
  return thread_->post<Requests>([](Connection& connection, Ingestor&) -> Result<Requests> {
    Requests requests;
    {
      Rows rows = connection.query("SELECT id, run, verb FROM requests ORDER BY id");
      while (rows.next()) requests.push_back({rows.integer(0), rows.integer(1), rows.text(2)});
    }
    connection.execute("DELETE FROM requests");
    return requests;
  });
}

}  // namespace heddle::storage
