#include "remote/ssh_node.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/excerpt.h"
#include "base/plain_file.h"
#include "base/unique_name.h"
#include "remote/answers.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

constexpr Limit kOperation{std::chrono::seconds(60)};
// 80,000 names of 64 characters.
constexpr Limit kListing{.time = std::chrono::seconds(60), .bytes = size_t{8} << 20};
// As long as an ssh client with its usual keepalives: a host that answers nothing for that long is
// no longer connected, and whoever follows a run there says so.
constexpr Limit kReading{
    .time = std::chrono::seconds(9), .of = Limit::Of::silence, .most = std::chrono::minutes(2)};
constexpr Limit kUpload{std::chrono::seconds(60), Limit::Of::silence};
constexpr Limit kHashing{std::chrono::minutes(10)};  // half a gigabyte from a slow disk

// What they print: see answers.h. A file that grows meanwhile does no harm.
constexpr const char* kRead = R"sh(
while [ $# -ge 3 ]; do
  if [ -f "$1" ]; then
    size=$(wc -c < "$1") || exit 1
    n=$((size - $2))
    [ "$n" -gt "$3" ] && n=$3
    [ "$n" -lt 0 ] && n=0
    echo "$n"
    [ "$n" -gt 0 ] && tail -c "+$(($2 + 1))" -- "$1" | head -c "$n"
  else
    echo -
  fi
  shift 3
done
exit 0)sh";

constexpr const char* kList = R"sh(
[ -e "$1" ] || exit 0
cd -- "$1" || exit 1
for name in .[!.]* ..?* *; do
  [ -e "$name" ] && printf '%s\0' "$name"
done | xargs -0 -r stat -L --printf='%f %s %.Y %n\0' --
exit 0)sh";

constexpr const char* kStat = R"sh(
stat -L --printf='%f %s %.Y %n\0' -- "$1" 2> /dev/null && exit 0
[ -e "$1" ] || exit 0
stat -L --printf='%f %s %.Y %n\0' -- "$1")sh";

// Parts are named as base/new_file.h names them, and locked by who writes them.
// $1: the file, $2: a new part. Prints the size and name of what an earlier attempt has left, or of
// the new one.
constexpr const char* kFindPart = R"sh(
for part in "$1".????????????????.part; do
  [ -f "$part" ] && [ ! -L "$part" ] && [ -O "$part" ] && flock -n "$part" true &&
    size=$(stat -c %s -- "$part") && printf '%s %s' "$size" "$part" && exit 0
done
printf '0 %s' "$2")sh";

// $1: the part, $2: its size as it was found. Somebody else who is writing it keeps it.
constexpr const char* kAppend = R"sh(
umask 077
[ -e "$1" ] || { [ "$2" -eq 0 ] && (set -C; : > "$1"); } || { echo busy; exit 0; }
exec 9>> "$1" || exit 1
# Another transfer may have put what was opened in its place: nothing is added to that.
flock -n 9 && [ "$1" -ef /proc/$$/fd/9 ] || { echo busy; exit 0; }
if [ "$(stat -c %s - <&9)" -ne "$2" ]; then
  [ -s "$1" ] || rm -f -- "$1"  # made by the line above: what was there is in its place by now
  echo busy
  exit 0
fi
cat >&9)sh";

// Of the file $1 removes the parts that nobody writes.
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

// $1: the file, $2: its hash, $3: its mode, $4: the part. Another transfer may have finished it.
// Prints the hash of what is damaged, and throws it away.
constexpr const char* kFinish = R"sh(
file=$4
if ! sum=$(sha256sum < "$file") 2> /dev/null; then
  file=$1
  sum=$(sha256sum < "$file") || exit 1
fi
if [ "${sum%% *}" != "$2" ]; then
  echo "${sum%% *}"
  rm -f -- "$file"
  exit 0
fi
[ "$file" = "$1" ] || { chmod "$3" "$4" && mv -f -- "$4" "$1"; } || [ -e "$1" ] || exit 1
sweep "$1")sh";

bool is_full(const std::string& message) {
  return message.find("No space left on device") != std::string::npos ||
         message.find("Disk quota exceeded") != std::string::npos;
}

Source source_of(std::string bytes) {
  return [bytes = std::move(bytes), done = size_t{0}](char* buffer,
                                                      size_t size) mutable -> Result<size_t> {
    const size_t n = std::min(size, bytes.size() - done);
    std::copy_n(bytes.data() + done, n, buffer);
    done += n;
    return n;
  };
}

std::string new_part(const std::string& to) { return fmt::format("{}.{}.part", to, unique_name()); }

std::string octal(int mode) { return fmt::format("{:o}", mode); }

}  // namespace

SshNode::SshNode(std::unique_ptr<SshSession> session)
    : Node(session->host_name()), session_(std::move(session)) {}

Result<Completed> SshNode::run(const Command& command) {
  const Source input = command.input.empty() ? Source() : source_of(command.input);
  return session_->execute(command.argv, input,
                           {.time = command.deadline, .bytes = command.most_output});
}

