// A graph as text; one that can be read is written, and read again as it was.
#include <cctype>
#include <map>
#include <string>

#include "engine/graph/text.h"
#include "tests/fuzz/input.h"

using namespace heddle;

namespace {

// Numbers of values are names, given in the order in which a text makes them: the same text with
// the names of their first appearance. Notes and strings name nothing.
std::string by_appearance(const std::string& text) {
  std::map<std::string, size_t> names;
  std::string result;
  bool quoted = false, note = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || text[i - 1] == '\n') {
      note = text.compare(i, 5, "note ") == 0;
      quoted = false;
    }
    if (text[i] == '"') quoted = !quoted;
    result += text[i];
    if (text[i] != '%' || note || quoted) continue;
    std::string number;
    while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])))
      number += text[++i];
    result += std::to_string(names.emplace(number, names.size()).first->second);
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = graph::parse_text(fuzz::text(data, size), "file");
  if (!graph) {
    if (!graph.error().message.starts_with("file:")) std::abort();
    return 0;
  }
  const std::string written = graph::to_text(*graph);
  const auto again = graph::parse_text(written, "again");
  if (!again || by_appearance(graph::to_text(*again)) != by_appearance(written)) std::abort();
  return 0;
}
