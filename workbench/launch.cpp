#include "workbench/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>

#include "base/read_file.h"
#include "base/signature.h"
#include "engine/runs/launch.h"
#include "remote/bring_to_all.h"
#include "remote/deploy_all.h"
#include "remote/prelude.h"
#include "remote/private_root.h"
#include "workbench/backend.h"
#include "workbench/checked_recipe.h"
#include "workbench/host_links.h"
#include "workbench/inputs.h"
#include "workbench/paths.h"
#include "workbench/place.h"
#include "workbench/reproduction.h"
#include "workbench/targets.h"
#include "workbench/token_stores.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

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

/// The parts of a launch whose recipe is good.
struct Parts {
  storage::Writer& writer;
  const LaunchRequest& request;
  const CheckedRecipe& checked;
  const LaunchProgress& progress;
  const OnFindings& on_findings;
  std::optional<storage::CreatedRun> queued = {};
};

/// One launch, from the row in the store to running supervisors.
class Attempt {
 public:
  Attempt(const Parts& parts, const Nodes& nodes, const TargetNow& now)
      : writer_(parts.writer),
        request_(parts.request),
        checked_(parts.checked),
        nodes_(nodes),
        now_(now),
        device_(device_on(checked_.parsed.recipe, now)),
        progress_(parts.progress),
        on_findings_(parts.on_findings),
        backend_(backend_of(request_.target)),
        queued_(parts.queued),
        run_(parts.queued.value_or(storage::CreatedRun{})),
        place_(place_on(request_.target)),
        there_(nodes.size()) {}

  tl::expected<storage::CreatedRun, LaunchError> run() {
    if (!queued_)
      if (Result<> created = create(); !created)
        return tl::unexpected(LaunchError{.message = created.error().message});
    Result<> launched = prepare_hosts();
    if (launched) launched = record_environment();
    if (launched) launched = measure_network();
    if (launched) launched = start();
    if (launched) return run_;
    LaunchError error{.message = launched.error().message, .run = run_.id};
    error.cancelled = cancelled_;
    if (queued_ && cancelled_) return tl::unexpected(std::move(error));
    const Result<> kept =
        writer_.set_state(run_.id, storage::RunState::failed, error.message).get();
    if (!kept) error.message += "\n" + kept.error().message;
    return tl::unexpected(std::move(error));
  }

 private:
  Result<> create() {
    storage::NewRun run = new_run(request_, checked_);
    run.hosts = to_json(place_);
    Result<storage::CreatedRun> created = writer_.create_run(std::move(run)).get();
    if (!created) return fail(created);
    run_ = std::move(*created);
    return {};
  }

  Result<> tell(const std::string& what, uint64_t done = 0, uint64_t total = 0) {
    if (!progress_ || progress_(what, done, total)) return {};
    if (queued_ && has_place_) return {};  // it has left the queue: starting it takes no time
    cancelled_ = true;
    return fail("cancelled");
  }

  /// So that the run can be reproduced, and compared with one that was.
  Result<> record_environment() {
    storage::Values values =
        environment_of(checked_.parsed.recipe, now_, bytes_of("hashing the data"));
    return writer_.set_environment(run_.id, std::move(values)).get();
  }

  /// Before several hosts start: whether each reaches every other, and which is slow. A cluster's
  /// nodes are not known yet.
  Result<> measure_network() {
    if (nodes_.size() < 2) return {};
    std::vector<std::string> engines;
    for (const Share& share : place_.shares) engines.push_back(share.engine());
    const auto measured = measure_links(request_.target, nodes_, engines,
                                        [this](const std::string& what) { return tell(what); });
    if (!measured) return fail(measured);
    const auto slow = judge_links(request_.target, *measured);
    const probe::Check check = check_of(*measured, slow);
    const Finding finding{check.name, check.status, check.value, check.advice};
    if (check.status == probe::Status::fail) return fail("{}", finding.line());
    (void)keep_links(request_.target, *measured);  // the next launch measures again
    if (!on_findings_ || check.status != probe::Status::warn) return tell(finding.line());
    on_findings_({finding});
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
    if (const Result<> made = make_roots(folder); !made) return made;
    if (const Result<> brought = bring_engines(); !brought) return brought;
    if (const Result<> brought = bring_inputs(); !brought) return brought;
    for (size_t part = 0; part < request_.target.parts(); ++part)
      if (Result<> ready = prepare_part(part, folder); !ready) return ready;
    if (const Result<> brought = bring_tokens(); !brought) return brought;
    // Before anything is started, so that what runs can always be found.
    std::string run_dir = place_.shares[0].run_dir();
    if (!queued_) return writer_.set_place(run_.id, to_json(place_), std::move(run_dir)).get();
    Result<> begun = writer_.begin_queued(run_.id, to_json(place_), std::move(run_dir)).get();
    has_place_ = begun.has_value();
    cancelled_ = !has_place_;  // a person has taken it out
    return begun;
  }

