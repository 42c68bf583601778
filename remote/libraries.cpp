#include "remote/libraries.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "base/process.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;

/// Libraries that a library opens by name when it runs; the loader does not know them. With a
/// "*": all of that name next to it.
struct Opens {
  std::string_view opener;
  std::string_view opened;
};

// NCCL opens libibverbs and its plug-ins for networks: those fit the node's own network drivers,
// and without them it takes sockets.
constexpr Opens kOpens[] = {
    {"libtorch_cuda.so", "libcaffe2_nvrtc.so"},      {"libcudnn.so.9", "libcudnn_*.so.9"},
    {"libcudnn_graph.so.9", "libnvrtc.so.13"},       {"libcublasLt.so.13", "libnvrtc.so.13"},
    {"libnvrtc.so.13", "libnvrtc-builtins.so.13.*"},
};

/// Part of the driver, whose version matches the node's kernel module.
bool is_drivers(std::string_view name) {
  return name.starts_with("libcuda.so.") || name.starts_with("libnvidia-");
}

/// "\tlibm.so.6 => /lib/…/libm.so.6 (0x…)", "\t/lib64/ld-….so.2 (0x…)", "\tlibx.so => not found".
/// Libraries that are not found have no file.
std::vector<Library> read_trace(const std::string& text) {
  std::vector<Library> libraries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (const size_t address = line.rfind(" (0x"); address != std::string::npos)
      line.resize(address);
    const size_t arrow = line.find(" => ");
    const std::string file = arrow == std::string::npos ? line : line.substr(arrow + 4);
    const std::string name = fs::path(line.substr(0, arrow)).filename();
    if (file.starts_with('/')) libraries.push_back({name, file});
    if (file == "not found") libraries.push_back({name, ""});
    // Else it is the kernel's own vdso.
  }
  return libraries;
}

Result<std::vector<Library>> trace(const std::vector<std::string>& argv, const std::string& of) {
  process::Command command;
  command.argv = argv;
  const Result<process::Completed> traced = process::run(command);
  if (!traced) return fail(traced);
  if (traced->exit_code != 0)
    return fail("the libraries of {} cannot be told: {}", of, traced->err);
  return read_trace(traced->out);
}

/// The files that match `pattern`, next to the opener or else next to one of the others.
std::vector<Library> find_opened(std::string_view pattern, const Library& opener,
                                 const std::vector<Library>& others) {
  std::vector<fs::path> folders{fs::path(opener.file).parent_path()};
  for (const Library& library : others) folders.push_back(fs::path(library.file).parent_path());
  for (const fs::path& folder : folders) {
    std::vector<Library> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      if (fnmatch(std::string(pattern).c_str(), name.c_str(), 0) == 0)
        found.push_back({name, entry.path()});
    }
    if (!found.empty()) return found;
  }
  return {};
}

/// Follows what a plug-in loads and opens to its end.
class Closure {
 public:
  Closure(std::string loader, const std::vector<Library>& program) : loader_(std::move(loader)) {
    for (const Library& library : program) known_.insert(library.name);
  }

  Result<std::vector<Library>> of(const std::string& plugin) && {
    if (const Result<> opened = open({fs::path(plugin).filename(), plugin}); !opened)
      return fail(opened);
    // Grows meanwhile.
    for (size_t next = 0; next < libraries_.size(); ++next)
      if (const Result<> followed = open_all_of(Library(libraries_[next])); !followed)
        return fail(followed);
    return std::move(libraries_);
  }

 private:
  bool add(const Library& library) {
    const bool is_new = known_.insert(library.name).second;
    if (is_new) libraries_.push_back(library);
    return is_new;
  }

  /// A library, with all that it loads.
  Result<> open(const Library& library) {
    if (!add(library)) return {};
    const Result<std::vector<Library>> loaded =
        trace({"env", "LD_TRACE_LOADED_OBJECTS=1", loader_, library.file}, library.file);
    if (!loaded) return fail(loaded);
    for (const Library& each : *loaded) {
      if (is_drivers(each.name) || known_.contains(each.name)) continue;
      if (each.file.empty())
        return fail(
            "{} needs {}, which is not on this machine; packaging/start.sh --cuda fetches what "
            "GPUs need",
            library.file, each.name);
      add(each);
    }
    return {};
  }

  Result<> open_all_of(const Library& opener) {
    for (const Opens& opens : kOpens) {
      if (opens.opener != opener.name) continue;
      const std::vector<Library> found = find_opened(opens.opened, opener, libraries_);
      if (found.empty())
        return fail(
            "{} opens {} when it runs, which is not next to it; packaging/start.sh --cuda fetches "
            "what GPUs need",
            opener.file, opens.opened);
      for (const Library& each : found)
        if (const Result<> opened = open(each); !opened) return opened;
    }
    return {};
  }

  std::string loader_;
  std::set<std::string> known_;
  std::vector<Library> libraries_;
};

}  // namespace

Result<std::vector<Library>> libraries_of(const std::string& program) {
  Result<std::vector<Library>> libraries =
      trace({"env", "LD_TRACE_LOADED_OBJECTS=1", program}, program);
  if (!libraries) return libraries;
  for (const Library& library : *libraries)
    if (library.file.empty())
      return fail("{} needs {}, which is not on this machine", program, library.name);
  return libraries;
}

Result<std::vector<Library>> libraries_of_plugin(const std::string& plugin,
                                                 const std::vector<Library>& program) {
  const auto loader = std::ranges::find_if(
      program, [](const Library& library) { return library.name.starts_with("ld-linux"); });
  if (loader == program.end()) return fail("no dynamic loader is known for {}", plugin);
  return Closure(loader->file, program).of(plugin);
}

}  // namespace heddle::remote
