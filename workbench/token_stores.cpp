#include "workbench/token_stores.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "base/durable_file.h"
#include "base/private_folder.h"
#include "base/read_json.h"
#include "base/unique_name.h"
#include "engine/data/corpus.h"
#include "engine/launch/spawn.h"
#include "remote/bring_to_all.h"
#include "remote/hash_cache.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A store on a host, as its engine describes it.
struct StoreThere {
  std::string folder;
  std::string sources;  // what it is made of
  bool whole = false;
};

/// In the recipe's order. Nothing: the engine there finds a fault.
Result<std::optional<std::vector<StoreThere>>> stores_on(const StoresOfRun& run, size_t node) {
  const auto said = run.nodes[node]->run(
      {.argv = {run.engines[node], "tokenize-corpus", "--where", run.recipe_files[node]},
       .deadline = std::chrono::minutes(1)});
  if (!said) return fail(said);
  if (said->exit_code != 0) return std::nullopt;
  std::vector<StoreThere> stores;
  std::istringstream lines(said->out);
  for (std::string line; std::getline(lines, line);) {
    const auto store = read_json(line);
    if (!store || !store->is_object()) return std::nullopt;
    stores.push_back(
        {store->value("store", ""), store->value("sources", ""), store->value("whole", false)});
    if (!stores.back().folder.starts_with('/')) return std::nullopt;
  }
  return stores;
}

/// The stores here, in the same order. Nothing: a text has a fault.
std::optional<std::vector<data::StoreOrigin>> stores_here(const recipe::Recipe& recipe) {
  std::vector<data::StoreOrigin> stores;
  for (const data::Text& text : data::texts_of(recipe)) {
    auto origin = data::store_origin(text.data, text.part);
    if (!origin) return std::nullopt;
    stores.push_back(std::move(*origin));
  }
  return stores;
}

/// Whether both are of the same texts, wherever these are and whenever they were written there.
bool are_same(const std::string& sources, const std::string& others) {
  const auto content_of = [](const std::string& text) -> std::optional<json> {
    auto content = read_json(text);
    if (!content || !content->is_object()) return std::nullopt;
    for (json& each : (*content)["text"]) {
      each.erase("path");
      each.erase("changed");
    }
    return std::move(*content);
  };
  const auto one = content_of(sources), other = content_of(others);
  return one && other && *one == *other;
}

bool are_whole(const std::vector<data::StoreOrigin>& stores) {
  return std::ranges::all_of(stores, [](const data::StoreOrigin& store) {
    const auto totals = data::read_totals(store.folder());
    return totals && *totals;
  });
}

/// A process here that tokenizes; its files are gone with it.
class TokenizingHere {
 public:
  static Result<TokenizingHere> start(const std::string& recipe_text) {
    if (const auto made = make_private_folders(cache_folder()); !made) return fail(made);
    TokenizingHere here(cache_folder() + "/tokenize-" + unique_name());
    const std::string recipe = here.files_ + ".toml";
    if (const auto put = write_atomically(recipe, recipe_text); !put) return fail(put);
    auto id = launch::spawn({.words = {engine_path(), "tokenize-corpus", recipe},
                             .environment = launch::rank_environment(1),
                             .output = here.files_ + ".err",
                             .kept_fds = {}});
    if (!id) return fail(id);
    here.id_ = *id;
    return here;
  }
  TokenizingHere(TokenizingHere&& other) noexcept
      : files_(std::exchange(other.files_, {})), id_(std::exchange(other.id_, {})) {}
  ~TokenizingHere() {
    if (id_.pid != 0) {
      ::kill(id_.pid, SIGKILL);
      waitpid(id_.pid, nullptr, 0);
    }
    if (files_.empty()) return;
    for (const char* end : {".toml", ".err"}) unlink((files_ + end).c_str());
  }

  bool has_ended() {
    if (id_.pid != 0 && waitpid(id_.pid, nullptr, WNOHANG) != 0) id_ = {};
    return id_.pid == 0;
  }

 private:
  explicit TokenizingHere(std::string files) : files_(std::move(files)) {}
  std::string files_;  // their paths without their ends
  ProcessId id_;
};