  /// Hosts may share a home: each share has a folder of its own.
  std::string part_folder(const std::string& folder, size_t part) const {
    return request_.target.parts() > 1 ? fmt::format("{}-{}", folder, part) : folder;
  }

  /// A cluster's parts are all brought to its login node.
  size_t node_of(size_t part) const { return std::min(part, nodes_.size() - 1); }

  /// The root, with the folders of its engines and of this run, in one go.
  Result<> make_roots(const std::string& folder) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Result<std::string> root = nodes_[i]->expand(request_.target.root);
      if (!root) return fail(root);
      std::vector<std::string> folders{"runs"};
      if (!backend_.has_our_files()) folders.insert(folders.end(), {"engines", "blobs"});
      for (size_t part = 0; part < request_.target.parts(); ++part)
        if (node_of(part) == i) folders.push_back("runs/" + part_folder(folder, part));
      if (const Result<> made = remote::make_private_root(*nodes_[i], *root, folders); !made)
        return made;
      there_[i].root = std::move(*root);
    }
    return {};
  }

  Result<> prepare_part(size_t part, const std::string& folder) {
    remote::Node& node = *nodes_[node_of(part)];
    const OnNode& there = there_[node_of(part)];
    const auto parts = static_cast<int64_t>(request_.target.parts());
    const auto ranks = static_cast<int32_t>(checked_.parsed.recipe.hardware.ranks / parts);
    Share share{.root = there.root,
                .folder = part_folder(folder, part),
                .engine_id = there.engine_id,
                .first_rank = static_cast<int32_t>(part) * ranks,
                .local_ranks = ranks};
    recipe::Recipe recipe = there.recipe;
    // A container has no cache of the host's.
    const bool own_cache = request_.target.data_root.empty() && request_.target.container.empty();
    if (recipe.data.cache.empty() && !own_cache) recipe.data.cache = there.data + "/tokens";
    // All hosts do the same.
    recipe.hardware.device = device_.gpus ? "cuda" : "cpu";
    std::vector<std::string> keys = path_keys();
    keys.push_back("hardware.device");
    const Result<std::string> text = with_values(checked_.text, recipe, keys);
    if (!text) return fail(text);
    place_.shares.push_back(std::move(share));
    const Share& added = place_.shares.back();
    if (Result<> put = remote::put_start_script(node, request_.target, added.run_dir(),
                                                added.engine(), device_.gpus);
        !put)
      return put;
    return node.put_bytes(*text, added.run_dir() + "/recipe.toml", 0600);
  }

  /// Where inputs and their tokens are kept there.
  Result<std::string> data_folder(remote::Node& node) {
    Result<std::string> folder = node.expand(request_.target.folder_of_data());
    if (!folder || request_.target.data_root.empty()) return folder;
    if (const Result<> made = remote::make_private_root(node, *folder, {"blobs"}); !made)
      return fail(made);
    return folder;
  }

  /// "bringing the data to node", or to how many.
  std::string bringing(const std::string& what) const {
    return fmt::format(
        "bringing {} to {}", what,
        nodes_.size() == 1 ? nodes_[0]->name() : fmt::format("{} hosts", nodes_.size()));
  }

  std::vector<remote::Node*> all_nodes() const {
    std::vector<remote::Node*> nodes;
    for (const auto& node : nodes_) nodes.push_back(node.get());
    return nodes;
  }

  /// Empty ids: this machine's own engine serves.
  Result<> bring_engines() {
    const std::string what = bringing("the engine");
    if (const Result<> told = tell(what); !told) return told;
    if (backend_.has_our_files()) return {};
    for (size_t i = 0; i < nodes_.size(); ++i)
      there_[i].engine_id = device_.gpus ? now_.hosts[i].gpu_engine_id : now_.hosts[i].engine_id;
    if (std::ranges::none_of(there_, &std::string::empty, &OnNode::engine_id)) return {};
    const auto devices = device_.gpus ? remote::Devices::gpus : remote::Devices::cpus;
    std::vector<remote::Deployed> brought;
    if (nodes_.size() == 1) {
      auto one =
          remote::deploy(*nodes_[0], request_.target.root, engine_path(), bytes_of(what), devices);
      if (!one) return fail(one);
      brought.push_back(std::move(*one));
    } else {
      auto all = remote::deploy_all(all_nodes(), request_.target.root, engine_path(),
                                    bytes_of(what), devices);
      if (!all) return fail(all);
      brought = std::move(*all);
    }
    for (size_t i = 0; i < brought.size(); ++i) there_[i].engine_id = brought[i].id;
    return {};
  }

  /// The recipe with the paths that its inputs have on each node.
  Result<> bring_inputs() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      auto data = data_folder(*nodes_[i]);
      if (!data) return fail(data);
      there_[i].data = std::move(*data);
      there_[i].recipe = checked_.parsed.recipe;
    }
    if (backend_.has_our_files()) return {};
    const auto shipment = shipment_of(checked_.parsed.recipe, bytes_of("hashing the data"));
    if (!shipment) return fail(shipment);
    const auto bring = [&](size_t i, const remote::Progress& sending) -> Result<> {
      Result<recipe::Recipe> shipped = ship(*shipment, *nodes_[i], there_[i].data, sending);
      if (!shipped) return fail(shipped);
      there_[i].recipe = std::move(*shipped);
      // A folder that the recipe names is one of this machine; the run directory's needs no name.
      there_[i].recipe.checkpoint.folder.clear();
      return {};
    };
    remote::Receivers receivers{all_nodes(), request_.target.folder_of_data(), {}};
    for (const HostNow& host : now_.hosts)
      receivers.have_it.push_back(
          bytes_of_inputs(checked_.parsed.recipe, host.blobs).missing == 0 ? 1 : 0);
    receivers.have_it.resize(nodes_.size());
    return remote::bring_to_all(receivers, bring, bytes_of(bringing("the data")));
  }

  Result<> bring_tokens() {
    if (backend_.has_our_files()) return {};
    StoresOfRun stores{checked_.parsed.recipe,          checked_.text, all_nodes(), {}, {},
                       request_.target.folder_of_data()};
    for (size_t i = 0; i < nodes_.size(); ++i) {
      stores.engines.push_back(place_.shares[i].engine());
      stores.recipe_files.push_back(place_.shares[i].run_dir() + "/recipe.toml");
    }
    return bring_stores(stores, [this](const std::string& what, uint64_t done, uint64_t total) {
      return static_cast<bool>(tell(what, done, total));
    });
  }

  Result<> start() {
    runs::Launch launch;
    launch.run = plain_name(run_.name);
    launch.mode = request_.mode;
    launch.world_size = static_cast<int32_t>(checked_.parsed.recipe.hardware.ranks);
    if (checked_.parsed.recipe.hardware.device == "auto")
      launch.device_choice = "hardware.device = \"auto\": " + device_.why;
    Start parts{nodes_,
                place_,
                std::move(launch),
                {},
                checked_.parsed.recipe.checkpoint.enabled,
                *secret_,
                [this](const std::string& what) { return tell(what); }};
    if (request_.begin) {
      const storage::Lineage& lineage = request_.begin->lineage;
      parts.launch.ancestry = {storage::to_string(lineage.kind), lineage.parent_name, lineage.step};
      parts.launch.restarts = request_.begin->restarts;
      parts.launch.restart_cause = request_.begin->restart_cause;
      parts.begin_with = request_.begin->checkpoints;
    }
    if (Result<> started = backend_.start(parts); !started) return started;
    Result<> kept = writer_.set_state(run_.id, storage::RunState::running).get();
    if (kept) kept = note_job();
    if (!kept)
      for (size_t i = 0; i < nodes_.size(); ++i)
        (void)backend_.order(*nodes_[i], place_.shares[i], Order::kill);
    return kept;
  }

  /// Until somebody follows the run, this is what is known of its job. Where the batch system does
  /// not answer, that is for who follows it.
  Result<> note_job() {
    const auto job = backend_.job(*nodes_[0], place_.shares[0]);
    if (!job || !*job || !(*job)->waits) return {};
    return writer_.set_link(run_.id, {.waits = (*job)->words}).get();
  }

  storage::Writer& writer_;
  const LaunchRequest& request_;
  const CheckedRecipe& checked_;
  const Nodes& nodes_;
  const TargetNow& now_;
  const launch::DeviceChoice device_;
  const LaunchProgress& progress_;
  const OnFindings& on_findings_;
  const Backend& backend_;
  const std::optional<storage::CreatedRun> queued_;  // stays queued when cancelled
  storage::CreatedRun run_;
  Place place_;
  struct OnNode {
    std::string root, data;  // where runs, and inputs and their tokens, are kept
    std::string engine_id;
    recipe::Recipe recipe;  // with the node's paths
  };
  std::vector<OnNode> there_;  // by node
  bool has_place_ = false;     // of a queued run: it has left the queue
  bool cancelled_ = false;
  std::optional<Secret> secret_;  // known to the hosts, and kept nowhere else
};

