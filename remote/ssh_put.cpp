// Files on their way to a host: many in a few programs, since each costs a login shell.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/excerpt.h"
#include "base/unique_name.h"
#include "remote/ssh_node.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

constexpr Limit kLooking{std::chrono::seconds(60)};
constexpr Limit kUpload{std::chrono::seconds(60), Limit::Of::silence};
constexpr Limit kHashing{std::chrono::minutes(30)};  // gigabytes from a slow disk

// Parts are named as base/new_file.h names them, and locked by who writes them.
// Two arguments a file: its name, a new part's name. Prints the size and name of what an earlier
// attempt has left, or of the new one; at last whether there is a gzip.
constexpr const char* kFindParts = R"sh(
while [ $# -ge 2 ]; do
  size=0 found=$2
  for part in "$1".????????????????.part; do
    # A broken connection's program may still write what had come.
    [ -f "$part" ] && [ ! -L "$part" ] && [ -O "$part" ] && flock -w 3 "$part" true || continue
    size=$(stat -c %s -- "$part") && found=$part && break
  done
  printf '%s %s\0' "$size" "$found"
  shift 2
done
command -v gzip > /dev/null && printf gzip
printf '\0')sh";

// Three arguments a file: its part, the part's size as it was found, how many bytes come for it, in
// frames (frames.h). Another transfer that is writing the part keeps it.
constexpr const char* kAppend = R"sh(
receive() {
  left=$1
  while [ "$left" -gt 0 ]; do
    read -r plain packed || { echo "it was cut off" >&2; exit 1; }
    if [ "$packed" -eq 0 ]; then head -c "$plain" >&9 || exit 1
    else head -c "$packed" | gzip -dc >&9 || exit 1
    fi
    left=$((left - plain))
  done
}
take() {
  [ -e "$1" ] || { [ "$2" -eq 0 ] && (set -C; : > "$1"); } || return 1
  exec 9>> "$1" || exit 1
  # Another transfer may have put what was opened in its place: nothing is added to that.
  flock -n 9 && [ "$1" -ef /proc/$$/fd/9 ] || return 1
  [ "$(stat -c %s - <&9)" -eq "$2" ] && return 0
  [ -s "$1" ] || rm -f -- "$1"  # made by the line above: what was there is in its place by now
  return 1
}
umask 077
while [ $# -ge 3 ]; do
  if take "$1" "$2"; then
    receive "$3"
    [ "$(stat -c %s - <&9)" -eq $(($2 + $3)) ] || { echo "it was cut off" >&2; exit 1; }
    echo sent
  else
    exec 9> /dev/null
    receive "$3"
    echo busy
  fi
  exec 9>&-
  shift 3
done)sh";

// Removes the parts of the file $1 that nobody writes.
constexpr const char* kSweep = R"sh(
sweep() {
  for part in "$1".????????????????.part; do
    [ -f "$part" ] && [ ! -L "$part" ] && flock -n "$part" rm -f -- "$part"
  done
  return 0
}
)sh";

// $1: the file, $2: its mode, $3: the part, $4: its size. Cut off is not whole.
constexpr const char* kPutBytes = R"sh(
umask 077
trap 'rm -f -- "$3"' EXIT
set -C
exec 9> "$3" || exit 1
flock -n 9
cat >&9 || exit 1
[ "$(stat -c %s - <&9)" -eq "$4" ] || { echo "it was cut off" >&2; exit 1; }
chmod "$2" "$3" && mv -f -- "$3" "$1" && sweep "$1")sh";

// Four arguments a file: its name, hash, mode and part. Another transfer may have finished it.
// Prints a line a file: "whole", or the hash of what is damaged, which is thrown away.
// OpenSSL, where the host has it, hashes several times as fast as coreutils.
constexpr const char* kFinish = R"sh(
if [ "$(printf abc | openssl dgst -sha256 -r 2> /dev/null)" = \
  'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad *stdin' ]
then hash_of() { openssl dgst -sha256 -r; }
else hash_of() { sha256sum; }
fi
finish() {
  file=$4
  if ! sum=$(hash_of < "$file") 2> /dev/null; then
    file=$1
    sum=$(hash_of < "$file") || return 1
  fi
  if [ "${sum%% *}" != "$2" ]; then
    echo "${sum%% *}"
    rm -f -- "$file"
    return 0
  fi
  [ "$file" = "$1" ] || { chmod "$3" "$4" && mv -f -- "$4" "$1"; } || [ -e "$1" ] || return 1
  sweep "$1"
  echo whole
}
while [ $# -ge 4 ]; do
  finish "$1" "$2" "$3" "$4" || exit 1
  shift 4
done)sh";

std::string new_part(const std::string& to) { return fmt::format("{}.{}.part", to, unique_name()); }

void begin_again(Upload& upload) {
  upload.part = new_part(upload.put->to);
  upload.offset = 0;
}

std::string octal(int mode) { return fmt::format("{:o}", mode); }

/// The answer's words up to each `end`; nothing where there are not as many as files.
std::optional<std::vector<std::string>> words_in(std::string_view answer, char end, size_t count) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = answer.find(end)) != answer.npos; answer.remove_prefix(at + 1))
    words.emplace_back(answer.substr(0, at));
  if (words.size() != count) return std::nullopt;
  return words;
}

}  // namespace

namespace {

/// "cannot write …", for the front of errors.
std::string cannot_write(const auto& uploads) {
  const std::string& first = uploads.front().put->to;
  if (uploads.size() == 1) return "cannot write " + first;
  return fmt::format("cannot write {} and {} more", first, uploads.size() - 1);
}

}  // namespace

