#include "remote/ssh_tokens.h"

#include <cstdlib>

namespace heddle::remote {
namespace {

std::string letters(const Tokens& tokens) {
  std::string all = "%%";
  for (const auto& [letter, text] : tokens) all += std::string(" %") + letter;
  return all;
}

/// `at` is at the $ of "${NAME}", afterwards at its end.
Result<std::string> environment(const std::string& text, size_t& at) {
  const size_t end = text.find('}', at);
  if (end == text.npos) return fail("\"{}\": ${{ without }}", text);
  const std::string name = text.substr(at + 2, end - at - 2);
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  if (!value) return fail("\"{}\": ${{{}}} is not set in the environment", text, name);
  at = end;
  return value;
}

Result<std::string> replaced(const std::string& text, const Tokens& tokens, bool with_environment) {
  std::string made;
  for (size_t at = 0; at < text.size(); ++at) {
    if (with_environment && text.compare(at, 2, "${") == 0) {
      const Result<std::string> value = environment(text, at);
      if (!value) return value;
      made += *value;
    } else if (text[at] != '%') {
      made += text[at];
    } else if (++at < text.size() && text[at] == '%') {
      made += '%';
    } else {
      const auto token = at < text.size() ? tokens.find(text[at]) : tokens.end();
      if (token == tokens.end()) {
        return fail("\"{}\": %{} has no meaning here; valid: {}", text,
                    at < text.size() ? text.substr(at, 1) : "", letters(tokens));
      }
      made += token->second;
    }
  }
  return made;
}

}  // namespace

Result<std::string> with_tokens(const std::string& text, const Tokens& tokens) {
  return replaced(text, tokens, false);
}

Result<std::string> with_tokens_and_environment(const std::string& text, const Tokens& tokens) {
  return replaced(text, tokens, true);
}

}  // namespace heddle::remote