tl::expected<storage::CreatedRun, LaunchError> start_checked(const Parts& parts) {
  const remote::Target& target = parts.request.target;
  if (parts.progress && !parts.progress("looking at " + target.name, 0, 0))
    return tl::unexpected(LaunchError{.message = "cancelled", .cancelled = true});
  const auto nodes = connect_all(target);
  if (!nodes) {
    return tl::unexpected(LaunchError{
        .message = nodes.error().message, .refused = true, .connection = nodes.error()});
  }
  const TargetNow now = backend_of(target).check(target, *nodes);
  const std::vector<Finding> findings = preflight(parts.checked.parsed, now);
  if (parts.on_findings) parts.on_findings(findings);
  if (!may_start(findings)) {
    return tl::unexpected(
        LaunchError{.message = lines_of(findings, probe::Status::fail), .refused = true});
  }
  return Attempt(parts, *nodes, now).run();
}

/// A kept run's own request.
Result<LaunchRequest> request_of(const std::string& store_path, const storage::RunDetail& run,
                                 const std::string& mode) {
  Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail(place);
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  LaunchRequest request;
  request.recipe_text = run.recipe;
  request.recipe_file = run.summary.recipe_name + ".toml";
  request.target = with_keys_and_spares_of_now(*reader, std::move(place->target));
  request.name = run.summary.name;
  request.mode = mode;
  return request;
}

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
  const auto checked = check_recipe(request);
  if (!checked) return tl::unexpected(checked.error());
  if (auto faults = unasked_continuation(writer.path(), request, checked->parsed))
    return tl::unexpected(std::move(*faults));
  return start_checked({writer, request, *checked, progress, on_findings});
}

