#include "workbench/launch.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "base/read_file.h"
#include "base/signature.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/data/text_loader.h"
#include "engine/recipe/fault_lines.h"
#include "engine/runs/launch.h"
#include "remote/deploy.h"
#include "remote/private_root.h"
#include "storage/run_name.h"
#include "workbench/backend.h"
#include "workbench/checkpoints.h"
#include "workbench/inputs.h"
#include "workbench/paths.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

/// A recipe that this version can train, in the two forms that a launch needs.
struct Checked {
  recipe::Parsed parsed;  // resolved
  std::string text;       // the user's, with --set applied and paths absolute
};

LaunchError faults_error(std::vector<recipe::Fault> faults) {
  LaunchError error;
  error.message = recipe::lines_of(faults);
  error.faults = std::move(faults);
  return error;
}

/// The text with keys set to the recipe's values; keys that the recipe leaves empty are not
/// written.
Result<std::string> with_values(std::string text, const recipe::Recipe& recipe,
                                const std::vector<std::string>& keys) {
  std::map<std::string, std::string> values;
  for (auto& [key, value] : recipe::flatten(recipe)) values[key] = value;
  for (const std::string& key : keys) {
    const std::string& value = values[key];
    const bool empty = value.empty() || value == "\"\"" || value == "[]";
    Result<std::string> edited = recipe::with_key(text, key, empty ? "" : value);
    if (!edited) return fail("{}: {}", key, edited.error().message);
    text = std::move(*edited);
  }
  return text;
}

const std::vector<std::string> kPathKeys = {"model.checkpoint", "data.text",        "data.mix",
                                            "data.token_ids",   "data.tokenizer",   "data.cache",
                                            "validation.text",  "checkpoint.folder"};

std::string stem_of(const LaunchRequest& request) { return fs::path(request.recipe_file).stem(); }

std::string name_of(const LaunchRequest& request) {
  return request.name.empty() ? stem_of(request) : request.name;
}

tl::expected<Checked, LaunchError> check(const LaunchRequest& request) {
  // A recipe that is only looked at may have no name yet.
  if (const std::string name = name_of(request); !name.empty())
    if (const Result<> valid = storage::check_name(name); !valid)
      return tl::unexpected(LaunchError{.message = valid.error().message, .refused = true});
  recipe::Parsed resolved =
      checkpoint::load_recipe(request.recipe_text, request.recipe_file, request.sets);
  std::vector<recipe::Fault> faults = resolved.faults;
  if (faults.empty()) faults = recipe::unsupported(resolved);
  if (!faults.empty()) return tl::unexpected(faults_error(std::move(faults)));

  // Keeps the settings as typed: another number of ranks gives -1 another meaning.
  std::vector<std::string> keys;
  for (const std::string& set : request.sets) keys.push_back(set.substr(0, set.find('=')));
  const recipe::Recipe said =
      recipe::parse(request.recipe_text, request.recipe_file, request.sets).recipe;
  const Result<std::string> text =
      with_values(request.recipe_text, said, keys).and_then([&](std::string edited) {
        return with_values(std::move(edited), resolved.recipe, kPathKeys);
      });
  if (!text) return tl::unexpected(LaunchError{.message = text.error().message});
  return Checked{std::move(resolved), *text};
}

/// The recipe with the size that `vocab_size = 0` means: runs of one model are compared by it.
recipe::Recipe with_vocabulary(recipe::Recipe recipe) {
  if (recipe.model.vocab_size != 0) return recipe;
  if (const auto size = data::vocabulary(recipe.model, recipe.data))
    recipe.model.vocab_size = *size;
  return recipe;
}

/// Whether the run's checkpoints go to a folder of this machine that the recipe names.
bool names_local_folder(const recipe::Recipe& recipe, const remote::Target& target) {
  return recipe.checkpoint.enabled && !recipe.checkpoint.folder.empty() &&
         backend_of(target).has_our_files();
}

/// A new run never continues another unless that was asked for.
std::optional<LaunchError> unasked_continuation(const std::string& store_path,
                                                const LaunchRequest& request,
                                                const recipe::Parsed& resolved) {
  const bool asked = request.begin && request.begin->shares_folder;
  if (asked) return {};
  const auto fault = folder_fault(store_path, resolved, request.target);
  if (!fault) return LaunchError{.message = fault.error().message};
  return *fault ? std::optional(faults_error({**fault})) : std::nullopt;
}

/// A name that may be part of a path: other characters become a dash.
std::string plain_name(const std::string& wish) {
  std::string name = wish.substr(0, 40);
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '-';
  }
  return name.empty() ? "run" : name;
}

