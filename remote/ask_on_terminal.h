// A host's questions at login, asked on the terminal that the command was started from.
#pragma once

#include "remote/interactive.h"

namespace heddle::remote {

/// Blocks. Ctrl+C and Ctrl+D at a hidden answer give none.
Result<Answers> ask_on_terminal(const Questions& questions);

}  // namespace heddle::remote
