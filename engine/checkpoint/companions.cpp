#include "engine/checkpoint/companions.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "base/read_file.h"
#include "engine/checkpoint/file_calls.h"
#include "engine/checkpoint/reader.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{256} << 20;  // of a file: the largest vocabularies take 40 MB
constexpr size_t kMaxTemplates = 100;
constexpr int kMaxRuns = 1000;  // from a checkpoint to the first one: more is a circle

constexpr std::array kOfTokenizers = {
    "tokenizer.json",    kTokenizerConfig,      "special_tokens_map.json",
    "added_tokens.json", "chat_template.jinja", "chat_template.json",
    "vocab.json",        "merges.txt",          "tokenizer.model"};
constexpr std::array kOfModels = {kConfig, kGenerationConfig};
constexpr const char* kMoreTemplates = "additional_chat_templates";

Result<> copy_if_there(const std::string& from, const std::string& to, const std::string& name) {
  const auto bytes = read_file_if_there(from + '/' + name, kMaxBytes);
  if (!bytes) return fail(bytes);
  return *bytes ? write_file(to + '/' + name, **bytes) : Result<>();
}

Result<> copy_more_templates(const fs::path& from, const fs::path& to) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(from, error))
    if (entry.path().extension() == ".jinja") names.push_back(entry.path().filename());
  if (names.empty()) return {};
  if (names.size() > kMaxTemplates)
    return fail("{}: {} templates; valid: at most {}", from.string(), names.size(), kMaxTemplates);
  fs::create_directory(to, error);
  if (error) return fail("{}: cannot be created: {}", to.string(), error.message());
  for (const std::string& name : names)
    if (auto done = copy_if_there(from, to, name); !done) return done;
  return sync_folder(to);
}

}  // namespace

Result<std::string> companions_of(const std::string& folder) {
  std::string at = folder;
  for (int run = 0; run < kMaxRuns; ++run) {
    std::error_code unknown;
    if (!fs::exists(at, unknown)) return fail("{} is not here", at);
    if (!is_checkpoint(at)) return fs::exists(at + '/' + kConfig, unknown) ? at : std::string();
    if (const std::string kept = at + '/' + kCompanions; fs::exists(kept, unknown)) return kept;
    const auto opened = Checkpoint::open(at);
    if (!opened) return fail(opened);
    at = opened->manifest().recipe.model.checkpoint;
    if (at.empty()) return at;
  }
  return fail("{}: begins with itself", folder);
}

Result<> copy_tokenizer(const std::string& from, const std::string& to) {
  for (const char* name : kOfTokenizers)
    if (auto done = copy_if_there(from, to, name); !done) return done;
  return copy_more_templates(from + '/' + kMoreTemplates, to + '/' + kMoreTemplates);
}

Result<> copy_companions(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_directory(to, error);
  if (error) return fail("{}: cannot be created: {}", to, error.message());
  for (const char* name : kOfModels)
    if (auto done = copy_if_there(from, to, name); !done) return done;
  return copy_tokenizer(from, to);
}

}  // namespace heddle::checkpoint
