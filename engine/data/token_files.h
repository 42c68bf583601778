// Files of tokens that other programs have made.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/data/token_source.h"

namespace heddle::data {

/// One sequence of tokens, from a file of numbers as NumPy (.npy, one dimension), Megatron (.bin
/// with its .idx next to it, which knows documents), llm.c (.bin with its header) or nothing but
/// the numbers (.u16, .u32) have them. No file is read at once: an id that reaches `vocab_size` is
/// found when it is read.
Result<std::unique_ptr<TokenSource>> open_token_file(const std::string& path, int64_t vocab_size);

/// Reads the file's ids, of a large one pieces all over it: an id that reaches `vocab_size` is
/// found before anything trains.
Result<> check_token_file(const std::string& path, int64_t vocab_size);

/// By the end of its name.
bool is_token_file(const std::string& path);
/// Whether it says where documents begin.
bool knows_documents(const std::string& path);

}  // namespace heddle::data
