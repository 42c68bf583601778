// The command line. CLI11 is included here only: it takes long to compile.
#include "workbench/commands/run_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "remote/ask_on_terminal.h"
#include "remote/batch_systems.h"
#include "storage/store.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {
namespace {

/// The command line's words, the last one first, as CLI11 wants them. "-fp8" after `runs tag` would
/// be options to it.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  auto tag = std::ranges::find(words, "tag");
  if (std::ranges::find(words, "runs") > tag) tag = words.end();
  for (; tag != words.end(); ++tag)
    if (tag->size() > 1 && tag->front() == '-' && tag->at(1) != '-' && *tag != "-h")
      *tag = "--remove=" + tag->substr(1);
  std::ranges::reverse(words);
  return words;
}

/// The words of a command line as options; once parsed, `run` is the command that was named.
class CommandLine {
 public:
  CommandLine() {
    app_.fallthrough();
    app_.require_subcommand(0, 1);
    app_.set_version_flag("--version", HEDDLE_VERSION);
    app_.add_option("--store", context_.store, "the store's file")->type_name("FILE");
    app_.add_flag_callback(
        "--demo", [this] { run_ = [this] { return demo_command(context_); }; },
        "train a small model twice on this machine and compare the runs");
    add_launch();
    add_queue();
    add_stop();
    add_one_run("tail", "Follow a run to its end; Ctrl+C leaves it running", tail_command);
    add_runs();
    add_show();
    add_sql();
    add_compare();
    add_export();
    add_import();
    add_one_run("remove",
                "Remove an ended run for good: its rows in the store and its run directories on "
                "the hosts (the window's Delete only moves it to the trash)",
                remove_command);
    add_one_run("restore", "Take a run back out of the trash", restore_command);
    when_named(
        app_.add_subcommand("trust",
                            "Trust a store (--store FILE) that was made elsewhere: Heddle connects "
                            "to the hosts that it names, follows, stops and removes its runs"),
        trust_command);
    add_targets();
    // Only listed: it draws with widgets, and gui/window/render.h takes its words before this does.
    app_.add_subcommand("render",
                        "Draw a page of the window into a PNG file; see heddle render --help");
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(words_of(argc, argv));
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? kExitDone : kExitUsage;
    }
    return run_ ? run_() : kExitUsage;
  }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands({})) names.push_back(command->get_name());
    return names;
  }

  /// Whether a word is one of them, or an option that needs no command.
  bool knows(const std::string& word) {
    const std::vector<std::string> all = names();
    return std::ranges::find(all, word) != all.end() || app_.get_option_no_throw(word) != nullptr;
  }

 private:
  /// `work(context)` runs when the command is named.
  template <typename Work>
  void when_named(CLI::App* command, Work work) {
    command->callback([this, work] { run_ = [this, work] { return work(context_); }; });
  }

  void add_launch() {
    CLI::App* command = app_.add_subcommand("launch", "Train a recipe on a target, detached");
    command->add_option("RECIPE", launch_.recipe, "a recipe's file (TOML)");
    command
        ->add_option("--on", launch_.target,
                     "a target's name; see heddle targets; default: this-machine, or where the run "
                     "that is resumed or forked was")
        ->type_name("TARGET");
    command
        ->add_option("--resume", launch_.resume,
                     "instead of RECIPE: go on with an ended run, from its newest checkpoint")
        ->type_name("RUN");
    command
        ->add_option("--fork", launch_.fork,
                     "instead of RECIPE: a new branch from one of a run's checkpoints; default: "
                     "the newest")
        ->type_name("RUN[@STEP]");
    command
        ->add_option("--without", launch_.without,
                     "with --resume or --fork: leave this host of the run out, which is lost, and "
                     "train with fewer data-parallel ranks and the same global batch")
        ->type_name("HOST")
        ->expected(1)
        ->take_all();
    command
        ->add_option("--reproduce", launch_.reproduce,
                     "instead of RECIPE: launch exactly what that run was, and say what differs")
        ->type_name("RUN");
    command
        ->add_option("--set", launch_.sets,
                     "another value for a key of the recipe; with several, a run for each")
        ->type_name("KEY=VALUE[,VALUE...]")
        ->expected(1)
        ->take_all();
    command->add_option("--name", launch_.name, "the run's name; default: the recipe's");
    command->add_option("--mode", launch_.mode, "how a step is executed")
        ->check(CLI::IsMember({"planned", "eager"}))
        ->capture_default_str();
    command
        ->add_option("--sweep", launch_.sweep,
                     "how several values a key become runs: all combinations, or N of them, where "
                     "a range as in --set lr=log(1e-5..1e-3) serves too")
        ->type_name("grid|random:N[:SEED]");
    command->add_flag("--queue", launch_.queue,
                      "start when nothing else is going on on the target; a sweep always does");
    command
        ->add_option("--at-once", launch_.at_once,
                     "start runs of the queue while fewer are going on on the target")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command
        ->add_option("--halving", launch_.halving,
                     "stop the worst half of a sweep by a metric at some steps, until KEEP go on")
        ->type_name("METRIC:KEEP[@STEP,STEP...]");
    CLI::Option* check = command->add_flag("--check", launch_.check,
                                           "only say whether it can start: 0 if so, 2 if not");
    command->add_flag("--wait", launch_.wait, "follow the run to its end; Ctrl+C stops it")
        ->excludes(check);
    when_named(command, [this](const Context& c) { return launch_command(c, launch_); });
  }

  void add_queue() {
    CLI::App* command = app_.add_subcommand(
        "queue", "List the runs that wait, or hold, release or change a waiting one's Slurm job");
    command->require_subcommand(0, 1);
    command->add_option("--first", queue_.first, "let this run be the next one of its target")
        ->type_name("RUN");
    command->add_flag("--work", queue_.work,
                      "start them one after another until none waits, as an open window does");
    command->add_flag("--json", queue_.json, "as JSON");
    command->callback([this, command] {
      if (command->get_subcommands().empty())
        run_ = [this] { return queue_command(context_, queue_); };
    });
    add_job_changes(*command);
  }

  void add_job_changes(CLI::App& queue) {
    using Hold = JobChange::Hold;
    const auto add = [&](const char* name, const char* what, Hold hold) {
      CLI::App* command = queue.add_subcommand(name, what);
      command->add_option("RUN", job_.run, "a run's name or id")->required();
      when_named(command, [this, hold](const Context& c) {
        job_.change.hold = hold;
        return change_job_command(c, job_);
      });
      return command;
    };
    add("hold", "Keep a run's Slurm job in the queue until it is released", Hold::hold);
    add("release", "Let a held job start", Hold::release);
    CLI::App* change = add("change", "Change a run's Slurm job while it waits", Hold::keep);
    change->add_option("--time", job_.change.time_limit, "the time limit, as sbatch takes it")
        ->type_name("TIME");
    change->add_option("--partition", job_.change.partition, "where it waits")->type_name("NAME");
    change->add_option("--qos", job_.change.qos, "quality of service")->type_name("NAME");
    change->add_option("--nice", job_.change.nice, "the higher, the later it begins")
        ->check(CLI::Range(0, kMaxNice));
  }

  void add_stop() {
    CLI::App* command = app_.add_subcommand("stop",
                                            "End a run after its step and, unless its recipe has "
                                            "checkpoint.enabled = false, a checkpoint; "
                                            "wait for its end");
    command->add_option("RUN", stop_.run, "a run's name or id")->required();
    command->add_flag("--kill", stop_.kill,
                      "kill its ranks at once: training since its newest checkpoint is lost");
    command->add_flag("--discard", stop_.discard,
                      "end a run that keeps no checkpoints, and with it all that it has trained");
    when_named(command, [this](const Context& c) { return stop_command(c, stop_); });
  }

  void add_one_run(const char* name, const char* what,
                   int (*work)(const Context&, const std::string&)) {
    CLI::App* command = app_.add_subcommand(name, what);
    command->add_option("RUN", name_, "a run's name or id")->required();
    when_named(command, [this, work](const Context& c) { return work(c, name_); });
  }

  void add_runs() {
    CLI::App* command = app_.add_subcommand("runs", "List the runs, newest first, or mark one");
    command->require_subcommand(0, 1);
    command
        ->add_option("--filter", runs_.filter,
                     "only these: \"lr > 1e-4 and tags has fp8 and not state is failed\"")
        ->type_name("FILTER");
    command->add_option("--sort", runs_.sort, "by these values; -KEY: the largest first")
        ->type_name("[-]KEY[,KEY...]");
    command->add_option("--limit", runs_.limit, "at most so many")->type_name("N");
    command
        ->add_option("--columns", runs_.columns,
                     "these values: columns of the window's table, keys of recipe, environment and "
                     "results, metrics as best(loss)")
        ->type_name("KEY[,KEY...]");
    command
        ->add_option("--group", runs_.group,
                     "one line for each value of a key, with the columns' mean and range; with two "
                     "keys, the second's groups within the first's")
        ->type_name("KEY[,KEY]");
    command->add_flag("--archived", runs_.archived, "those that are archived");
    command->add_flag("--trash", runs_.trash, "those in the trash");
    auto* json = command->add_flag("--json", runs_.json, "as JSON");
    command->add_flag("--csv", runs_.csv, "as CSV")->excludes(json)->excludes("--group");
    command->callback([this, command] {
      if (command->get_subcommands().empty())
        run_ = [this] { return runs_command(context_, runs_); };
    });
    add_marks(*command);
  }

  void add_marks(CLI::App& runs) {
    const auto add = [&](const char* name, const char* what) {
      return runs.add_subcommand(name, what);
    };
    const auto with_run = [&](CLI::App* command, std::string& run) {
      command->add_option("RUN", run, "a run's name or id")->required();
      return command;
    };
    CLI::App* tag = with_run(add("tag", "Add tags to a run, +TAG, or remove them, -TAG"), tag_.run);
    tag->add_option("+TAG", tag_.add, "tags to add")->expected(-1);
    tag->add_option("--remove", tag_.remove, "a tag to remove; -TAG is the same")
        ->type_name("TAG")
        ->expected(1)
        ->take_all();
    when_named(tag, [this](const Context& c) { return tag_command(c, tag_); });
    CLI::App* rename = with_run(add("rename", "Give a run another name"), name_);
    rename->add_option("NAME", text_, "its new name")->required();
    when_named(rename, [this](const Context& c) { return rename_command(c, name_, text_); });
    CLI::App* note = with_run(add("note", "Write a run's notes, in place of those it has"), name_);
    note->add_option("TEXT", text_, "the notes; empty: none")->required();
    when_named(note, [this](const Context& c) { return note_command(c, name_, text_); });
    const auto add_mark = [&](const char* name, const char* what,
                              int (*work)(const Context&, const MarkOptions&)) {
      CLI::App* command = add(name, what);
      command->add_option("RUN", mark_.runs, "names or ids")->required()->expected(1, -1);
      command->add_flag("--undo", mark_.undo, "take the mark away");
      when_named(command, [this, work](const Context& c) { return work(c, mark_); });
    };
    add_mark("star", "Mark runs with a star", star_command);
    add_mark("archive", "Keep runs, and leave them out of lists", archive_command);
  }

  void add_show() {
    CLI::App* command = app_.add_subcommand("show", "Show one run: state, results, recipe");
    command->add_option("RUN", show_.run, "a run's name or id")->required();
    command->add_flag("--json", show_.json, "as JSON");
    when_named(command, [this](const Context& c) { return show_command(c, show_); });
  }

  void add_sql() {
    CLI::App* command = app_.add_subcommand(
        "sql",
        "Run one SELECT over the views runs, metrics, steps, spans and facts; see docs/sql.md");
    command->add_option("STATEMENT", sql_.statement, "a SELECT of SQLite")->required();
    CLI::Option* json = command->add_flag("--json", sql_.json, "as JSON");
    command->add_flag("--csv", sql_.csv, "as CSV")->excludes(json);
    when_named(command, [this](const Context& c) { return sql_command(c, sql_); });
  }

  void add_compare() {
    CLI::App* command = app_.add_subcommand("compare", "Put runs side by side");
    command->add_option("RUN", compare_.runs, "names or ids")->required()->expected(2, -1);
    CLI::Option* json = command->add_flag("--json", compare_.json, "as JSON");
    command
        ->add_option("--report", compare_.report,
                     "write what differs, curves, memory and timelines into one file to send: "
                     "HTML, or Markdown without pictures")
        ->type_name("FILE.html|FILE.md")
        ->excludes(json);
    when_named(command, [this](const Context& c) { return compare_command(c, compare_); });
  }

  void add_export() {
    CLI::App* command = app_.add_subcommand(
        "export",
        "Write a run's metrics.csv, trace.json and recipe.toml, or all of it into a file to send");
    command->add_option("RUN", export_.run, "a run's name or id")->required();
    command
        ->add_option("--to", export_.folder,
                     "the folder to write to; FILE.heddle: one file, which heddle import takes in")
        ->type_name("DIR|FILE.heddle")
        ->required();
    command->add_flag("--weights", export_.weights,
                      "instead, its newest checkpoint as a Hugging Face folder in DIR");
    when_named(command, [this](const Context& c) { return export_command(c, export_); });
  }

  void add_import() {
    CLI::App* command =
        app_.add_subcommand("import", "Import finished runs, with or without an open window");
    command
        ->add_option("PATH", paths_,
                     "a run's directory, another store, STORE#RUN, a FILE.heddle, or a folder with "
                     "such below "
                     "it")
        ->required();
    command
        ->add_option("--filter", import_filter_,
                     "of stores only the runs that the filter lets through, as in heddle runs")
        ->type_name("F");
    when_named(command,
               [this](const Context& c) { return import_command(c, paths_, import_filter_); });
  }

  void add_targets() {
    CLI::App* command = app_.add_subcommand("targets", "List, add, probe or remove targets");
    command->require_subcommand(0, 1);
    add_add_target(*command);
    CLI::App* probe = command->add_subcommand("probe", "Look at what a target's hosts have");
    probe->add_option("NAME", name_, "a target's name")->required();
    when_named(probe, [this](const Context& c) { return probe_target_command(c, name_); });
    CLI::App* remove = command->add_subcommand("remove", "Forget a target");
    remove->add_option("NAME", remove_target_.name, "a target's name")->required();
    remove->add_flag("--purge", remove_target_.purge, "also remove the engines from its hosts");
    when_named(remove,
               [this](const Context& c) { return remove_target_command(c, remove_target_); });
    command->callback([this, command] {
      if (command->get_subcommands().empty()) {
        run_ = [this] { return list_targets_command(context_); };
      }
    });
  }

  /// The options of a target whose runs are jobs.
  void add_batch_systems(CLI::App& command) {
    std::vector<CLI::Option*> flags;
    for (const remote::BatchSystem& system : remote::batch_systems()) {
      CLI::Option* flag = command.add_flag_callback(
          flag_of(system), [this, &system] { add_target_.job.system = system.key; }, system.help);
      for (CLI::Option* other : flags) flag->excludes(other);
      flags.push_back(flag);
      for (const remote::JobField& field : system.fields)
        std::visit(
            [&](auto member) {
              add_job_option(command, field, add_target_.job.*member)->needs(flag);
            },
            field.member);
    }
  }

  template <typename Value>
  static CLI::Option* add_job_option(CLI::App& command, const remote::JobField& field,
                                     Value& value) {
    CLI::Option* option =
        command.add_option(field.option, value, field.help)->type_name(field.type);
    if constexpr (std::is_same_v<Value, std::vector<std::string>>) option->expected(1)->take_all();
    return option;
  }

  static std::string flag_of(const remote::BatchSystem& system) {
    return std::string("--") + system.key;
  }

  void add_add_target(CLI::App& targets) {
    std::string places, hosts, roots, images;
    for (const remote::BatchSystem& system : remote::batch_systems()) {
      const std::string flag = flag_of(system);
      places += fmt::format(", or {}", system.place);
      hosts += fmt::format("with {} the {}, without it this machine; ", flag, system.host);
      if (system.has_many_nodes)
        roots += fmt::format("; with {} on a file system that the nodes share", flag);
      if (system.has_pyxis) images += fmt::format(", of {} also pyxis:IMAGE", system.name);
    }
    CLI::App* command =
        targets.add_subcommand("add", "Add hosts that are reached over SSH" + places);
    command->add_option("NAME", add_target_.name, "what to call it")->required();
    command
        ->add_option(
            "--host", add_target_.hosts,
            "a host, or a name of ~/.ssh/config; repeatable; " + hosts + "this-machine: no SSH")
        ->type_name("[USER@]HOST[:PORT]")
        ->expected(1)
        ->take_all();
    command
        ->add_option("--spare", add_target_.spares,
                     "a host that runs nothing until a run loses one of the hosts, and then takes "
                     "its place; it must share the root with them; repeatable")
        ->type_name("[USER@]HOST[:PORT]")
        ->expected(1)
        ->take_all();
    add_batch_systems(*command);
    command->add_option("--jump", add_target_.jump, "the host to go through")
        ->type_name("[USER@]HOST[:PORT]");
    command->add_option("--identity", add_target_.identity_file, "the key to log in with")
        ->type_name("FILE");
    command
        ->add_option("--root", add_target_.root,
                     "Heddle's folder there; default: ~/.heddle" + roots)
        ->type_name("DIR");
    command
        ->add_option("--data-root", add_target_.data_root,
                     "the folder there for inputs and their tokens, as on a scratch file system; "
                     "default: the root")
        ->type_name("DIR");
    command
        ->add_option("--prelude", add_target_.prelude,
                     "sourced there by the shell that starts a run: modules, environment")
        ->type_name("FILE");
    command
        ->add_option("--container", add_target_.container,
                     "that runs are started in: apptainer:IMAGE" + images)
        ->type_name("KIND:IMAGE");
    command->add_option("--accept-key", add_target_.accepted_keys, "a host key you have compared")
        ->type_name("SHA256:...")
        ->expected(1)
        ->take_all();
    command->add_flag("--replace", add_target_.replace, "in place of a target of that name");
    command->add_flag("--public", add_target_.public_addresses,
                      "ranks of several hosts may listen on addresses that the internet reaches");
    when_named(command, [this](const Context& c) { return add_target_command(c, add_target_); });
  }

  CLI::App app_{"Without a command the workbench's window opens.", "heddle"};
  Context context_{.store = storage::default_path()};
  std::function<int()> run_;
  LaunchOptions launch_;
  QueueOptions queue_;
  JobOptions job_;
  StopOptions stop_;
  RunsOptions runs_;
  TagOptions tag_;
  MarkOptions mark_;
  std::string text_;
  ShowOptions show_;
  SqlOptions sql_;
  CompareOptions compare_;
  ExportOptions export_;
  AddTargetOptions add_target_;
  RemoveTargetOptions remove_target_;
  std::vector<std::string> paths_;
  std::string import_filter_;
  std::string name_;
};

}  // namespace

bool is_command(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--store") {
      ++i;
    } else if (!word.starts_with("--store=")) {
      return CommandLine().knows(word);
    }
  }
  return false;
}

std::vector<std::string> command_names() { return CommandLine().names(); }

int run_command(int argc, char** argv) {
  remote::set_asker(remote::ask_on_terminal);
  return CommandLine().run(argc, argv);
}

}  // namespace heddle::workbench