Result<std::vector<Upload>> SshNode::find_parts(const std::vector<Put>& puts) {
  std::vector<Upload> uploads;
  std::vector<std::string> arguments;
  for (const Put& put : puts) {
    std::error_code error;
    const uint64_t total = fs::file_size(put.from, error);
    if (error) return fail("cannot read {}: {}", put.from, error.message());
    uploads.push_back({.put = &put, .part = {}, .offset = 0, .total = total});
    arguments.insert(arguments.end(), {put.to, new_part(put.to)});
  }
  const std::string what = cannot_write(uploads);
  const Result<std::string> found = script(kFindParts, arguments, what, kLooking);
  if (!found) return fail(found);
  auto words = words_in(*found, '\0', uploads.size() + 1);
  packs_ = words && words->back() == "gzip";
  for (size_t i = 0; i < uploads.size(); ++i) {
    Upload& upload = uploads[i];
    if (words) upload.part = (*words)[i].substr((*words)[i].find(' ') + 1);
    if (!upload.part.starts_with(upload.put->to + "."))
      return fail("{}: {}: an answer that is none: {}", name(), what, excerpt(*found));
    upload.offset = std::strtoull((*words)[i].c_str(), nullptr, 10);
    if (upload.offset <= upload.total) continue;
    if (Result<> removed = remove(upload.part); !removed) return fail(removed);
    begin_again(upload);
  }
  return uploads;
}

/// Whether each has arrived; else somebody else is writing its part.
Result<std::vector<bool>> SshNode::append(const std::vector<Upload>& uploads,
                                          const Progress& progress) {
  uint64_t total = 0, done = 0;
  std::vector<std::string> arguments;
  for (const Upload& upload : uploads) {
    total += upload.total;
    done += upload.offset;
    arguments.insert(arguments.end(), {upload.part, std::to_string(upload.offset),
                                       std::to_string(upload.total - upload.offset)});
  }
  Frames frames(uploads, packs_, [&](const Put& put, uint64_t bytes) -> Result<> {
    if (progress && !progress(done, total)) return fail("stopped while sending {}", put.to);
    done += bytes;
    return {};
  });
  const Source source = [&](char* buffer, size_t size) { return frames.next(buffer, size); };
  const std::string what = cannot_write(uploads);
  const Result<std::string> sent = script(kAppend, arguments, what, kUpload, source);
  if (!sent) return fail(sent);
  const auto words = words_in(*sent, '\n', uploads.size());
  if (!words) return fail("{}: {}: an answer that is none: {}", name(), what, excerpt(*sent));
  std::vector<bool> arrived;
  for (const std::string& word : *words) arrived.push_back(word == "sent");
  return arrived;
}

/// Puts what has arrived into its place. Gives of each the hash of what was damaged; empty: whole.
Result<std::vector<std::string>> SshNode::finish(const std::vector<Upload>& uploads) {
  std::vector<std::string> arguments;
  for (const Upload& upload : uploads)
    arguments.insert(arguments.end(),
                     {upload.put->to, upload.put->sha256, octal(upload.put->mode), upload.part});
  const std::string what = cannot_write(uploads);
  const Result<std::string> finished =
      script(std::string(kSweep) + kFinish, arguments, what, kHashing);
  if (!finished) return fail(finished);
  auto words = words_in(*finished, '\n', uploads.size());
  if (!words) return fail("{}: {}: an answer that is none: {}", name(), what, excerpt(*finished));
  for (std::string& word : *words)
    if (word == "whole") word.clear();
  return std::move(*words);
}

Result<> SshNode::put_files(const std::vector<Put>& puts, const Progress& progress) {
  if (puts.empty()) return {};
  Result<std::vector<Upload>> found = find_parts(puts);
  if (!found) return fail(found);
  uint64_t total = 0, settled = 0;
  for (const Upload& upload : *found) total += upload.total;
  const Progress of_all = [&](uint64_t done, uint64_t) {
    return !progress || progress(settled + done, total);
  };
  // A part that another transfer writes, or that was not of this file, is left: with a new one.
  std::vector<Upload> uploads = std::move(*found);
  for (bool again = false; !uploads.empty(); again = true) {
    const Result<std::vector<bool>> arrived = append(uploads, of_all);
    if (!arrived) return fail(arrived);
    std::vector<Upload> sent, rest;
    for (size_t i = 0; i < uploads.size(); ++i) ((*arrived)[i] ? sent : rest).push_back(uploads[i]);
    if (again && !rest.empty())
      return fail("{}: {}: somebody else writes there: try again", name(), cannot_write(rest));
    const Result<std::vector<std::string>> damaged =
        sent.empty() ? std::vector<std::string>() : finish(sent);
    if (!damaged) return fail(damaged);
    for (size_t i = 0; i < sent.size(); ++i) {
      if ((*damaged)[i].empty()) {
        settled += sent[i].total;
      } else if (sent[i].offset > 0) {
        rest.push_back(sent[i]);
      } else {
        return fail("{}: {}: it arrived damaged (SHA-256 {}) and was thrown away: try again",
                    name(), cannot_write(std::vector{sent[i]}), (*damaged)[i].substr(0, 64));
      }
    }
    for (Upload& upload : rest) begin_again(upload);
    uploads = std::move(rest);
  }
  if (progress) progress(total, total);
  return {};
}

Result<> SshNode::put_file(const Put& put, const Progress& progress) {
  return put_files({put}, progress);
}

Result<> SshNode::put_bytes(const std::string& bytes, const std::string& to, int mode) {
  const Result<std::string> sent =
      script(std::string(kSweep) + kPutBytes,
             {to, octal(mode), new_part(to), std::to_string(bytes.size())},
             fmt::format("cannot write {}", to), kUpload, source_of(bytes));
  if (!sent) return fail(sent);
  return {};
}

}  // namespace heddle::remote
