// On the node, under the root: blobs/<sha256 of a file>, sent once each; engines/<sha256 of a
// manifest>/ with the manifest, links to the blobs, the wrapper script `heddle-engine` and `stamp`,
// which shows whether anything of it has been touched since it was checked. Libraries that the node
// has itself (node_libraries.h) are linked in place; the manifest's comments, which its hash
// leaves out, say so: "#node lib/libcublas.so.13 /usr/local/cuda/lib64/libcublas.so.13.1".
#include "remote/deploy.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/number_text.h"
#include "base/unique_name.h"
#include "remote/node_libraries.h"
#include "remote/private_root.h"

namespace heddle::remote {
namespace {

// Lists sizes and times of an engine's files and of the blobs behind its links: the same as long
// as nobody touches them (a change's time cannot be set back).
constexpr const char* kEngineLook = R"sh(
look() {
  stat -c '%N %s %.Z' -- manifest heddle-engine bin/* lib/* 2>&1
  stat -L -c '%n %s %.Z %u' -- bin/* lib/* 2>&1
}
is_whole() {  # of the id $1
  [ "$(grep -v '^#' manifest | sha256sum)" = "$1  -" ] && [ -f stamp ] && [ "$(look)" = "$(cat stamp)" ]
})sh";

// $1: engines, $2: id.
constexpr const char* kCheck = R"sh(
cd -- "$1/$2" 2> /dev/null && is_whole "$2" 2> /dev/null && echo whole
exit 0)sh";

// $1: blobs; then names, which are hashes. Removes a blob whose content is another.
constexpr const char* kSift = R"sh(
cd -- "$1" || exit 1
shift
for sum; do
  [ -e "$sum" ] || [ -L "$sum" ] || continue
  if [ -f "$sum" ] && [ ! -L "$sum" ]; then echo "$sum  $sum"; else rm -rf -- "$sum"; fi
done | sha256sum --quiet -c 2> /dev/null | sed -n 's/: FAILED.*//p' |
  while read -r sum; do rm -f -- "$sum"; done
exit 0)sh";

// $1: engines, $2: id, $3: of this deployment. The whole set is checked again in place,
// then appears at once. The second of two deployments at a time leaves the first one's in place.
constexpr const char* kAssemble = R"sh(
set -e
umask 077
cd -- "$1/$2.$3.part"
mkdir -p bin lib
while read -r sum path file; do
  case $sum:$path in
    '#node':*) ln -sf "$file" "$path" ;;
    '#'*) ;;
    *:*/*) ln -sf "../../../blobs/$sum" "$path" ;;
  esac
done < manifest
sha256sum --quiet -c manifest >&2
look > stamp
cd ..
exec 9>> ../deploy.lock
flock -w 5 9 || :
if ! (cd -- "$2" && is_whole "$2") 2> /dev/null; then
  [ ! -e "$2" ] || mv -T -- "$2" "$2.$3.old"
  mv -T -- "$2.$3.part" "$2"
fi
rm -rf -- "$2.$3.part" "$2.$3.old"
# What was interrupted long ago.
find . ../blobs -maxdepth 1 '(' -name '*.part' -o -name '*.old' ')' -mmin +1440 \
  -exec rm -rf -- {} + 2> /dev/null || :
)sh";

Command shell(const std::string& script, std::vector<std::string> arguments) {
  Command command;
  command.argv = {"/bin/sh", "-c", "LC_ALL=C; export LC_ALL\n" + script, "sh"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.deadline = std::chrono::minutes(10);  // half a gigabyte from a slow disk
  return command;
}

Result<> check_space(Node& node, const std::string& folder, uint64_t needed) {
  Command df;
  df.argv = {"df", "-Pk", folder};
  const Result<std::string> answer = node.run_checked(df);
  if (!answer) return fail(answer);
  std::istringstream text(*answer);
  std::string heading;
  std::string device;
  uint64_t total = 0;
  uint64_t used = 0;
  uint64_t available = 0;
  std::getline(text, heading);
  if (!(text >> device >> total >> used >> available)) {
    return fail("{}: the free space of {} cannot be told: {}", node.name(), folder, *answer);
  }
  if (available * 1024 >= needed) return {};
  return fail(
      "{}: the disk of {} is too full: the engine needs {} more and {} are free: free some space, "
      "or give "
      "the target another root folder",
      node.name(), folder, bytes_text(static_cast<double>(needed)),
      bytes_text(static_cast<double>(available * 1024)));
}

/// The part of the bundle that is not among the node's blobs: files that the node has itself, and
/// files still to be sent, in whole or in part.
struct Missing {
  std::map<std::string, std::string> of_node;  // see node_libraries
  std::vector<BundleFile> files;
  uint64_t bytes = 0;
  uint64_t to_send = 0;
};

Result<Missing> missing(Node& node, const Bundle& bundle, const std::string& blobs,
                        Likeness likeness) {
  const Result<std::vector<Entry>> entries = node.list(blobs);
  if (!entries) return fail(entries);
  std::map<std::string, uint64_t> present;
  for (const Entry& entry : *entries) present[entry.name] = entry.size;
  std::vector<BundleFile> absent;
  for (const BundleFile& file : bundle.files) {
    const auto whole = present.find(file.sha256);
    if (whole == present.end() || whole->second != file.size) absent.push_back(file);
  }
  auto of_node = node_libraries(node, absent, likeness);
  if (!of_node) return fail(of_node);
  Missing found;
  found.of_node = std::move(*of_node);
  for (const BundleFile& file : absent) {
    if (found.of_node.contains(file.path)) continue;
    found.files.push_back(file);
    found.bytes += file.size;
    const auto part = present.lower_bound(file.sha256 + ".");
    const bool begun = part != present.end() && part->first.starts_with(file.sha256 + ".");
    found.to_send += file.size - (begun ? std::min(part->second, file.size) : 0);
  }
  return found;
}

Result<> send(Node& node, const Missing& missing, const std::string& blobs,
              const Progress& progress) {
  std::vector<Put> puts;
  for (const BundleFile& file : missing.files)
    puts.push_back({file.from, blobs + "/" + file.sha256, file.sha256, 0700});
  return node.put_files(puts, progress);
}

/// Whether the engine is there as it was checked.
Result<bool> is_whole(Node& node, const std::string& engines, const std::string& id) {
  return node.run_checked(shell(std::string(kEngineLook) + kCheck, {engines, id}))
      .map([](const std::string& said) { return said == "whole\n"; });
}

/// Blobs of the bundle that are there and damaged are removed.
Result<> sift(Node& node, const Bundle& bundle, const std::string& blobs) {
  std::vector<std::string> arguments{blobs};
  for (const BundleFile& file : bundle.files) arguments.push_back(file.sha256);
  const Result<std::string> sifted = node.run_checked(shell(kSift, std::move(arguments)));
  return sifted ? Result<>{} : fail(sifted);
}

Result<> assemble(Node& node, const Bundle& bundle,
                  const std::map<std::string, std::string>& of_node, const std::string& engines) {
  const std::string ours = unique_name();
  const std::string part = engines + "/" + bundle.id + "." + ours + ".part";
  if (Result<> made = node.make_folders(part); !made) return made;
  std::string manifest = bundle.manifest;
  for (const auto& [path, file] : of_node) manifest += fmt::format("#node {} {}\n", path, file);
  if (const Result<> put = node.put_bytes(manifest, part + "/manifest", 0600); !put) return put;
  if (Result<> put = node.put_bytes(bundle.wrapper, part + "/heddle-engine", 0700); !put) {
    return put;
  }
  const Result<std::string> linked =
      node.run_checked(shell(std::string(kEngineLook) + kAssemble, {engines, bundle.id, ours}));
  if (!linked) return fail(linked);
  return {};
}

/// A node that cannot run the engine says so now, not in the middle of a launch.
Result<> try_start(Node& node, const std::string& engine) {
  Command help;
  help.argv = {engine, "--help"};
  const Result<Completed> answer = node.run(help);
  if (!answer) return fail(answer);
  if (answer->exit_code == 0) return {};
  return fail(
      "{}: the engine was brought there but does not start (exit code {}): {}. It needs Linux on "
      "x86-64 and "
      "a root folder from which programs may be run (no noexec mount)",
      node.name(), answer->exit_code, answer->err);
}

}  // namespace

Result<Deployed> deploy(Node& node, const std::string& root, const std::string& engine,
                        const Progress& progress, Devices devices) {
  const Result<Bundle> bundle = bundle_of(engine, devices);
  if (!bundle) return fail(bundle);
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  const std::string engines = *folder + "/engines";
  const std::string blobs = *folder + "/blobs";
  Deployed deployed{engines + "/" + bundle->id + "/heddle-engine", bundle->id, 0};
  // Heddle runs the files there: nobody else may put anything there.
  if (const Result<> made = make_private_root(node, *folder, {"engines", "blobs"}); !made)
    return fail(made);
  const Result<bool> whole = is_whole(node, engines, bundle->id);
  if (!whole) return fail(whole);
  if (*whole) return deployed;

  if (const Result<> sifted = sift(node, *bundle, blobs); !sifted) return fail(sifted);
  const Result<Missing> files = missing(node, *bundle, blobs, Likeness::content);
  if (!files) return fail(files);
  if (const Result<> space = check_space(node, blobs, files->to_send); !space) return fail(space);
  if (const Result<> sent = send(node, *files, blobs, progress); !sent) return fail(sent);
  if (const Result<> made = assemble(node, *bundle, files->of_node, engines); !made)
    return fail(made);
  if (const Result<> starts = try_start(node, deployed.engine); !starts) {
    (void)node.remove(engines + "/" + bundle->id);
    return fail(starts);
  }
  deployed.sent_bytes = files->to_send;
  return deployed;
}

Result<bool> is_deployed(Node& node, const std::string& root, const std::string& engine,
                         Devices devices) {
  const Result<Bundle> bundle = bundle_of(engine, devices);
  if (!bundle) return fail(bundle);
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  return is_whole(node, *folder + "/engines", bundle->id);
}

Result<Undeployed> look_for_engine(Node& node, const std::string& root, const std::string& engine,
                                   Devices devices) {
  const Result<Bundle> bundle = bundle_of(engine, devices);
  if (!bundle) return fail(bundle);
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  const Result<bool> whole = is_whole(node, *folder + "/engines", bundle->id);
  if (!whole) return fail(whole);
  if (*whole) return Undeployed{.id = bundle->id};
  const Result<Missing> files = missing(node, *bundle, *folder + "/blobs", Likeness::size);
  if (!files) return fail(files);
  return Undeployed{.bytes = files->to_send};
}

Result<> purge(Node& node, const std::string& root) {
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  for (const char* name : {"/engines", "/blobs"}) {
    if (Result<> removed = node.remove(*folder + name); !removed) return removed;
  }
  return {};
}

}  // namespace heddle::remote
