#include "remote/start_script.h"

#include "remote/container.h"
#include "remote/quote.h"

namespace heddle::remote {
namespace {

// Clusters name the file that defines `module` in BASH_ENV: bash must not read it before its output
// goes to the log.
constexpr const char* kScriptBegin = R"sh(#!/bin/sh
# Starts the supervisor of a Heddle run, which is given these arguments.
if [ -z "$heddle_begun" ]; then
  heddle_begun=1 heddle_bash_env=$BASH_ENV
  export heddle_begun heddle_bash_env
  unset BASH_ENV
  command -v bash > /dev/null 2>&1 && exec bash --noprofile --norc -- "$0" "$@"
fi
umask 077
heddle_last=
for heddle_word; do
  [ "$heddle_last" = --run-dir ] && heddle_dir=$heddle_word
  heddle_last=$heddle_word
done
)sh";

constexpr const char* kScriptStop = R"sh([ "$heddle_code" = 0 ] || exit 1
command cd -- "$heddle_dir" > /dev/null || exit 1
trap - EXIT HUP INT QUIT TERM USR1
)sh";

constexpr const char* kScriptEnd = R"sh(unset heddle_begun
if [ -n "$heddle_bash_env" ]; then BASH_ENV=$heddle_bash_env; export BASH_ENV; fi
unset heddle_bash_env
)sh";

// A container ends with its first process, which therefore must not detach itself: outside it is
// in a session of its own. The supervisor's ranks run once it has written state.json or end.json.
constexpr const char* kScriptContainer = R"sh(case " $* " in *' --attached '*) exec "$@" ;; esac
exec 3<&0
setsid "$@" --attached <&3 3<&- >> "$heddle_dir/supervisor.err" 2>&1 &
exec 3<&-
while kill -0 "$!" 2> /dev/null && ! [ -s "$heddle_dir/state.json" ]; do sleep 0.1; done
if ! [ -s "$heddle_dir/state.json" ] && ! [ -s "$heddle_dir/end.json" ]; then
  wait "$!"
  printf 'the container ended with exit code %s: ' "$?" >&2
  tail -n 3 -- "$heddle_dir/supervisor.err" >&2
  exit 1
fi
)sh";

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += quote(word) + " ";
  return line;
}

}  // namespace

const char* const kSourcePrelude = R"sh(heddle_path=$PATH heddle_home=$HOME heddle_cwd=$PWD
heddle_source() {
  [ -z "$heddle_bash_env" ] || . "$heddle_bash_env"
  . "$heddle_dir/prelude"
}
rm -f -- "$heddle_dir/prelude.code"
heddle_source > "$heddle_dir/prelude.log" 2>&1 < /dev/null
heddle_code=$?
set +eux
unalias -a
printf '%s\n' "$heddle_code" >| "$heddle_dir/prelude.code"
command -v dirname > /dev/null 2>&1 || { heddle_lost=1 PATH=$PATH:$heddle_path; }
)sh";

bool has_start_script(const Target& target) {
  return !target.prelude.empty() || !target.container.empty();
}

std::string start_script(const Target& target, const StartFolders& folders, bool gpus) {
  std::string script = kScriptBegin;
  if (!target.prelude.empty()) script += std::string(kSourcePrelude) + kScriptStop;
  script += kScriptEnd;
  const Result<Container> container = parse_container(target.container);
  const std::string engine = quote(folders.engine);
  // Slurm has put pyxis' container around this script.
  if (!container || container->kind == Container::Kind::pyxis)
    return script + fmt::format("exec {} \"$@\"\n", engine);
  script += fmt::format("set -- {}{} \"$@\"\n",
                        line_of(apptainer_words(container->image, folders.bound, gpus)), engine);
  script += kScriptContainer;
  return script + fmt::format("exec {} supervise --status --run-dir \"$heddle_dir\"\n", engine);
}

}  // namespace heddle::remote
