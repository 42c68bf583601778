#include "remote/local_node.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/new_file.h"
#include "base/plain_file.h"
#include "base/private_folder.h"
#include "base/read_file.h"
#include "remote/sha256.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

Entry entry_of(const std::string& name, const struct stat& status) {
  return {name, S_ISDIR(status.st_mode) ? 0 : static_cast<uint64_t>(status.st_size),
          static_cast<double>(status.st_mtim.tv_sec) +
              1e-9 * static_cast<double>(status.st_mtim.tv_nsec),
          S_ISDIR(status.st_mode)};
}

Result<> take_place(NewFile file, int mode) {
  if (fchmod(file.fd(), static_cast<mode_t>(mode)) != 0)
    return fail("{}: its mode cannot be changed: {}", file.part(), reason());
  return file.take_place();
}

}  // namespace

Result<Completed> LocalNode::run(const Command& command) {
  Result<Completed> completed = process::run(command);
  if (!completed) return fail("{}: {}", name(), completed.error().message);
  return completed;
}

Result<> LocalNode::put_file(const Put& put, const Progress& progress) {
  auto in = PlainFile::open_existing(put.from);
  if (!in) return fail(in);
  Result<NewFile> file = NewFile::create(put.to);
  if (!file) return fail("{}: {}", name(), file.error().message);
  uint64_t done = 0;
  while (done < in->size()) {
    const auto bytes = in->read(1 << 20);
    if (!bytes) return fail(bytes);
    if (bytes->empty()) break;  // it was cut meanwhile: its hash says so
    if (const Result<> written = file->write(*bytes); !written)
      return fail("{}: {}", name(), written.error().message);
    done += bytes->size();
    if (progress && !progress(done, in->size())) return fail("stopped while writing {}", put.to);
  }
  const Result<std::string> hash = sha256_of_file(file->part());
  if (!hash) return fail(hash);
  if (*hash != put.sha256)
    return fail("{}: {} arrived damaged: its SHA-256 is {}, not {}", name(), put.to, *hash,
                put.sha256);
  return take_place(std::move(*file), put.mode);
}

Result<> LocalNode::put_files(const std::vector<Put>& puts, const Progress& progress) {
  std::error_code error;
  uint64_t total = 0, before = 0;
  for (const Put& put : puts) total += fs::exists(put.from, error) ? fs::file_size(put.from) : 0;
  for (const Put& put : puts) {
    uint64_t size = 0;
    const auto of_all = [&](uint64_t done, uint64_t) {
      size = done;
      return !progress || progress(before + done, total);
    };
    if (Result<> done = put_file(put, of_all); !done) return done;
    before += size;
  }
  return {};
}

Result<> LocalNode::put_bytes(const std::string& bytes, const std::string& to, int mode) {
  Result<NewFile> file = NewFile::create(to);
  Result<> written = file ? file->write(bytes) : fail(file);
  if (written) written = take_place(std::move(*file), mode);
  return written ? written : fail("{}: {}", name(), written.error().message);
}

Result<std::vector<std::optional<std::string>>> LocalNode::read(const std::vector<Range>& ranges) {
  std::vector<std::optional<std::string>> pieces;
  pieces.reserve(ranges.size());
  for (const Range& range : ranges)
    pieces.push_back(read_part(range.path, range.offset, range.max_bytes));
  return pieces;
}

Result<std::vector<Entry>> LocalNode::list(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  if (!fs::exists(folder, error)) return entries;
  for (fs::directory_iterator next(folder, error), end; !error && next != end;
       next.increment(error)) {
    struct stat status {};
    if (::stat(next->path().c_str(), &status) != 0) continue;
    entries.push_back(entry_of(next->path().filename().string(), status));
  }
  if (error) return fail("{}: cannot list {}: {}", name(), folder, error.message());
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

Result<std::optional<Entry>> LocalNode::stat(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::optional<Entry>();
  return std::optional(entry_of(fs::path(path).filename().string(), status));
}

Result<> LocalNode::make_folders(const std::string& path) {
  const Result<> made = make_private_folders(path);
  return made ? made : fail("{}: {}", name(), made.error().message);
}

Result<> LocalNode::remove(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return fail("{}: cannot remove {}: {}", name(), path, error.message());
  return {};
}

Result<std::string> LocalNode::home() {
  const char* folder = std::getenv("HOME");
  if (!folder || !*folder) return fail("{}: HOME is not set", name());
  return std::string(folder);
}

}  // namespace heddle::remote
