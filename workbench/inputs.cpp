#include "workbench/inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/plain_file.h"
#include "engine/checkpoint/companions.h"
#include "engine/data/patterns.h"
#include "engine/data/source_files.h"
#include "engine/data/special_tokens.h"
#include "engine/data/token_files.h"
#include "remote/hash_cache.h"
#include "remote/sha256.h"
#include "storage/open_files.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

struct Input {
  std::string key;    // "data.text"
  std::string place;  // where its faults point: "data.text[0]"
  std::string* path;
};

/// Everything that is read, pointing into the recipe.
std::vector<Input> inputs_of(recipe::Recipe& recipe) {
  std::vector<Input> inputs;
  // A pattern's files are inputs of their own.
  const auto expand = [](std::vector<std::string>& paths) {
    std::vector<std::string> meant;
    for (const std::string& path : paths) {
      const std::vector<std::string> matches = data::matches_of(path);
      if (matches.empty()) meant.push_back(path);  // its fault is reported
      meant.insert(meant.end(), matches.begin(), matches.end());
    }
    paths = std::move(meant);
  };
  expand(recipe.data.text);
  for (recipe::MixPart& part : recipe.data.mix) expand(part.text);
  expand(recipe.validation.text);
  const auto add = [&](const std::string& key, const std::string& place, std::string& path) {
    if (!path.empty()) inputs.push_back({key, place, &path});
  };
  const auto add_all = [&](const std::string& key, std::vector<std::string>& paths) {
    for (size_t i = 0; i < paths.size(); ++i) add(key, fmt::format("{}[{}]", key, i), paths[i]);
  };
  add("model.checkpoint", "model.checkpoint", recipe.model.checkpoint);
  add_all("data.text", recipe.data.text);
  for (size_t i = 0; i < recipe.data.mix.size(); ++i)
    for (std::string& path : recipe.data.mix[i].text)
      add("data.mix", fmt::format("data.mix[{}]", i), path);
  add("data.token_ids", "data.token_ids", recipe.data.token_ids);
  add("data.tokenizer", "data.tokenizer", recipe.data.tokenizer);
  add_all("validation.text", recipe.validation.text);
  return inputs;
}

using File = InputFile;

/// Files below it are hashed before anybody asks what is going on.
constexpr uint64_t kLarge = 1'000'000'000;

Result<std::string> hash_of(remote::HashCache& cache, const std::string& path,
                            const remote::Progress& hashing) {
  if (const Result<> may = storage::may_open(path); !may) return fail(may);
  std::error_code unreadable;
  const uint64_t size = fs::file_size(path, unreadable);
  if (unreadable || size < kLarge) return cache.sha256_of(path);
  uint64_t done = 0;
  return cache.sha256_of(path, [&](uint64_t bytes) { return hashing(done += bytes, size); });
}

/// A large file counts by its size and blocks all over it, which a change of the data hardly
/// misses.
Result<std::string> hash_of_blocks(const std::string& path) {
  constexpr uint64_t kBlocks = 256, kBlock = 16384;
  if (const Result<> may = storage::may_open(path); !may) return fail(may);
  const Result<PlainFile> file = PlainFile::open_existing(path);
  if (!file) return fail(file);
  std::string bytes = fmt::format("{}\n", file->size());
  std::string block(std::min(kBlock, file->size()), '\0');
  for (uint64_t i = 0; i < kBlocks; ++i) {
    const uint64_t at = (file->size() - block.size()) / (kBlocks - 1) * i;
    if (const Result<> read = file->read_at(block.data(), block.size(), at); !read)
      return fail(read);
    bytes += block;
  }
  return remote::sha256(bytes);
}

bool is_text(const Input& input) {
  return input.key == "data.text" || input.key == "data.mix" || input.key == "validation.text";
}

