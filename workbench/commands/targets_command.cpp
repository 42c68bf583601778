// heddle targets [add NAME --host U@H... [--replace] [--public] | add NAME --slurm [--host U@H] … |
// probe NAME | remove NAME [--purge]]
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/say.h"
#include "remote/batch_systems.h"
#include "remote/connect.h"
#include "remote/deploy.h"
#include "remote/prelude.h"
#include "remote/ssh_config.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

std::string names_of(const std::vector<remote::Host>& hosts) {
  std::string names;
  for (const remote::Host& host : hosts) names += (names.empty() ? "" : ", ") + host.name;
  return names;
}

std::vector<remote::Host> all_hosts(const remote::Target& target) {
  std::vector<remote::Host> hosts = target.hosts;
  hosts.insert(hosts.end(), target.spares.begin(), target.spares.end());
  return hosts;
}

std::string hosts_text(const remote::Target& target) {
  std::string names = names_of(target.hosts);
  if (!target.spares.empty()) names += "; spare: " + names_of(target.spares);
  if (!target.job) return names;
  return fmt::format("{}, {}", remote::batch_system(target.job->system)->name, names);
}

int probe_and_print(storage::Writer& writer, const remote::Target& target) {
  const auto reports = probe_target(writer, target);
  if (!reports) return report(reports.error());
  bool failed = false;
  for (const probe::Report& probed : *reports) {
    say("{}", probe::to_text(probed));
    failed |= probed.worst() == probe::Status::fail;
  }
  return failed ? kExitFailed : kExitDone;
}

Result<remote::Host> host_of(const std::string& text, const AddTargetOptions& options,
                             std::vector<std::string>& notes) {
  if (text == remote::kThisMachine) return remote::host_here();
  auto resolved = remote::resolve_host(text);
  if (!resolved) return fail(resolved);
  remote::Host& host = resolved->host;
  if (!options.jump.empty()) remote::go_through(host, options.jump);
  if (!options.identity_file.empty()) host.identity_files = {options.identity_file};
  for (const std::string& note : resolved->notes)
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  return std::move(host);
}

/// `notes`: what of the SSH config is not followed.
Result<remote::Target> target_of(const AddTargetOptions& options, std::vector<std::string>& notes) {
  remote::Target target;
  target.name = options.name;
  if (!options.root.empty()) target.root = options.root;
  target.data_root = options.data_root;
  target.container = options.container;
  if (!options.prelude.empty()) target.prelude = std::filesystem::absolute(options.prelude);
  target.public_addresses = options.public_addresses;
  if (!options.job.system.empty()) {
    target.job = options.job;
    if (options.hosts.empty()) target.hosts = {remote::host_here()};
  }
  if (options.hosts.empty() && !target.job)
    return fail("--host is required: the hosts that run ranks, [USER@]HOST[:PORT] each");
  for (const auto& [texts, hosts] :
       {std::pair(&options.hosts, &target.hosts), std::pair(&options.spares, &target.spares)})
    for (const std::string& text : *texts) {
      auto host = host_of(text, options, notes);
      if (!host) return fail(host);
      hosts->push_back(std::move(*host));
    }
  if (const Result<> checked = remote::check(target); !checked) return fail(checked);
  if (const auto prelude = remote::read_prelude(target); !prelude) return fail(prelude);
  return target;
}

/// The exit code for adding the target: done while there is none of that name, or where it may be
/// replaced. Keys that were accepted for its hosts stay.
Result<int> make_room(storage::Reader& reader, remote::Target& target, bool replace) {
  const auto all = targets(reader);
  if (!all) return fail(all);
  const std::string& name = target.name;
  for (const SavedTarget& saved : *all) {
    if (saved.target.name != name) continue;
    if (replace) {
      remote::keep_keys(target, saved.target);
      continue;
    }
    return report(Error{fmt::format("{0} is there already, with the {1} {2}; heddle targets probe "
                                    "{0} looks at it again, --replace puts another in its place",
                                    name, saved.target.hosts.size() == 1 ? "host" : "hosts",
                                    names_of(saved.target.hosts))},
                  kExitUsage);
  }
  return kExitDone;
}

