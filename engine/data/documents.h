// Text files as documents: .txt, .jsonl and folders of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::data {

/// Calls `take` for each document: a .txt file is one, each line of a .jsonl file is one (its field
/// "text"), a folder stands for all such files below it, in the order of their paths. Errors name
/// the file, and the line of a .jsonl. `take` may fail, which ends the reading.
Result<> for_each_document(const std::vector<std::string>& paths,
                           const std::function<Result<>(std::string_view text)>& take);

}  // namespace heddle::data