/// An input's files, without their hashes: itself and what is read next to it, or all in the
/// folder; of a folder of texts those that are read.
Result<std::vector<File>> files_of(const Input& input) {
  fs::path path = fs::path(*input.path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::vector<File> files;
  std::error_code error;
  const auto add_below = [&](const fs::path& file) {
    files.push_back({file, path.filename() / file.lexically_relative(path), {}});
  };
  if (!fs::is_directory(path, error)) {
    files.push_back({path, path.filename(), {}});
    const fs::path index = fs::path(path).replace_extension(".idx");
    if (input.key == "data.token_ids" && data::knows_documents(path))
      files.push_back({index, index.filename(), {}});
    // They name its special tokens, and the run's export has them.
    if (input.key == "data.tokenizer")
      for (const std::string& name : checkpoint::companions_in(path.parent_path()))
        if (name != path.filename()) files.push_back({path.parent_path() / name, name, {}});
    error.clear();
  } else if (is_text(input)) {
    const auto sources = data::find_sources({path});
    if (!sources) return fail(sources);
    for (const data::SourceFile& file : sources->files) add_below(file.path);
  } else {
    for (fs::recursive_directory_iterator at(path, error), end; at != end && !error;
         at.increment(error)) {
      if (at->is_regular_file(error)) add_below(at->path());
    }
    std::sort(files.begin(), files.end(),
              [](const File& a, const File& b) { return a.name < b.name; });
  }
  if (error) return fail("{}: {}", path.string(), error.message());
  return files;
}

/// The blob's name: its file's hash, or the hash of the list of its files.
std::string blob_id(const std::vector<File>& files) {
  if (files.size() == 1) return files[0].sha256;
  std::string list;
  for (const File& file : files) list += fmt::format("{}  {}\n", file.sha256, file.name);
  return remote::sha256(list);
}

// $1, …: files. A line each: its size, or nothing where it is none.
constexpr const char* kSizes = R"sh(
for file; do
  if [ -f "$file" ]; then stat -L -c %s -- "$file" || exit 1; else echo; fi
done)sh";

/// So many files in one go: the arguments of a program there are limited.
constexpr size_t kFilesAtOnce = 500;

Result<std::vector<File>> hashed_files_of(const Input& input, const remote::Progress& hashing) {
  Result<std::vector<File>> files = files_of(input);
  if (!files) return files;
  if (files->empty()) return fail("{}: there is no file in it", *input.path);
  remote::HashCache cache;
  for (File& file : *files) {
    Result<std::string> hash = hash_of(cache, file.path, hashing);
    if (!hash) return fail(hash);
    file.sha256 = std::move(*hash);
  }
  cache.save();
  return files;
}

uint64_t bytes_of(const std::vector<File>& files) {
  uint64_t bytes = 0;
  for (const File& file : files) {
    std::error_code error;
    const uint64_t size = fs::file_size(file.path, error);
    if (!error) bytes += size;
  }
  return bytes;
}

/// Whether a host has the input already, as far as this can be told without reading it.
bool is_there(std::vector<File> files, const remote::HashCache& cache,
              const std::set<std::string>& blobs) {
  for (File& file : files) {
    auto hash = cache.known(file.path);
    if (!hash) return false;
    file.sha256 = std::move(*hash);
  }
  return blobs.contains(blob_id(files));
}

/// The input's fault; empty: none.
std::string fault_of(const Input& input) {
  std::error_code error;
  if (!fs::exists(*input.path, error)) return fmt::format("there is no {}", *input.path);
  const Result<std::vector<File>> files = files_of(input);
  if (!files) return files.error().message;
  for (const File& file : *files) {
    if (const Result<> may = storage::may_open(file.path); !may) return may.error().message;
    if (access(file.path.c_str(), R_OK) != 0)
      return fmt::format("{} cannot be read: {}", file.path, std::strerror(errno));
  }
  return bytes_of(*files) == 0 ? fmt::format("{} is empty", *input.path) : "";
}

Result<> send(remote::Node& node, const std::vector<remote::Put>& puts,
              const remote::Progress& progress) {
  std::set<std::string> folders;
  for (const remote::Put& put : puts) folders.insert(fs::path(put.to).parent_path());
  for (const std::string& each : folders)
    if (const Result<> made = node.make_folders(each); !made) return fail(made);
  for (size_t at = 0; at < puts.size(); at += kFilesAtOnce) {
    const auto begin = puts.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kFilesAtOnce, puts.size() - at));
    const Result<> sent = node.put_files({begin, begin + count}, progress);
    if (!sent) return fail(sent);
  }
  return {};
}

std::string blob_folder(const std::string& root, const std::vector<File>& files) {
  return fmt::format("{}/blobs/{}", root, blob_id(files));
}