/// A folder name that no other run of any store has: 20261121-114200-debug-1f3a.
std::string folder_name(const std::string& run) {
  const time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  tm utc{};
  gmtime_r(&seconds, &utc);
  char stamp[32];
  strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &utc);
  return fmt::format("{}-{}-{:04x}", stamp, plain_name(run), std::random_device()() & 0xffff);
}

/// One launch, from the row in the store to running supervisors.
class Attempt {
 public:
  Attempt(storage::Writer& writer, const LaunchRequest& request, const Checked& checked,
          const Nodes& nodes, launch::DeviceChoice device, const LaunchProgress& progress)
      : writer_(writer),
        request_(request),
        checked_(checked),
        nodes_(nodes),
        device_(std::move(device)),
        progress_(progress),
        backend_(backend_of(request.target)),
        place_(place_on(request.target)) {}

  tl::expected<storage::CreatedRun, LaunchError> run() {
    if (Result<> created = create(); !created) {
      return tl::unexpected(LaunchError{.message = created.error().message});
    }
    Result<> launched = prepare_hosts();
    if (launched) launched = start();
    if (launched) return run_;
    LaunchError error{.message = launched.error().message, .run = run_.id};
    const Result<> kept =
        writer_.set_state(run_.id, storage::RunState::failed, error.message).get();
    if (!kept) error.message += "\n" + kept.error().message;
    return tl::unexpected(std::move(error));
  }

 private:
  Result<> create() {
    storage::NewRun run;
    run.name = name_of(request_);
    run.target = request_.target.name;
    run.recipe_name = stem_of(request_);
    run.recipe = checked_.text;
    run.recipe_values = recipe::flatten(with_vocabulary(checked_.parsed.recipe));
    run.hosts = to_json(place_);
    if (request_.begin) run.lineage = request_.begin->lineage;
    run.claims_folder = names_local_folder(checked_.parsed.recipe, request_.target);
    Result<storage::CreatedRun> created = writer_.create_run(std::move(run)).get();
    if (!created) return fail(created);
    run_ = std::move(*created);
    return {};
  }

  Result<> tell(const std::string& what, uint64_t done = 0, uint64_t total = 0) {
    if (progress_ && !progress_(what, done, total)) return fail("cancelled");
    return {};
  }

  /// Progress of the uploads of one step.
  remote::Progress bytes_of(const std::string& what) {
    return [this, what](uint64_t done, uint64_t total) {
      return static_cast<bool>(tell(what, done, total));
    };
  }

  Result<> prepare_hosts() {
    const Result<Secret> secret = Secret::make();
    if (!secret) return fail(secret);
    secret_ = *secret;
    const Result<std::string> key = public_key(*secret);
    if (!key) return fail(key);
    place_.end_key = *key;
    const std::string folder = folder_name(run_.name);
    for (const auto& node : nodes_)
      if (Result<> ready = prepare_host(*node, folder); !ready) return ready;
    // Before anything is started, so that what runs can always be found.
    return writer_.set_place(run_.id, to_json(place_), place_.shares[0].run_dir()).get();
  }

  Result<> prepare_host(remote::Node& node, const std::string& folder) {
    const Result<std::string> root = node.expand(request_.target.root);
    if (!root) return fail(root);
    if (const Result<> made = remote::make_private_root(node, *root, {"runs"}); !made) return made;
    const std::string bringing = "bringing the engine to " + node.name();
    if (Result<> told = tell(bringing); !told) return told;
    Result<remote::Deployed> engine =
        remote::deploy(node, request_.target.root, engine_path(), bytes_of(bringing),
                       device_.gpus ? remote::Devices::gpus : remote::Devices::cpus);
    if (!engine) return fail(engine);

    const auto hosts = static_cast<int64_t>(request_.target.hosts.size());
    const auto ranks = static_cast<int32_t>(checked_.parsed.recipe.hardware.ranks / hosts);
    // Hosts may share a home: each share has a folder of its own.
    const size_t index = place_.shares.size();
    const std::string part = hosts > 1 ? fmt::format("-{}", index) : "";
    Share share{.root = *root,
                .folder = folder + part,
                .engine_id = engine->id,
                .first_rank = static_cast<int32_t>(index) * ranks,
                .local_ranks = ranks};
    if (Result<> made = node.make_folders(share.run_dir()); !made) return made;
    Result<recipe::Recipe> there = recipe_there(node, *root);
    if (!there) return fail(there);
    // All hosts do the same.
    there->hardware.device = device_.gpus ? "cuda" : "cpu";
    std::vector<std::string> keys = kPathKeys;
    keys.push_back("hardware.device");
    const Result<std::string> text = with_values(checked_.text, *there, keys);
    if (!text) return fail(text);
    place_.shares.push_back(std::move(share));
    return node.put_bytes(*text, place_.shares.back().run_dir() + "/recipe.toml", 0600);
  }

