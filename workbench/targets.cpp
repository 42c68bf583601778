#include "workbench/targets.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_json.h"
#include "workbench/backend.h"
#include "workbench/host_links.h"

namespace heddle::workbench {
namespace {

using nlohmann::json;

Result<SavedTarget> from_row(const storage::Target& row) {
  Result<json> whole = read_json(row.hosts);
  const Result<json> keys = read_json(row.host_keys);
  if (!whole || !whole->is_object() || !keys)
    return fail("target {}: its hosts cannot be read", row.name);
  (*whole)["accepted_keys"] = *keys;
  Result<remote::Target> target = remote::target_from_json(json_text(*whole));
  if (!target) return fail("target {}: {}", row.name, target.error().message);
  SavedTarget saved{std::move(*target), {}};
  if (row.probe != "{}") {
    Result<probe::Report> report = probe::report_from_json(row.probe);
    if (!report) return fail("target {}: {}", row.name, report.error().message);
    saved.probe = std::move(*report);
  }
  return saved;
}

storage::Target to_row(const SavedTarget& saved) {
  json whole = read_json(remote::to_json(saved.target)).value();
  storage::Target row;
  row.name = saved.target.name;
  row.kind = backend_of(saved.target).kind();
  row.host_keys = json_text(whole["accepted_keys"]);
  whole.erase("accepted_keys");
  row.hosts = json_text(whole);
  if (saved.probe) row.probe = probe::to_json(*saved.probe);
  return row;
}

/// How the hosts reach each other, where the engine is on all of them.
Result<probe::Check> check_network(const remote::Target& target, const Nodes& nodes) {
  const auto engines = engines_there(target, nodes);
  if (!engines) return fail(engines);
  if (engines->empty())
    return probe::Check{"network", probe::Status::unknown, "not measured yet",
                        "the first launch brings the engine to the hosts, which measures it"};
  const auto measured =
      measure_links(target, nodes, *engines, [](const std::string&) { return Result<>{}; });
  if (!measured) return fail(measured);
  const auto slow = judge_links(target, *measured);
  if (measured->faults.empty())
    if (const Result<> kept = keep_links(target, *measured); !kept) return fail(kept);
  return check_of(*measured, slow);
}

}  // namespace

Result<std::vector<SavedTarget>> targets(storage::Reader& reader) {
  const Result<std::vector<storage::Target>> rows = reader.targets();
  if (!rows) return fail(rows);
  std::vector<SavedTarget> result{{remote::this_machine(), {}}};
  for (const storage::Target& row : *rows) {
    Result<SavedTarget> saved = from_row(row);
    if (!saved) return fail(saved);
    // This machine's row holds its probe only.
    if (row.name == remote::kThisMachine) {
      result[0].probe = std::move(saved->probe);
    } else {
      result.push_back(std::move(*saved));
    }
  }
  return result;
}

Result<SavedTarget> find_target(storage::Reader& reader, const std::string& name) {
  Result<std::vector<SavedTarget>> all = targets(reader);
  if (!all) return fail(all);
  std::string names;
  for (SavedTarget& saved : *all) {
    if (saved.target.name == name) return std::move(saved);
    names += (names.empty() ? "" : " | ") + saved.target.name;
  }
  return fail("there is no target '{}'; valid: {}", name, names);
}

remote::Target with_keys_and_spares_of_now(storage::Reader& reader, remote::Target target) {
  Result<SavedTarget> saved = find_target(reader, target.name);
  if (!saved || saved->target.hosts != target.hosts) return target;
  target.accepted_keys = std::move(saved->target.accepted_keys);
  target.spares = std::move(saved->target.spares);
  return target;
}

Result<> save_target(storage::Writer& writer, const SavedTarget& saved) {
  if (saved.target.name == remote::kThisMachine && !(saved.target == remote::this_machine())) {
    return fail("'{}' is always this machine; take another name", remote::kThisMachine);
  }
  if (const Result<> checked = remote::check(saved.target); !checked) return checked;
  return writer.save_target(to_row(saved)).get();
}

Result<std::vector<probe::Report>> probe_target(storage::Writer& writer,
                                                const remote::Target& target) {
  const auto nodes = connect_all(target);
  if (!nodes) return fail("{}", nodes.error().message);
  auto reports = backend_of(target).probe(target, *nodes);
  if (!reports) return fail(reports);
  if (nodes->size() > 1) {
    auto check = check_network(target, *nodes);
    if (!check) return fail(check);
    reports->front().checks.push_back(std::move(*check));
  }
  if (const Result<> saved = save_target(writer, {target, reports->front()}); !saved)
    return fail(saved);
  return reports;
}

}  // namespace heddle::workbench
