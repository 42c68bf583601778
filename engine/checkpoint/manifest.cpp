#include "engine/checkpoint/manifest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/checkpoint/check_contents.h"
#include "engine/checkpoint/hash.h"
#include "engine/checkpoint/model_keys.h"
#include "engine/optim/optimizer.h"
#include "engine/recipe/parse.h"
#include "engine/recipe/schema.h"

namespace heddle::checkpoint {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kBeforeHash = "{\"hash\":\"";

json to_json(const Contents& contents) {
  json files = json::object(), tensors = json::object();
  for (const auto& [name, file] : contents.files)
    files[name] = {{"host", file.host},
                   {"bytes", file.bytes},
                   {"header_bytes", file.header_bytes},
                   {"header_hash", file.header_hash}};
  for (const auto& [name, tensor] : contents.tensors) {
    json shards = json::array();
    for (const Shard& shard : tensor.shards) {
      const holdings::Box& box = shard.box;
      shards.push_back({{"file", shard.file},
                        {"offset", shard.offset},
                        {"box", {box.row_begin, box.row_end, box.column_begin, box.column_end}},
                        {"hashes", shard.hashes}});
    }
    tensors[name] = {{"shape", tensor.shape}, {"shards", std::move(shards)}};
  }
  return {{"files", std::move(files)}, {"tensors", std::move(tensors)}};
}

Contents contents_from(const json& object) {
  Contents contents;
  for (const auto& [name, file] : object.at("files").items())
    contents.files[name] = {file.at("host"), whole<int64_t>(file.at("bytes")),
                            whole<int64_t>(file.at("header_bytes")), file.at("header_hash")};
  for (const auto& [name, tensor] : object.at("tensors").items()) {
    StoredTensor& stored = contents.tensors[name];
    for (const json& size : tensor.at("shape")) stored.shape.push_back(whole<int64_t>(size));
    for (const json& shard : tensor.at("shards")) {
      const json& box = shard.at("box");
      const auto edge = [&](size_t i) { return whole<int64_t>(box.at(i)); };
      stored.shards.push_back({shard.at("file"),
                               whole<int64_t>(shard.at("offset")),
                               {edge(0), edge(1), edge(2), edge(3)},
                               shard.at("hashes").get<std::vector<std::string>>()});
    }
  }
  return contents;
}

/// `{"optimizer": {"lr": "0.0003", …}, …}`: values as TOML writes them.
ordered_json settings_of(const recipe::Recipe& recipe) {
  ordered_json settings = ordered_json::object();
  for (const auto& [key, value] : recipe::flatten(recipe)) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos) continue;  // override: the recipe's text has it
    settings[key.substr(0, dot)][key.substr(dot + 1)] = value;
  }
  return settings;
}

std::string states_of(const recipe::Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const optim::State& state :
       optim::optimizer_of(optimizer.name).states({}, optimizer.settings))
    names.push_back(state.name);
  return names.empty() ? "no states" : fmt::format("{}", fmt::join(names, " and "));
}

std::string hash_without_digits(std::string text) {
  std::fill_n(text.begin() + kBeforeHash.size(), kHashDigits, '0');
  return hash_of(text);
}

Result<> check_hash(std::string_view text) {
  if (!text.starts_with(kBeforeHash) || text.size() < kBeforeHash.size() + kHashDigits)
    return fail("cut short or damaged: it does not begin with its hash");
  const std::string_view said = text.substr(kBeforeHash.size(), kHashDigits);
  const std::string found = hash_without_digits(std::string(text));
  if (said != found)
    return fail("cut short or damaged: its hash is {}, but it should be {}", found, said);
  return {};
}

}  // namespace

void Contents::add(Contents other) {
  files.merge(other.files);
  for (auto& [name, tensor] : other.tensors) {
    StoredTensor& mine = tensors[name];
    mine.shape = tensor.shape;
    for (Shard& shard : tensor.shards)
      if (std::ranges::find(mine.shards, shard.box, &Shard::box) == mine.shards.end())
        mine.shards.push_back(std::move(shard));
  }
}

std::string to_text(const Contents& contents) { return json_text(to_json(contents)); }

Result<> check_fit(const recipe::Model& stored, const recipe::Model& model) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& key, auto mine, auto expected) {
    if (mine != expected)
      differences.push_back(fmt::format("its {} is {}, the recipe's {}", key, mine, expected));
  };
  each_size([&](const char* key, auto member) {
    compare(recipe::leaf_of(key), stored.*member, model.*member);
  });
  if (differences.empty()) return {};
  return fail(
      "a checkpoint of another model: {}; these must be the same, while parallelism, batch, data, "
      "learning rate and schedule may change",
      fmt::join(differences, "; "));
}

Result<> check_optimizer(const recipe::Optimizer& stored, const recipe::Optimizer& now) {
  const std::string before = states_of(stored), wanted = states_of(now);
  if (stored.name == now.name && before == wanted) return {};
  return fail(
      "a checkpoint of another optimizer: {} with {}, the recipe's is {} with {}; a run goes on "
      "with "
      "the same one, or starts with the checkpoint's weights alone by model.checkpoint",
      stored.name, before, now.name, wanted);
}

Result<Contents> parse_contents(std::string_view text) {
  const Result<json> read = read_json(text, kManifestBudget);
  if (!read) return fail(read);
  try {
    return contents_from(*read);
  } catch (const json::exception& error) {
    return fail("{}", error.what());
  }
}

std::string to_text(const Manifest& manifest) {
  ordered_json object = {{"hash", std::string(kHashDigits, '0')},
                         {"format", manifest.format},
                         {"engine", manifest.engine},
                         {"step", manifest.step},
                         {"samples", manifest.samples},
                         {"since", manifest.since},
                         {"settings", settings_of(manifest.recipe)},
                         {"recipe", recipe::to_toml(manifest.recipe)},
                         {"contents", to_json(manifest.contents)}};
  std::string text = json_text(object);
  text.replace(kBeforeHash.size(), kHashDigits, hash_of(text));
  return text;
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (const auto whole = check_hash(text); !whole) return fail(whole);
  const Result<json> read = read_json(text, kManifestBudget);
  if (!read) return fail("not a checkpoint's manifest: {}", read.error().message);
  const json& object = *read;
  try {
    Manifest manifest;
    manifest.format = whole<int64_t>(object.at("format"));
    if (manifest.format > kFormat) return manifest;
    manifest.engine = object.at("engine");
    manifest.step = whole<int64_t>(object.at("step"));
    manifest.samples = whole<int64_t>(object.at("samples"));
    if (manifest.step < 0 || manifest.samples < 0)
      return fail("step {} and samples {}; valid: 0 or more", manifest.step, manifest.samples);
    if (object.contains("since")) manifest.since = whole<int64_t>(object.at("since"));
    if (manifest.since < 0 || manifest.since > manifest.samples)
      return fail("since {}; valid: 0 to its samples, {}", manifest.since, manifest.samples);
    const recipe::Parsed parsed =
        recipe::parse(object.at("recipe").get_ref<const std::string&>(), "recipe");
    if (!parsed.ok()) return fail("{}", parsed.faults.front().str());
    manifest.recipe = parsed.recipe;
    manifest.contents = contents_from(object.at("contents"));
    if (const auto sound = check_contents(manifest.contents); !sound) return fail(sound);
    return manifest;
  } catch (const json::exception& error) {
    return fail("not a checkpoint's manifest: {}", error.what());
  }
}

}  // namespace heddle::checkpoint
