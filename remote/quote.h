// Arguments as text that a POSIX shell reads back unchanged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::remote {

/// One word in single quotes: nothing in it is special to a POSIX shell.
std::string quote(std::string_view argument);

/// All arguments on one line. A newline becomes "$nl", which the reading script must have set
/// (see kReadArguments): the line can then travel on a program's stdin.
std::string quote_line(const std::vector<std::string>& argv);

/// The fixed command that starts every program. It says where its output begins (a login script may
/// have printed before), reads one line of quote_line() from stdin and runs the arguments on the
/// rest of stdin. Its text means the same to sh, bash, zsh, csh and fish.
extern const char* const kReadArguments;

/// The same for the first look at a host: reads nothing and prints the host's time, Unix seconds,
/// then the home folder where it can be entered.
extern const char* const kSayClock;

/// Both commands print this on stdout and on stderr first, followed by the number of their process
/// group and a newline.
inline constexpr std::string_view kBegin = "heddle-output-begins ";

}  // namespace heddle::remote
