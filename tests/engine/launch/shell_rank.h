// A /bin/sh program in place of a rank.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>

namespace heddle::launch {

/// Writes the program to `path`, which it returns. Its lines know $rank, $attempt, $run_dir,
/// $listen_fd and $port; `say STATE STEP` tells the supervisor how far it is, `say_why STEP CAUSE`
/// also why it fails, `finish` ends as a rank does that has done all its work.
inline std::string shell_rank(const std::string& path, const std::string& lines) {
  constexpr const char* prelude = R"(#!/bin/sh
shift
attempt=0
while [ $# -gt 0 ]; do
  case $1 in
    --rank) rank=$2 ;;
    --attempt) attempt=$2 ;;
    --run-dir) run_dir=$2 ;;
    --listen-fd) listen_fd=$2 ;;
    --word-fd) word_fd=$2 ;;
    --port) port=$2 ;;
  esac
  shift 2
done
say() { echo "$1 $2" > /proc/self/fd/$word_fd; }
say_lasting() { printf '%-56s!' "working 1" > /proc/self/fd/$word_fd; }
say_why() { printf '%-64s%-8s%s' "working $1" ${#2} "$2" > /proc/self/fd/$word_fd; }
results() { [ "$rank" = 0 ] && [ ! -e "$run_dir/results.json" ] && echo '{}' > "$run_dir/results.json"; }
finish() { results; say done 1000000000; exit 0; }
)";
  std::ofstream(path) << prelude << lines;
  chmod(path.c_str(), 0755);
  return path;
}

}  // namespace heddle::launch