/// Until the stores here are whole, or cannot be.
Result<> tokenize_here(const StoresOfRun& run, const std::vector<data::StoreOrigin>& stores,
                       const StoreProgressed& progress) {
  constexpr auto kLook = std::chrono::milliseconds(100);
  const auto size_of = [](const data::StoreOrigin& store) {
    uint64_t bytes = 0;
    for (const data::SourceFile& file : store.files) bytes += file.size;
    return bytes;
  };
  auto tokenizing = TokenizingHere::start(run.text);
  if (!tokenizing) return fail(tokenizing);
  while (!tokenizing->has_ended()) {
    double done = 0;
    uint64_t total = 0;
    for (const data::StoreOrigin& store : stores) {
      const uint64_t bytes = size_of(store);
      total += bytes;
      if (const auto there = data::read_progress(store.folder()))
        done += there->share * static_cast<double>(bytes);
    }
    if (progress &&
        !progress("tokenizing the texts here, for all hosts", static_cast<uint64_t>(done), total))
      return fail("cancelled");
    std::this_thread::sleep_for(kLook);
  }
  return {};
}

/// The files of a whole store. The last one says that it is whole.
Result<> bring_store(remote::Node& node, const data::StoreOrigin& here, const StoreThere& there,
                     const remote::Progress& progress) {
  const data::StoreUse use(here.folder());
  std::vector<remote::Put> puts;
  remote::HashCache cache;
  const auto add = [&](const std::string& file) -> Result<> {
    Result<std::string> hash = cache.sha256_of(file);
    if (!hash) return fail(hash);
    const std::string name = fs::path(file).filename();
    puts.push_back({file, there.folder + "/" + name, std::move(*hash), 0600});
    return {};
  };
  std::error_code none;
  for (int64_t shard = 0; fs::exists(data::shard_path(here.folder(), shard), none); ++shard)
    if (const Result<> added = add(data::shard_path(here.folder(), shard)); !added) return added;
  if (const std::string skipped = here.folder() + "/skipped.txt"; fs::exists(skipped, none))
    if (const Result<> added = add(skipped); !added) return added;
  if (const Result<> made = node.make_folders(there.folder); !made) return made;
  if (const Result<> put = node.put_files(puts, progress); !put) return put;
  const std::string sources = data::sources_path(there.folder);
  if (const Result<> put = node.put_bytes(there.sources, sources, 0600); !put) return put;
  puts.clear();
  if (const Result<> added = add(data::whole_path(here.folder())); !added) return added;
  cache.save();
  return node.put_files(puts, {});
}

}  // namespace

Result<> bring_stores(const StoresOfRun& run, const StoreProgressed& progress) {
  const auto here = stores_here(run.recipe);
  if (!here || here->empty()) return {};
  const bool are_here = are_whole(*here);
  if (!are_here && run.nodes.size() < 2) return {};
  remote::Receivers receivers{run.nodes, run.root, std::vector<char>(run.nodes.size(), 1)};
  std::mutex looking;
  std::vector<char> have_it(run.nodes.size());
  bool faulty = false;
  const auto look = [&](size_t i, const remote::Progress&) -> Result<> {
    const auto there = stores_on(run, i);
    if (!there) return fail(there);
    const std::lock_guard lock(looking);
    faulty = faulty || !*there || (*there)->size() != here->size();
    have_it[i] = *there && std::ranges::all_of(**there, &StoreThere::whole);
    return {};
  };
  if (const Result<> looked = bring_to_all(receivers, look, {}); !looked) return looked;
  receivers.have_it = have_it;
  if (faulty || std::ranges::count(have_it, 0) == 0) return {};
  if (!are_here) {
    if (const Result<> made = tokenize_here(run, *here, progress); !made) return made;
    if (!are_whole(*here)) return {};
  }
  const std::string bringing =
      run.nodes.size() == 1
          ? "bringing the tokens to " + run.nodes[0]->name()
          : fmt::format("bringing the tokens to {} hosts", std::ranges::count(have_it, 0));
  const auto bring = [&](size_t i, const remote::Progress& of_node) -> Result<> {
    if (have_it[i]) return {};
    // A host that shares the store has it by now.
    const auto there = stores_on(run, i);
    if (!there) return fail(there);
    for (size_t store = 0; *there && store < std::min(here->size(), (*there)->size()); ++store) {
      const StoreThere& missing = (**there)[store];
      if (missing.whole || !are_same(missing.sources, (*here)[store].record)) continue;
      const Result<> brought = bring_store(*run.nodes[i], (*here)[store], missing, of_node);
      if (!brought) return brought;
    }
    return {};
  };
  return bring_to_all(receivers, bring, [&](uint64_t done, uint64_t total) {
    return !progress || progress(bringing, done, total);
  });
}

}  // namespace heddle::workbench
