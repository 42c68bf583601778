// Texts that are not UTF-8, found before they are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/source_files.h"

namespace heddle::data {

/// What the start of a file says against UTF-8, and how to convert it; empty: nothing. Single bytes
/// that are none, among characters that are, stay: the tokenizer takes them as bytes.
std::string encoding_fault(std::string_view start, TextKind kind);

/// Fails at the first of the files of which that is so; of very many only the first are looked at.
Result<> check_encodings(const std::vector<SourceFile>& files);

}  // namespace heddle::data
