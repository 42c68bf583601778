// heddle targets [add NAME --host U@H... | probe NAME | remove NAME [--purge]]
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "remote/connect.h"
#include "remote/deploy.h"
#include "remote/ssh_config.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

struct AddOptions {
  std::string name;
  std::vector<std::string> hosts;
  std::string jump;
  std::string identity_file;
  std::string root;
  std::vector<std::string> accepted_keys;  // fingerprints
};

int list_targets(storage::Reader& reader) {
  const auto all = targets(reader);
  if (!all) return report(all.error());
  std::vector<std::vector<std::string>> rows{{"NAME", "HOSTS", "ROOT", "PROBE", "CORES", "MEMORY"}};
  for (const SavedTarget& saved : *all) {
    std::string hosts;
    for (const remote::Host& host : saved.target.hosts) {
      hosts += (hosts.empty() ? "" : ", ") + host.name;
    }
    rows.push_back({saved.target.name, hosts, saved.target.root});
    if (const auto& probe = saved.probe) {
      rows.back().insert(rows.back().end(),
                         {std::string(probe::word(probe->worst())), std::to_string(probe->cores),
                          bytes_text(static_cast<double>(probe->memory_bytes))});
    }
  }
  fmt::print("{}", table(rows, {4, 5}));
  return kExitDone;
}

int probe_and_print(storage::Writer& writer, const remote::Target& target) {
  const auto reports = probe_target(writer, target);
  if (!reports) return report(reports.error());
  bool failed = false;
  for (const probe::Report& probed : *reports) {
    fmt::print("{}", probe::to_text(probed));
    failed |= probed.worst() == probe::Status::fail;
  }
  return failed ? kExitFailed : kExitDone;
}

Result<remote::Target> target_of(const AddOptions& options) {
  remote::Target target;
  target.name = options.name;
  if (!options.root.empty()) target.root = options.root;
  for (const std::string& text : options.hosts) {
    Result<remote::Host> host = remote::resolve_host(text);
    if (!host) return fail(host);
    if (!options.jump.empty()) host->jump = options.jump;
    if (!options.identity_file.empty()) host->identity_file = options.identity_file;
    target.hosts.push_back(std::move(*host));
  }
  if (const Result<> checked = remote::check(target); !checked) return fail(checked);
  return target;
}

/// Connects to every host, taking the keys whose fingerprints the user has given.
Result<> accept_keys(remote::Target& target, const std::vector<std::string>& fingerprints) {
  for (const remote::Host& host : target.hosts) {
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

int add_target(const Context& context, const AddOptions& options) {
  Result<remote::Target> target = target_of(options);
  if (!target) return report(target.error(), kExitUsage);
  if (target->name == remote::kThisMachine) {
    return report(Error{"this-machine is there already; take another name"}, kExitUsage);
  }
  if (const Result<> trusted = accept_keys(*target, options.accepted_keys); !trusted) {
    return report(trusted.error());
  }
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  if (const Result<> saved = save_target(**writer, {*target, {}}); !saved) {
    return report(saved.error());
  }
  fmt::print("{} is added\n", target->name);
  return probe_and_print(**writer, *target);
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
  for (const remote::Host& host : target.hosts) {
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
  fmt::print("{} is removed\n", name);
  return kExitDone;
}

void add_add(CLI::App& targets_command, Context& context) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* command = targets_command.add_subcommand("add", "Add hosts that are reached over SSH");
  command->add_option("NAME", options->name, "what to call it")->required();
  command->add_option("--host", options->hosts, "a host, also a name of ~/.ssh/config; once each")
      ->type_name("[USER@]HOST[:PORT]")
      ->expected(1)
      ->take_all()
      ->required();
  command->add_option("--jump", options->jump, "the host to go through")
      ->type_name("[USER@]HOST[:PORT]");
  command->add_option("--identity", options->identity_file, "the key to log in with")
      ->type_name("FILE");
  command->add_option("--root", options->root, "Heddle's folder on each host; default: ~/.heddle")
      ->type_name("DIR");
  command->add_option("--accept-key", options->accepted_keys, "a host key that you have compared")
      ->type_name("SHA256:...")
      ->expected(1)
      ->take_all();
  command->callback([options, &context] { context.exit_code = add_target(context, *options); });
}

void add_probe(CLI::App& targets_command, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = targets_command.add_subcommand("probe", "Look at what a target's hosts have");
  command->add_option("NAME", *name, "a target's name")->required();
  command->callback([name, &context] {
    context.exit_code = with_reader(context, [&](storage::Reader& reader) -> Result<int> {
      const Result<SavedTarget> saved = find_target(reader, *name);
      if (!saved) return fail(saved);
      const auto writer = storage::Writer::open(context.store);
      if (!writer) return fail(writer);
      return probe_and_print(**writer, saved->target);
    });
  });
}

void add_remove_target(CLI::App& targets_command, Context& context) {
  struct Options {
    std::string name;
    bool purge = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = targets_command.add_subcommand("remove", "Forget a target");
  command->add_option("NAME", options->name, "a target's name")->required();
  command->add_flag("--purge", options->purge, "also remove the engines from its hosts");
  command->callback([options, &context] {
    context.exit_code = with_reader(context, [&](storage::Reader& reader) {
      return remove_target(context, reader, options->name, options->purge);
    });
  });
}

}  // namespace

void add_targets(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("targets", "List, add, probe or remove targets");
  command->require_subcommand(0, 1);
  command->fallthrough();
  add_add(*command, context);
  add_probe(*command, context);
  add_remove_target(*command, context);
  command->callback([command, &context] {
    if (!command->get_subcommands().empty()) return;
    context.exit_code = with_reader(
        context, [](storage::Reader& reader) -> Result<int> { return list_targets(reader); });
  });
}

}  // namespace heddle::workbench
