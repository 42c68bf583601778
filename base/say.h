// Output to a terminal. Names, causes and log lines come from elsewhere: none of them moves the
// cursor, renames the window or hides a line.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace heddle {

/// UTF-8 of any bytes, in which control characters other than line ends and tabs, and those that
/// turn the direction of writing, are spelled out (\u001b): as JSON writes them.
std::string printable(std::string_view text);

/// Writes what is printable of the text. A stream that cannot take it remembers that (ferror);
/// guarded_main ends with 1 where stdout has lost something.
template <typename... Args>
void say(FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = printable(fmt::format(format, std::forward<Args>(args)...));
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say(stdout, format, std::forward<Args>(args)...);
}

}  // namespace heddle
