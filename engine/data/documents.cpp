#include "engine/data/documents.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/read_json.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;
using Take = std::function<Result<>(std::string_view)>;

// A document is a line: a book takes some megabytes.
constexpr Budget kDocumentBudget{.bytes = size_t{1} << 30};

bool is_text(const fs::path& path) {
  return path.extension() == ".txt" || path.extension() == ".jsonl";
}

/// The text files below a folder, in the order of their paths on any file system.
Result<std::vector<fs::path>> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (entry->is_regular_file(error) && is_text(entry->path())) files.push_back(entry->path());
  if (error) return fail("{}: {}", folder.string(), error.message());
  if (files.empty()) return fail("{}: no .txt or .jsonl file in this folder", folder.string());
  std::ranges::sort(files);
  return files;
}

Result<> read_jsonl(std::istream& file, const fs::path& path, const Take& take) {
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto document = read_json(line, kDocumentBudget);
    if (!document || !document->is_object() || !document->contains("text") ||
        !document->at("text").is_string())
      return fail("{}:{}: not a JSON object with a text in \"text\"{}", path.string(), number,
                  document ? "" : ": " + document.error().message);
    if (auto done = take(document->at("text").get_ref<const std::string&>()); !done) return done;
  }
  return {};
}

Result<> read_document_file(const fs::path& path, const Take& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("{}: cannot be opened", path.string());
  if (path.extension() == ".jsonl") {
    if (auto done = read_jsonl(file, path, take); !done) return done;
    if (file.bad()) return fail("{}: cannot be read to its end", path.string());
    return {};
  }
  std::ostringstream text;
  const bool empty = file.peek() == std::ifstream::traits_type::eof() && !file.bad();
  if (!empty && !(text << file.rdbuf())) return fail("{}: cannot be read", path.string());
  return take(text.view());
}

}  // namespace

Result<> for_each_document(const std::vector<std::string>& paths, const Take& take) {
  for (const fs::path path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return fail("{}: no such file or folder", path.string());
    std::vector<fs::path> files = {path};
    if (fs::is_directory(status)) {
      auto below = files_below(path);
      if (!below) return fail(below);
      files = std::move(*below);
    } else if (!is_text(path)) {
      return fail("{}: not a text file; valid: .txt, .jsonl, a folder of them", path.string());
    }
    for (const fs::path& file : files)
      if (auto done = read_document_file(file, take); !done) return done;
  }
  return {};
}

}  // namespace heddle::data
