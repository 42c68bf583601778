// On the node, under the root: blobs/<sha256 of a file>, sent once each; engines/<sha256 of a
// manifest>/ with the manifest, links to the blobs and the wrapper script `heddle-engine`.
#include "remote/deploy.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "remote/bundle.h"
#include "remote/private_root.h"

namespace heddle::remote {
namespace {

// $1: engines, $2: id. The whole set is checked once more where it lies, then appears at once.
constexpr const char* kAssemble = R"sh(
set -e
cd -- "$1/$2.part"
mkdir -p bin lib
while read -r sum path; do
  case $path in */*) ln -sf "../../../blobs/$sum" "$path" ;; esac
done < manifest
sha256sum --quiet -c manifest >&2
cd ..
[ -d "$2" ] || mv -- "$2.part" "$2"
rm -rf -- "$2.part"
)sh";

std::string size_text(uint64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.0f} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
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
      node.name(), folder, size_text(needed), size_text(available * 1024));
}

/// Files of the bundle that are not whole on the node, and how much of them is still to be sent.
struct Missing {
  std::vector<BundleFile> files;
  uint64_t bytes = 0;
  uint64_t to_send = 0;
};

Result<Missing> missing(Node& node, const Bundle& bundle, const std::string& blobs) {
  const Result<std::vector<Entry>> entries = node.list(blobs);
  if (!entries) return fail(entries);
  std::map<std::string, uint64_t> present;
  for (const Entry& entry : *entries) present[entry.name] = entry.size;
  Missing found;
  for (const BundleFile& file : bundle.files) {
    const auto whole = present.find(file.sha256);
    if (whole != present.end() && whole->second == file.size) continue;
    found.files.push_back(file);
    found.bytes += file.size;
    const auto part = present.find(file.sha256 + ".part");
    found.to_send += file.size - (part == present.end() ? 0 : std::min(part->second, file.size));
  }
  return found;
}

Result<> send(Node& node, const Missing& missing, const std::string& blobs,
              const Progress& progress) {
  uint64_t before = 0;
  for (const BundleFile& file : missing.files) {
    const Progress of_all = [&](uint64_t done, uint64_t) {
      return !progress || progress(before + done, missing.bytes);
    };
    const Put put{file.from, blobs + "/" + file.sha256, file.sha256, 0700};
    if (Result<> sent = node.put_file(put, of_all); !sent) return sent;
    before += file.size;
  }
  return {};
}

Result<> assemble(Node& node, const Bundle& bundle, const std::string& engines) {
  const std::string part = engines + "/" + bundle.id + ".part";
  if (Result<> made = node.make_folders(part); !made) return made;
  if (const Result<> put = node.put_bytes(bundle.manifest, part + "/manifest", 0600); !put)
    return put;
  if (Result<> put = node.put_bytes(bundle.wrapper, part + "/heddle-engine", 0700); !put) {
    return put;
  }
  Command link;
  link.argv = {"/bin/sh", "-c", kAssemble, "sh", engines, bundle.id};
  link.deadline = std::chrono::minutes(5);
  const Result<std::string> linked = node.run_checked(link);
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
                        const Progress& progress) {
  if (node.is_this_machine()) return Deployed{engine, {}, 0};

  const Result<Bundle> bundle = bundle_of(engine);
  if (!bundle) return fail(bundle);
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  const std::string engines = *folder + "/engines";
  const std::string blobs = *folder + "/blobs";
  Deployed deployed{engines + "/" + bundle->id + "/heddle-engine", bundle->id, 0};
  const Result<std::optional<Entry>> there = node.stat(deployed.engine);
  if (!there) return fail(there);
  if (*there) return deployed;

  if (const Result<> made = make_private_root(node, *folder); !made) return fail(made);
  for (const std::string& path : {engines, blobs}) {
    if (const Result<> made = node.make_folders(path); !made) return fail(made);
  }
  const Result<Missing> files = missing(node, *bundle, blobs);
  if (!files) return fail(files);
  if (const Result<> space = check_space(node, blobs, files->to_send); !space) return fail(space);
  if (const Result<> sent = send(node, *files, blobs, progress); !sent) return fail(sent);
  if (const Result<> made = assemble(node, *bundle, engines); !made) return fail(made);
  if (const Result<> starts = try_start(node, deployed.engine); !starts) {
    (void)node.remove(engines + "/" + bundle->id);
    return fail(starts);
  }
  deployed.sent_bytes = files->to_send;
  return deployed;
}

Result<uint64_t> bytes_to_deploy(Node& node, const std::string& root, const std::string& engine) {
  if (node.is_this_machine()) return 0;
  const Result<Bundle> bundle = bundle_of(engine);
  if (!bundle) return fail(bundle);
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  const auto there = node.stat(*folder + "/engines/" + bundle->id + "/heddle-engine");
  if (!there) return fail(there);
  if (*there) return 0;
  const Result<Missing> files = missing(node, *bundle, *folder + "/blobs");
  if (!files) return fail(files);
  return files->to_send;
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
