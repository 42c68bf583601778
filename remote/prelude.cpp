#include "remote/prelude.h"

#include <algorithm>
#include <sstream>

#include "base/excerpt.h"
#include "base/read_file.h"
#include "remote/container.h"
#include "remote/start_script.h"

namespace heddle::remote {
namespace {

using probe::Check;
using probe::Status;

constexpr size_t kMaxPrelude = 64 << 10;
constexpr int kPreludeSeconds = 30;  // that a prelude may take; conda needs some

// $1: seconds, $2: the inner script, $3: the container's program, $4: its image. The prelude is on
// stdin. Prints lines of "key value", then "log" and the prelude's output.
constexpr const char* kStartLook = R"sh(
umask 077
heddle_dir=$(mktemp -d "${TMPDIR:-/tmp}/heddle-look.XXXXXX") || exit 1
trap 'rm -rf -- "$heddle_dir"' EXIT
cat > "$heddle_dir/prelude" || exit 1
heddle_bash_env=$BASH_ENV
unset BASH_ENV
export heddle_dir heddle_bash_env
if command -v bash > /dev/null 2>&1; then
  timeout -k 2 "$1" bash --noprofile --norc -c "$2" bash "$3" "$4" 2> /dev/null
else
  timeout -k 2 "$1" /bin/sh -c "$2" sh "$3" "$4" 2> /dev/null
fi
printf '\nended %s\n' "$?"
[ ! -s "$heddle_dir/prelude.code" ] || printf 'code %s\n' "$(cat "$heddle_dir/prelude.code")"
printf 'lines %s\nlog\n' "$(grep -c '' "$heddle_dir/prelude.log")"
tail -c 2000 "$heddle_dir/prelude.log")sh";

// The prelude's changes, read after it.
constexpr const char* kStartLookAfter = R"sh(
[ "$PATH" = "$heddle_path" ] || echo changes PATH
[ -z "$heddle_lost" ] || echo lost PATH
[ "$HOME" = "$heddle_home" ] || printf 'home %s\n' "$HOME"
[ "$PWD" = "$heddle_cwd" ] || printf 'folder %s\n' "$PWD"
[ -z "$LOADEDMODULES" ] || printf 'modules %s\n' "$LOADEDMODULES"
for name in http_proxy https_proxy; do
  eval "[ -z \"\$$name\" ]" || echo "proxy $name"
done
[ -z "$1" ] || command -v "$1" > /dev/null 2>&1 || echo "missing $1"
[ -z "$2" ] || [ -r "$2" ] || echo unread image
PATH=$PATH:$heddle_path
[ "$1" != srun ] || srun --help 2> /dev/null | grep -q -e --container-image || echo lacks pyxis
[ -z "$1" ] || printf 'version %s\n' "$("$1" --version 2> /dev/null | head -n 1)"
)sh";

/// The output of a look.
struct Look {
  std::vector<std::pair<std::string, std::string>> facts;
  std::string log;

  std::string fact(const std::string& key) const {
    for (const auto& [name, value] : facts)
      if (name == key) return value;
    return {};
  }
};

Look look_from(const std::string& printed) {
  Look look;
  const size_t log = printed.find("\nlog\n");
  std::istringstream lines(printed.substr(0, log));
  for (std::string line; std::getline(lines, line);)
    if (const size_t blank = line.find(' '); blank != std::string::npos)
      look.facts.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  if (log != std::string::npos) look.log = printed.substr(log + 5);
  return look;
}

/// The last line of what a prelude has printed, in quotes; empty: it has printed nothing.
std::string last_line(std::string log) {
  while (log.ends_with('\n')) log.pop_back();
  if (log.empty()) return {};
  return "\"" + excerpt(log.substr(log.rfind('\n') + 1), 300) + "\"";
}