tl::expected<storage::CreatedRun, LaunchError> launch_queued(storage::Writer& writer,
                                                             const storage::RunDetail& run,
                                                             const std::string& mode,
                                                             const LaunchProgress& progress) {
  const storage::CreatedRun queued{run.summary.id, run.summary.name};
  // Its own folder of checkpoints is claimed since it entered the queue.
  const auto launched = [&]() -> tl::expected<storage::CreatedRun, LaunchError> {
    const Result<LaunchRequest> request = request_of(writer.path(), run, mode);
    if (!request) return tl::unexpected(LaunchError{.message = request.error().message});
    const auto checked = check_recipe(*request);
    if (!checked) return tl::unexpected(checked.error());
    return start_checked({writer, *request, *checked, progress, {}, queued});
  }();
  // An attempt has kept its failure itself, and a host may answer another time.
  if (launched || launched.error().run || launched.error().connection || launched.error().cancelled)
    return launched;
  const Result<> kept =
      writer.set_state(queued.id, storage::RunState::failed, launched.error().message).get();
  return kept ? launched : tl::unexpected(LaunchError{.message = kept.error().message});
}

tl::expected<std::vector<Finding>, LaunchError> check_launch(const std::string& store_path,
                                                             const LaunchRequest& request) {
  const auto checked = check_recipe(request);
  if (!checked) return tl::unexpected(checked.error());
  if (auto faults = unasked_continuation(store_path, request, checked->parsed))
    return tl::unexpected(std::move(*faults));
  return preflight(checked->parsed, look_at(request.target));
}

}  // namespace heddle::workbench
