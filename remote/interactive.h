// A person's answers to a host's questions at login: one-time passwords and the like (RFC 4256).
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

struct Prompt {
  std::string text;
  bool echo = false;  // the answer may be seen
};

/// All texts but `host` are the host's own words.
struct Questions {
  std::string host;        // "gpu1 (ann@gpu1.lab)"
  std::string title = {};  // may be empty
  std::string text = {};   // may be empty
  std::vector<Prompt> prompts = {};
  bool refused = false;     // the last answers were not right
  bool background = false;  // no person waits for this connection
};

using Answers = std::vector<std::string>;  // one a prompt

/// Blocks until a person has answered; an error says why there are no answers. Calls take turns.
using Asker = std::function<Result<Answers>(const Questions&)>;

/// From now on this process asks there; an empty one: nobody.
void set_asker(Asker asker);

Result<Answers> ask_person(const Questions& questions);

}  // namespace heddle::remote