/// Why nothing can be started after such a prelude, and what to do about it.
Check fault_of(const std::string& code, int ended, const std::string& log) {
  Check check{.name = "prelude", .status = Status::fail, .value = {}, .advice = {}};
  if (code.empty() && (ended == 124 || ended == 137)) {
    check.value = fmt::format("does not end within {} s", kPreludeSeconds);
    check.advice = "take out what waits: nothing can be typed there";
  } else if (code.empty()) {
    check.value = fmt::format("ends its shell, with exit code {}", ended);
    check.advice = "it is sourced: put `return` in place of `exit`, and leave out `exec`, `set -e`";
  } else {
    check.value = "ends with code " + code;
    check.advice = "correct it, or end it with `true` where that does no harm";
  }
  const std::string last = last_line(log);
  if (!last.empty()) check.value += "; prints last " + last;
  if (log.find("module: command not found") != std::string::npos ||
      log.find("module: not found") != std::string::npos)
    check.advice =
        "source the file first that defines `module`: /etc/profile.d/modules.sh or lmod.sh";
  return check;
}

Check judge_prelude(const Look& look) {
  const std::string code = look.fact("code");
  const std::string ended = look.fact("ended");
  if (code != "0") return fault_of(code, std::atoi(ended.c_str()), look.log);
  std::vector<std::string> does, advice;
  if (const std::string modules = look.fact("modules"); !modules.empty())
    does.push_back("loads " + excerpt(modules, 200));
  for (const auto& [key, value] : look.facts)
    if (key == "proxy") does.push_back("sets " + value);
  if (!look.fact("changes").empty()) does.emplace_back("changes PATH");
  if (!look.fact("lost").empty()) {
    does.emplace_back("leaves no program of the system in PATH");
    advice.emplace_back("add to PATH, as in PATH=/new:$PATH; runs get the old one behind it");
  }
  if (const std::string home = look.fact("home"); !home.empty()) {
    does.push_back("changes HOME to " + excerpt(home, 200));
    advice.emplace_back("leave HOME as it is, or programs look there for their settings");
  }
  if (const std::string folder = look.fact("folder"); !folder.empty()) {
    does.push_back("goes to " + excerpt(folder, 200));
    advice.emplace_back("leave out cd: runs go on in their own folder");
  }
  if (!look.log.empty()) {
    does.push_back(fmt::format("prints {} line{}, the last {}", look.fact("lines"),
                               look.fact("lines") == "1" ? "" : "s", last_line(look.log)));
    advice.push_back(
        fmt::format("see whether that is a fault; a run keeps it in its {}", kPreludeLog));
  }
  const auto joined = [](const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : "; ") + word;
    return all;
  };
  return {"prelude", advice.empty() ? Status::pass : Status::warn,
          does.empty() ? "is sourced" : joined(does), joined(advice)};
}

Check judge_container(const Look& look, const Container& container) {
  if (container.kind == Container::Kind::pyxis && !look.fact("lacks").empty())
    return {"container", Status::fail, "srun there knows no --container-image",
            "pyxis is a plug-in that administrators add to Slurm: ask them, or name an image of "
            "apptainer"};
  if (container.kind == Container::Kind::pyxis)
    return {"container", Status::pass, fmt::format("{}, by Slurm's pyxis", container.image), ""};
  if (!look.fact("missing").empty())
    return {"container", Status::fail, "there is no apptainer in the PATH there",
            "load its module in a prelude (heddle targets add … --prelude), or install apptainer"};
  if (!look.fact("unread").empty())
    return {"container", Status::fail, container.image + " cannot be read there",
            "bring the image there: apptainer pull IMAGE.sif docker://…"};
  return {"container", Status::pass, fmt::format("{}, {}", container.image, look.fact("version")),
          ""};
}

/// The folders of runs, engines and inputs, absolute.
Result<std::vector<std::string>> bound_folders(Node& node, const Target& target) {
  std::vector<std::string> bound;
  for (const std::string& wanted : {target.root, target.folder_of_data()}) {
    Result<std::string> folder = node.expand(wanted);
    if (!folder) return fail(folder);
    if (bound.empty() || bound[0] != *folder) bound.push_back(std::move(*folder));
  }
  return bound;
}

}  // namespace

