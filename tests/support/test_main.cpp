// Runs one test class of a program, the one that its first argument names.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/test_class.h"

namespace {

std::map<std::string, heddle::test::Run>& classes() {
  static std::map<std::string, heddle::test::Run> all;
  return all;
}

}  // namespace

bool heddle::test::add_class(const char* file, Run run) {
  return classes().emplace(std::filesystem::path(file).stem().string(), run).second;
}

int main(int argc, char** argv) {
  const auto named = argc > 1 ? classes().find(argv[1]) : classes().end();
  if (named == classes().end()) {
    const bool asked = argc > 1 && std::string(argv[1]) == "--help";
    std::fprintf(stderr, "usage: %s CLASS [FUNCTION...] [OPTIONS OF QT TEST...]; the classes are\n",
                 argv[0]);
    for (const auto& [name, run] : classes()) std::fprintf(stderr, "  %s\n", name.c_str());
    return asked ? 0 : 2;
  }
  // Qt Test would end a function after five minutes.
  if (std::getenv("HEDDLE_ALL")) setenv("QTEST_FUNCTION_TIMEOUT", "7200000", 0);
  std::vector<char*> rest(argv, argv + argc + 1);  // with the null pointer at the end
  rest.erase(rest.begin() + 1);
  return named->second(argc - 1, rest.data());
}
