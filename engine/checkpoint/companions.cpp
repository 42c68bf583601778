#include "engine/checkpoint/companions.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <vector>

#include "base/durable_file.h"
#include "base/read_file.h"
#include "engine/checkpoint/reader.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{256} << 20;  // of a file: the largest vocabularies take 40 MB
constexpr size_t kMaxTemplates = 100;
constexpr int kMaxRuns = 1000;  // from a checkpoint to the first one: more is a circle

constexpr std::array kOfModels = {kConfig, kGenerationConfig};
constexpr std::array kOfTokenizers = {
    "tokenizer.json",    kTokenizerConfig,      "special_tokens_map.json",
    "added_tokens.json", "chat_template.jinja", "chat_template.json",
    "vocab.json",        "merges.txt",          "tokenizer.model"};
constexpr const char* kMoreTemplates = "additional_chat_templates";

using FileNames = std::vector<std::string>;

/// The names of the further templates that are there.
FileNames more_templates(const std::string& folder) {
  FileNames names;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(folder) / kMoreTemplates, error), end;
       !error && at != end && names.size() < kMaxTemplates; at.increment(error))
    if (at->path().extension() == ".jinja")
      names.push_back(fs::path(kMoreTemplates) / at->path().filename());
  return names;
}

Result<> copy(const FileNames& names, const std::string& from, const std::string& to) {
  for (const std::string& name : names) {
    const auto bytes = read_file_if_there(from + '/' + name, kMaxBytes);
    if (!bytes) return fail(bytes);
    if (!*bytes) continue;
    if (auto done = write_atomically(to + '/' + name, **bytes, kReadable); !done) return done;
  }
  return {};
}

Result<> make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directory(path, error);
  return error ? fail("{}: cannot be created: {}", path, error.message()) : Result<>();
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

std::vector<std::string> companions_in(const std::string& folder) {
  FileNames names(kOfModels.begin(), kOfModels.end());
  names.insert(names.end(), kOfTokenizers.begin(), kOfTokenizers.end());
  std::erase_if(names, [&](const std::string& name) {
    std::error_code unknown;
    return !fs::is_regular_file(folder + '/' + name, unknown);
  });
  std::ranges::copy(more_templates(folder), std::back_inserter(names));
  return names;
}

Result<> copy_tokenizer(const std::string& from, const std::string& to) {
  if (auto done = copy({kOfTokenizers.begin(), kOfTokenizers.end()}, from, to); !done) return done;
  const FileNames templates = more_templates(from);
  if (templates.empty()) return {};
  if (auto made = make_folder(to + '/' + kMoreTemplates); !made) return made;
  return copy(templates, from, to);
}

Result<> copy_companions(const std::string& from, const std::string& to) {
  if (auto made = make_folder(to); !made) return made;
  if (auto done = copy({kOfModels.begin(), kOfModels.end()}, from, to); !done) return done;
  return copy_tokenizer(from, to);
}

}  // namespace heddle::checkpoint
