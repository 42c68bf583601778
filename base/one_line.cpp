#include "base/one_line.h"

#include "base/say.h"

namespace heddle {

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : printable(text)) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace heddle