/// The files that the node does not have yet, an input each.
Result<std::vector<std::vector<remote::Put>>> missing_there(remote::Node& node,
                                                            const std::string& root,
                                                            const Shipment& shipment) {
  std::vector<std::vector<remote::Put>> inputs;
  std::vector<remote::Put> all;
  for (const std::vector<File>& files : shipment.blobs) {
    std::vector<remote::Put>& puts = inputs.emplace_back();
    const std::string folder = blob_folder(root, files);
    for (const File& file : files)
      puts.push_back({.from = file.path, .to = folder + "/" + file.name, .sha256 = file.sha256});
    all.insert(all.end(), puts.begin(), puts.end());
  }
  std::set<std::string> there;
  for (size_t at = 0; at < all.size(); at += kFilesAtOnce) {
    const size_t end = std::min(at + kFilesAtOnce, all.size());
    remote::Command look{.argv = {"/bin/sh", "-c", kSizes, "sh"}};
    for (size_t i = at; i < end; ++i) look.argv.push_back(all[i].to);
    const Result<std::string> answer = node.run_checked(look);
    if (!answer) return fail(answer);
    std::istringstream lines(*answer);
    std::string size;
    for (size_t i = at; i < end && std::getline(lines, size); ++i) {
      std::error_code error;
      if (size == std::to_string(fs::file_size(all[i].from, error))) there.insert(all[i].to);
    }
  }
  // A file has this name only once its hash was checked.
  for (std::vector<remote::Put>& puts : inputs)
    std::erase_if(puts, [&](const remote::Put& put) { return there.contains(put.to); });
  return inputs;
}

}  // namespace

std::vector<recipe::Fault> input_faults(const recipe::Parsed& parsed) {
  std::vector<recipe::Fault> faults;
  recipe::Recipe recipe = parsed.recipe;
  for (const Input& input : inputs_of(recipe)) {
    std::string what = fault_of(input);
    if (what.empty()) continue;
    auto place = parsed.places.find(input.place);
    if (place == parsed.places.end()) place = parsed.places.find(input.key);
    recipe::Fault fault;
    fault.file = parsed.file;
    if (place != parsed.places.end()) {
      fault.file = place->second.file;
      fault.line = place->second.line;
      fault.column = place->second.column;
    }
    fault.key = input.key;
    fault.what = std::move(what);
    fault.valid = "a file or folder of this machine; relative paths start at the recipe's folder";
    faults.push_back(std::move(fault));
  }
  return faults;
}

InputBytes bytes_of_inputs(const recipe::Recipe& recipe, const std::set<std::string>& blobs) {
  InputBytes bytes;
  recipe::Recipe copy = recipe;
  const remote::HashCache cache;
  for (const Input& input : inputs_of(copy)) {
    const Result<std::vector<File>> files = files_of(input);
    if (!files) continue;
    const uint64_t size = bytes_of(*files);
    bytes.all += size;
    if (!is_there(*files, cache, blobs)) bytes.missing += size;
  }
  return bytes;
}

Result<std::string> hash_of_inputs(recipe::Recipe recipe, const remote::Progress& hashing) {
  remote::HashCache cache;
  std::string list;
  for (const Input& input : inputs_of(recipe)) {
    const Result<std::vector<File>> files = files_of(input);
    if (!files) return fail(files);
    for (const File& file : *files) {
      std::error_code unreadable;
      const uint64_t size = fs::file_size(file.path, unreadable);
      const Result<std::string> hash = !unreadable && size >= kLarge
                                           ? hash_of_blocks(file.path)
                                           : hash_of(cache, file.path, hashing);
      if (!hash) return fail(hash);
      list += fmt::format("{}  {}  {}\n", input.key, *hash, file.name);
    }
  }
  cache.save();
  return remote::sha256(list).substr(0, 16);
}

Result<Shipment> shipment_of(recipe::Recipe recipe, const remote::Progress& hashing) {
  std::vector<std::vector<File>> blobs;
  for (const Input& input : inputs_of(recipe)) {
    Result<std::vector<File>> files = hashed_files_of(input, hashing);
    if (!files) return fail(files);
    blobs.push_back(std::move(*files));
  }
  return Shipment{std::move(recipe), std::move(blobs)};
}

Result<recipe::Recipe> ship(const Shipment& shipment, remote::Node& node, const std::string& root,
                            const remote::Progress& sending) {
  if (!sending(0, 0)) return fail("cancelled");
  recipe::Recipe there = shipment.recipe;
  // Its patterns are files by now: it has the same inputs again.
  const std::vector<Input> inputs = inputs_of(there);
  const auto missing = missing_there(node, root, shipment);
  if (!missing) return fail(missing);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<File>& files = shipment.blobs[i];
    if (const Result<> sent = send(node, (*missing)[i], sending); !sent) return fail(sent);
    *inputs[i].path = blob_folder(root, files) + "/" + fs::path(files[0].name).begin()->string();
  }
  return there;
}

}  // namespace heddle::workbench