Result<std::string> read_prelude(const Target& target) {
  if (target.prelude.empty()) return std::string();
  Result<std::string> text = read_file(target.prelude, kMaxPrelude);
  if (!text)
    return fail("the prelude of {}: {}; heddle targets add {} … --replace --prelude names another",
                target.name, text.error().message, target.name);
  if (text->find('\0') != std::string::npos)
    return fail("the prelude of {}: {} is no text for a shell", target.name, target.prelude);
  return text;
}

Result<std::vector<Check>> check_start(Node& node, const Target& target) {
  std::vector<Check> checks;
  if (!has_start_script(target)) return checks;
  const Result<std::string> prelude = read_prelude(target);
  if (!prelude)
    return std::vector<Check>{{"prelude", Status::fail, prelude.error().message,
                               "write the file again, or name another"}};
  const Result<Container> container = parse_container(target.container);
  const bool apptainer = container && container->kind == Container::Kind::apptainer;
  const bool file = apptainer && container->image.starts_with('/');
  const Command look{.argv = {"/bin/sh", "-c", kStartLook, "sh", std::to_string(kPreludeSeconds),
                              std::string(kSourcePrelude) + kStartLookAfter,
                              apptainer   ? "apptainer"
                              : container ? "srun"
                                          : "",
                              file ? container->image : ""},
                     .input = *prelude + "\n",
                     .deadline = std::chrono::seconds(2 * kPreludeSeconds)};
  const Result<Completed> looked = node.run(look);
  if (!looked) return fail(looked);
  if (looked->exit_code != 0)
    return std::vector<Check>{{"prelude", Status::fail,
                               "cannot be tried: " + excerpt(looked->err, 300),
                               "free some space in /tmp there, or name another folder in TMPDIR"}};
  const Look found = look_from(looked->out);
  if (!target.prelude.empty()) checks.push_back(judge_prelude(found));
  // Nothing is known of it where the prelude has ended the shell.
  if (container && !found.fact("code").empty())
    checks.push_back(judge_container(found, *container));
  return checks;
}

Result<std::vector<std::string>> srun_options(Node& node, const Target& target) {
  const Result<Container> container = parse_container(target.container);
  if (!container || container->kind != Container::Kind::pyxis) return std::vector<std::string>{};
  return bound_folders(node, target).map([&](const std::vector<std::string>& bound) {
    return pyxis_options(container->image, bound);
  });
}

Result<> put_start_script(Node& node, const Target& target, const std::string& run_dir,
                          const std::string& engine, bool gpus) {
  if (!has_start_script(target)) return {};
  auto bound = bound_folders(node, target);
  if (!bound) return fail(bound);
  const StartFolders folders{.engine = engine, .bound = std::move(*bound)};
  const std::string script = run_dir + "/" + kStartScript;
  if (Result<> put = node.put_bytes(start_script(target, folders, gpus), script, 0700); !put)
    return put;
  if (target.prelude.empty()) return {};
  const Result<std::string> prelude = read_prelude(target);
  if (!prelude) return fail(prelude);
  return node.put_bytes(*prelude + "\n", run_dir + "/" + kPrelude, 0600);
}

Result<std::string> prelude_fault(Node& node, const std::string& run_dir) {
  const std::string log = run_dir + "/" + kPreludeLog;
  const auto pieces = node.read({{run_dir + "/" + kPreludeCode, 0, 16}, {log, 0, 1 << 16}});
  if (!pieces) return fail(pieces);
  std::string code = (*pieces)[0].value_or("");
  if (code.ends_with('\n')) code.pop_back();
  if (code == "0" || !(*pieces)[1]) return std::string();
  const std::string last = last_line(*(*pieces)[1]);
  return fmt::format("the prelude {}{} ({})",
                     code.empty() ? "has ended the shell (`exit`, `exec` or `set -e` in it)"
                                  : "ended with code " + code,
                     last.empty() ? ", without a word" : "; it printed last " + last, log);
}

}  // namespace heddle::remote