/// Connects to every host, taking the keys whose fingerprints the user has given.
Result<> accept_keys(remote::Target& target, const std::vector<std::string>& fingerprints) {
  for (const remote::Host& host : all_hosts(target)) {
    // Each try may meet one more unknown key: the jump host's, then the host's.
    for (;;) {
      const auto node = remote::connect(target, host);
      if (node) break;
      const remote::ConnectError& error = node.error();
      const bool given = std::find(fingerprints.begin(), fingerprints.end(),
                                   error.key.fingerprint) != fingerprints.end();
      if (error.kind != remote::ConnectError::Kind::host_key_unknown || !given) {
        return fail("{}", error.message);
      }
      target.accepted_keys.push_back(error.key);
    }
  }
  return {};
}

Result<> refuse_while_running(storage::Reader& reader, const std::string& target) {
  const auto runs = reader.runs();
  if (!runs) return fail(runs);
  for (const storage::RunSummary& run : *runs) {
    if (run.target == target && !storage::has_ended(run.state)) {
      return fail("{} is {} on {}; stop it first", run.name, storage::to_string(run.state), target);
    }
  }
  return {};
}

Result<> purge_hosts(const remote::Target& target) {
  for (const remote::Host& host : all_hosts(target)) {
    const auto node = remote::connect(target, host);
    if (!node) return fail("{}", node.error().message);
    if (Result<> purged = remote::purge(**node, target.root); !purged) return purged;
  }
  return {};
}

Result<int> remove_target(const Context& context, storage::Reader& reader, const std::string& name,
                          bool purge) {
  const Result<SavedTarget> saved = find_target(reader, name);
  if (!saved) return fail(saved);
  if (name == remote::kThisMachine) return fail("this-machine cannot be removed");
  if (Result<> idle = refuse_while_running(reader, name); !idle) return fail(idle);
  if (purge) {
    if (Result<> purged = purge_hosts(saved->target); !purged) return fail(purged);
  }
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return fail(writer);
  if (const Result<> removed = (*writer)->remove_target(name).get(); !removed) return fail(removed);
  say("{} is removed\n", name);
  return kExitDone;
}

}  // namespace

int list_targets_command(const Context& context) {
  return with_reader(context, [](storage::Reader& reader) -> Result<int> {
    const auto all = targets(reader);
    if (!all) return fail(all);
    std::vector<std::vector<std::string>> rows{
        {"NAME", "HOSTS", "ROOT", "PROBE", "CORES", "MEMORY"}};
    for (const SavedTarget& saved : *all) {
      rows.push_back({saved.target.name, hosts_text(saved.target), saved.target.root});
      if (const auto& probe = saved.probe) {
        rows.back().insert(rows.back().end(),
                           {std::string(probe::word(probe->worst())), std::to_string(probe->cores),
                            bytes_text(static_cast<double>(probe->memory_bytes))});
      }
    }
    say("{}", table(rows, {4, 5}));
    return kExitDone;
  });
}

int add_target_command(const Context& context, const AddTargetOptions& options) {
  std::vector<std::string> notes;
  Result<remote::Target> target = target_of(options, notes);
  if (!target) return report(target.error(), kExitUsage);
  if (target->name == remote::kThisMachine) {
    return report(Error{"this-machine is there already; take another name"}, kExitUsage);
  }
  const int room = with_reader(context, [&](storage::Reader& reader) {
    return make_room(reader, *target, options.replace);
  });
  if (room != kExitDone) return room;
  if (const Result<> trusted = accept_keys(*target, options.accepted_keys); !trusted) {
    return report(trusted.error());
  }
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  if (const Result<> saved = save_target(**writer, {*target, {}}); !saved) {
    return report(saved.error());
  }
  for (const std::string& note : notes) say(stderr, "note: {}\n", note);
  say("{} is added\n", target->name);
  return probe_and_print(**writer, *target);
}

int probe_target_command(const Context& context, const std::string& name) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<SavedTarget> saved = find_target(reader, name);
    if (!saved) return fail(saved);
    const auto writer = storage::Writer::open(context.store);
    if (!writer) return fail(writer);
    return probe_and_print(**writer, saved->target);
  });
}

int remove_target_command(const Context& context, const RemoveTargetOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) {
    return remove_target(context, reader, options.name, options.purge);
  });
}

}  // namespace heddle::workbench