Result<std::string> SshNode::script(const std::string& text, std::vector<std::string> arguments,
                                    const std::string& what, Limit limit, Source source) {
  std::vector<std::string> argv{"/bin/sh", "-c", "LC_ALL=C; export LC_ALL\n" + text, "sh"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Result<Completed> completed = session_->execute(argv, std::move(source), limit);
  if (!completed) return fail(completed);
  if (completed->exit_code == 0) return std::move(completed->out);
  if (is_full(completed->err)) {
    return fail(
        "{}: {}: the disk there is full: free some space, or give the target another root "
        "folder",
        name(), what);
  }
  return fail("{}: {}: {}", name(), what, excerpt(completed->err));
}

/// Sends the file from `offset` on to the end of `part`. False: somebody else is writing that.
Result<bool> SshNode::append(const Put& put, const std::string& part, uint64_t offset,
                             uint64_t total, const Progress& progress) {
  auto file = PlainFile::open_existing(put.from);
  if (!file) return fail(file);
  file->skip_to(offset);
  uint64_t done = offset;
  const Source source = [&](char* buffer, size_t size) -> Result<size_t> {
    if (progress && !progress(done, total)) return fail("stopped while sending {}", put.to);
    const auto bytes = file->read(size);
    if (!bytes) return fail(bytes);
    std::memcpy(buffer, bytes->data(), bytes->size());
    done += bytes->size();
    return bytes->size();
  };
  const Result<std::string> sent = script(kAppend, {part, std::to_string(offset)},
                                          fmt::format("cannot write {}", put.to), kUpload, source);
  if (!sent) return fail(sent);
  return *sent != "busy\n";
}

Result<> SshNode::put_file(const Put& put, const Progress& progress) {
  std::error_code error;
  const uint64_t total = fs::file_size(put.from, error);
  if (error) return fail("cannot read {}: {}", put.from, error.message());
  const Result<std::string> found = script(kFindPart, {put.to, new_part(put.to)},
                                           fmt::format("cannot write {}", put.to), kOperation);
  if (!found) return fail(found);
  uint64_t offset = std::strtoull(found->c_str(), nullptr, 10);
  std::string part = found->substr(found->find(' ') + 1);
  if (!part.starts_with(put.to + "."))
    return fail("{}: cannot write {}: an answer that is none: {}", name(), put.to, excerpt(*found));
  if (offset > total) {
    if (Result<> removed = remove(part); !removed) return removed;
    offset = 0;
  }
  Result<bool> sent = append(put, part, offset, total, progress);
  if (sent && !*sent) {
    part = new_part(put.to);
    sent = append(put, part, offset = 0, total, progress);
  }
  if (!sent) return fail(sent);
  Result<std::string> damaged = finish(put, part);
  // What an earlier attempt had left was not of this file; another transfer may write there by now.
  if (damaged && !damaged->empty() && offset > 0) {
    part = new_part(put.to);
    if (sent = append(put, part, 0, total, progress); !sent) return fail(sent);
    damaged = finish(put, part);
  }
  if (!damaged) return fail(damaged);
  if (!damaged->empty())
    return fail(
        "{}: cannot write {}: it arrived damaged (SHA-256 {}) and was thrown away: try again",
        name(), put.to, damaged->substr(0, 64));
  if (progress) progress(total, total);
  return {};
}

/// Puts what has been sent into its place; the hash of what is damaged, empty: nothing.
Result<std::string> SshNode::finish(const Put& put, const std::string& part) {
  return script(std::string(kSweep) + kFinish, {put.to, put.sha256, octal(put.mode), part},
                fmt::format("cannot write {}", put.to), kHashing);
}

Result<> SshNode::put_bytes(const std::string& bytes, const std::string& to, int mode) {
  const Result<std::string> sent =
      script(std::string(kSweep) + kPutBytes,
             {to, octal(mode), new_part(to), std::to_string(bytes.size())},
             fmt::format("cannot write {}", to), kUpload, source_of(bytes));
  if (!sent) return fail(sent);
  return {};
}

Result<std::vector<std::optional<std::string>>> SshNode::read(const std::vector<Range>& ranges) {
  std::vector<std::string> arguments;
  for (const Range& range : ranges) {
    arguments.insert(arguments.end(),
                     {range.path, std::to_string(range.offset), std::to_string(range.max_bytes)});
  }
  Limit limit = kReading;
  for (const Range& range : ranges) limit.bytes += range.max_bytes;
  const Result<std::string> answer = script(kRead, arguments, "cannot read the files", limit);
  if (!answer) return fail(answer);
  auto pieces = pieces_from(*answer, ranges);
  return pieces ? std::move(pieces) : fail("{}: {}", name(), pieces.error().message);
}

Result<std::vector<Entry>> SshNode::list(const std::string& folder) {
  const Result<std::string> answer =
      script(kList, {folder}, fmt::format("cannot list {}", folder), kListing);
  if (!answer) return fail(answer);
  std::vector<Entry> entries = entries_from(*answer);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

Result<std::optional<Entry>> SshNode::stat(const std::string& path) {
  const Result<std::string> answer =
      script(kStat, {path}, fmt::format("cannot look at {}", path), kOperation);
  if (!answer) return fail(answer);
  const std::vector<Entry> entries = entries_from(*answer);
  return entries.empty() ? std::optional<Entry>() : std::optional(entries.front());
}

Result<> SshNode::make_folders(const std::string& path) {
  const Result<std::string> made =
      script(R"sh(umask 077; mkdir -p -- "$1")sh", {path},
             fmt::format("cannot make the folder {}", path), kOperation);
  if (!made) return fail(made);
  return {};
}

Result<> SshNode::remove(const std::string& path) {
  const Result<std::string> removed =
      script(R"sh(rm -rf -- "$1")sh", {path}, fmt::format("cannot remove {}", path), kOperation);
  if (!removed) return fail(removed);
  return {};
}

Result<std::string> SshNode::home() {
  const Result<std::string> folder =
      script(R"sh(cd && pwd -P)sh", {}, "the user's home folder cannot be entered", kOperation);
  if (!folder) return fail(folder);
  return folder->substr(0, folder->find('\n'));
}

}  // namespace heddle::remote
