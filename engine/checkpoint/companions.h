// The files of a Hugging Face folder next to its weights: the settings of a model and of its
// tokenizer (chat template, special tokens, generation …), which exports keep as they came.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::checkpoint {

inline constexpr const char* kConfig = "config.json";
inline constexpr const char* kGenerationConfig = "generation_config.json";
inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";

/// The folder, inside a checkpoint that `convert` has made, with its source's companions.
inline constexpr const char* kCompanions = "hugging_face";

/// The folder with the settings that the weights of `folder` came with: itself, if it is a Hugging
/// Face folder; of a checkpoint what its conversion has kept, or what its run's `model.checkpoint`
/// came with. Empty: they came with none. An error names a folder that is gone.
Result<std::string> companions_of(const std::string& folder);

/// A folder's companion files, the model's and the tokenizer's: regular files alone.
std::vector<std::string> companions_in(const std::string& folder);

/// Copies the tokenizer's files that are there, regular ones of a bounded size alone.
Result<> copy_tokenizer(const std::string& from, const std::string& to);

/// Copies them, config.json and generation_config.json into a folder that it makes.
Result<> copy_companions(const std::string& from, const std::string& to);

}  // namespace heddle::checkpoint