  /// The recipe with the paths that its inputs have on the node.
  Result<recipe::Recipe> recipe_there(remote::Node& node, const std::string& root) {
    if (backend_.has_our_files()) return checked_.parsed.recipe;
    Result<recipe::Recipe> shipped = ship_inputs(node, root, checked_.parsed.recipe,
                                                 bytes_of("hashing the data for " + node.name()),
                                                 bytes_of("bringing the data to " + node.name()));
    // A folder that the recipe names is one of this machine; the run directory's needs no name.
    if (shipped) shipped->checkpoint.folder.clear();
    return shipped;
  }

  Result<> start() {
    runs::Launch launch;
    launch.run = plain_name(run_.name);
    launch.mode = request_.mode;
    launch.world_size = static_cast<int32_t>(checked_.parsed.recipe.hardware.ranks);
    if (checked_.parsed.recipe.hardware.device == "auto")
      launch.device_choice = "hardware.device = \"auto\": " + device_.why;
    Start parts{nodes_, place_,   std::move(launch),
                {},     *secret_, [this](const std::string& what) { return tell(what); }};
    if (request_.begin) {
      const storage::Lineage& lineage = request_.begin->lineage;
      parts.launch.ancestry = {storage::to_string(lineage.kind), lineage.parent_name, lineage.step};
      parts.begin_with = request_.begin->checkpoints;
    }
    if (Result<> started = backend_.start(parts); !started) return started;
    Result<> kept = writer_.set_state(run_.id, storage::RunState::running).get();
    if (!kept)
      for (size_t i = 0; i < nodes_.size(); ++i)
        (void)backend_.order(*nodes_[i], place_.shares[i], Order::kill);
    return kept;
  }

  storage::Writer& writer_;
  const LaunchRequest& request_;
  const Checked& checked_;
  const Nodes& nodes_;
  const launch::DeviceChoice device_;
  const LaunchProgress& progress_;
  const Backend& backend_;
  storage::CreatedRun run_;
  Place place_;
  std::optional<Secret> secret_;  // known to the hosts, and kept nowhere else
};

}  // namespace

Result<LaunchRequest> request_from_file(const std::string& recipe_file) {
  auto text = read_named_file(recipe_file, recipe::kMaxRecipeBytes);
  if (!text) return fail("{}; valid: a recipe (TOML)", text.error().message);
  LaunchRequest request;
  request.recipe_file = recipe_file;
  request.recipe_text = std::move(*text);
  return request;
}

tl::expected<storage::CreatedRun, LaunchError> launch(storage::Writer& writer,
                                                      const LaunchRequest& request,
                                                      const LaunchProgress& progress,
                                                      const OnFindings& on_findings) {
  const auto checked = check(request);
  if (!checked) return tl::unexpected(checked.error());
  if (auto faults = unasked_continuation(writer.path(), request, checked->parsed))
    return tl::unexpected(std::move(*faults));
  if (progress && !progress("looking at " + request.target.name, 0, 0))
    return tl::unexpected(LaunchError{.message = "cancelled"});
  const auto nodes = connect_all(request.target);
  if (!nodes) {
    return tl::unexpected(LaunchError{
        .message = nodes.error().message, .refused = true, .connection = nodes.error()});
  }
  const TargetNow now = backend_of(request.target).check(request.target, *nodes);
  const std::vector<Finding> findings = preflight(checked->parsed, now);
  if (on_findings) on_findings(findings);
  if (!may_start(findings)) {
    return tl::unexpected(
        LaunchError{.message = lines_of(findings, probe::Status::fail), .refused = true});
  }
  return Attempt(writer, request, *checked, *nodes, device_on(checked->parsed.recipe, now),
                 progress)
      .run();
}

Result<std::optional<recipe::Fault>> folder_fault(const std::string& store_path,
                                                  const recipe::Parsed& resolved,
                                                  const remote::Target& target) {
  if (!names_local_folder(resolved.recipe, target)) return std::nullopt;
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  return folder_in_use(*reader, resolved);
}

tl::expected<std::vector<Finding>, LaunchError> check_launch(const std::string& store_path,
                                                             const LaunchRequest& request) {
  const auto checked = check(request);
  if (!checked) return tl::unexpected(checked.error());
  if (auto faults = unasked_continuation(store_path, request, checked->parsed))
    return tl::unexpected(std::move(*faults));
  return preflight(checked->parsed, look_at(request.target));
}

}  // namespace heddle::workbench
