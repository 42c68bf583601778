#include "remote/quote.h"

namespace heddle::remote {

// No single quote, newline or "!" inside: those differ between login shells. Without `exec`, so
// that a program ended by a signal gives 128 + signal as the shell's own exit code.
const char* const kReadArguments =
    "exec /bin/sh -c '"
    "echo heddle-output-begins $$; echo heddle-output-begins $$ >&2; "
    "nl=$(printf \"\\012.\"); nl=${nl%.}; "
    "IFS= read -r line || exit 126; "
    "eval \"set -- $line\"; "
    "\"$@\"; exit $?'";

const char* const kSayClock =
    "exec /bin/sh -c '"
    "echo heddle-output-begins $$; echo heddle-output-begins $$ >&2; "
    "date +%s.%N; cd && pwd -P'";

std::string quote(std::string_view argument) {
  std::string text = "'";
  for (const char c : argument) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string quote_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& argument : argv) {
    if (!line.empty()) line += ' ';
    for (const char c : quote(argument)) {
      if (c == '\n') {
        line += "'\"$nl\"'";
      } else {
        line += c;
      }
    }
  }
  return line + "\n";
}

}  // namespace heddle::remote
