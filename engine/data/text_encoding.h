// Texts that are not UTF-8, found before they are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/source_files.h"

namespace heddle::data {

/// Why a file that begins so is not UTF-8, and how to convert it; empty: it is, or single bytes
/// among its characters are not, which the tokenizer takes as bytes.
std::string encoding_fault(std::string_view start, TextKind kind);

/// Fails at the first of the files of which that is so; of very many only the first are looked at.
Result<> check_encodings(const std::vector<SourceFile>& files);

}  // namespace heddle::data
