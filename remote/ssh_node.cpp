#include "remote/ssh_node.h"

#include <algorithm>

#include "base/excerpt.h"
#include "remote/answers.h"

namespace heddle::remote {
namespace {

constexpr Limit kOperation{std::chrono::seconds(60)};
// 80,000 names of 64 characters.
constexpr Limit kListing{.time = std::chrono::seconds(60), .bytes = size_t{8} << 20};
// As long as an ssh client with its usual keepalives: a host that answers nothing for that long is
// no longer connected, and whoever follows a run there says so.
constexpr Limit kReading{
    .time = std::chrono::seconds(9), .of = Limit::Of::silence, .most = std::chrono::minutes(2)};

// answers.h parses the output. A file that grows meanwhile does no harm.
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

bool is_full(const std::string& message) {
  return message.find("No space left on device") != std::string::npos ||
         message.find("Disk quota exceeded") != std::string::npos;
}

}  // namespace

Source source_of(std::string bytes) {
  return [bytes = std::move(bytes), done = size_t{0}](char* buffer,
                                                      size_t size) mutable -> Result<size_t> {
    const size_t n = std::min(size, bytes.size() - done);
    std::copy_n(bytes.data() + done, n, buffer);
    done += n;
    return n;
  };
}

SshNode::SshNode(std::shared_ptr<SshSession> session)
    : Node(session->host_name()), session_(std::move(session)), home_(session_->greeting().home) {}

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
  const std::lock_guard lock(home_asked_);
  if (!home_.empty()) return home_;
  const Result<std::string> folder =
      script(R"sh(cd && pwd -P)sh", {}, "the user's home folder cannot be entered", kOperation);
  if (!folder) return fail(folder);
  home_ = folder->substr(0, folder->find('\n'));
  return home_;
}

}  // namespace heddle::remote
