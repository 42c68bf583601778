#include "engine/recipe/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/recipe/special_fields.h"
#include "engine/recipe/values.h"

namespace heddle::recipe {
namespace {

const Names<Decay>& decays() {
  static const Names<Decay> names = {{"linear", Decay::linear},
                                     {"sqrt", Decay::sqrt},
                                     {"cosine", Decay::cosine},
                                     {"none", Decay::none}};
  return names;
}

const Names<PipelineSchedule>& pipeline_schedules() {
  static const Names<PipelineSchedule> names = {{"gpipe", PipelineSchedule::gpipe},
                                                {"1f1b", PipelineSchedule::one_f_one_b},
                                                {"interleaved", PipelineSchedule::interleaved},
                                                {"zero-bubble", PipelineSchedule::zero_bubble}};
  return names;
}

const Names<ContextMode>& context_modes() {
  static const Names<ContextMode> names = {{"allgather", ContextMode::allgather},
                                           {"ring", ContextMode::ring},
                                           {"ulysses", ContextMode::ulysses}};
  return names;
}

const Names<ReduceEach>& reduce_each() {
  static const Names<ReduceEach> names = {{"auto", ReduceEach::automatic},
                                          {"step", ReduceEach::step},
                                          {"micro-batch", ReduceEach::micro_batch}};
  return names;
}
const Names<WrappingMode>& wrapping_modes() {
  static const Names<WrappingMode> names = {{"auto", WrappingMode::automatic},
                                            {"layers", WrappingMode::layers},
                                            {"manual", WrappingMode::manual},
                                            {"none", WrappingMode::none}};
  return names;
}

const Names<Precision>& precisions() {
  static const Names<Precision> names = {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}};
  return names;
}

// The makers below each turn a member of a section into a field.

template <typename S>
Field integer(std::string key, S Recipe::*section, int64_t S::*member, int64_t low,
              int64_t high = kAny) {
  return {{std::move(key), "integer", "", range_words(low, high)},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_integer(node, low, high, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return fmt::format("{}", recipe.*section.*member); }};
}

template <typename S>
Field number(std::string key, S Recipe::*section, double S::*member, Numbers range) {
  return {{std::move(key), "number", "", range.words},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_number(node, range, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return number_text(recipe.*section.*member); }};
}

template <typename S>
Field boolean(std::string key, S Recipe::*section, bool S::*member) {
  return {{std::move(key), "boolean", "", "true | false"},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = node.value_exact<bool>()) {
              recipe.*section.*member = *v;
            } else {
              complain_of_type(complain, node, "true | false");
            }
          },
          [=](const Recipe& recipe) { return recipe.*section.*member ? "true" : "false"; }};
}

template <typename S>
Field text(std::string key, S Recipe::*section, std::string S::*member, std::string valid) {
  return {{std::move(key), "string", "", valid},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = node.value_exact<std::string>()) {
              recipe.*section.*member = *v;
            } else {
              complain_of_type(complain, node, "a string", valid);
            }
          },
          [=](const Recipe& recipe) { return quote(recipe.*section.*member); }};
}

template <typename S>
Field strings(std::string key, S Recipe::*section, std::vector<std::string> S::*member,
              std::string valid) {
  return {{std::move(key), "list", "", std::move(valid)},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_strings(node, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return strings_text(recipe.*section.*member); }};
}

template <typename S, typename T>
Field choice(std::string key, S Recipe::*section, T S::*member, Names<T> names) {
  return {{std::move(key), "string", "", choices(words(names))},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_choice(node, names, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return quote(word_of(names, recipe.*section.*member)); }};
}

std::vector<Field> make_schema() {
  using R = Recipe;
  std::vector<Field> fields = {
      preset_field(),
      integer("model.dim", &R::model, &Model::dim, 1, kMostWidth),
      integer("model.n_layers", &R::model, &Model::n_layers, 1, kMostLayers),
      integer("model.n_heads", &R::model, &Model::n_heads, 1, kMostWidth),
      integer("model.n_kv_heads", &R::model, &Model::n_kv_heads, 1, kMostWidth),
      integer("model.ffn_dim", &R::model, &Model::ffn_dim, 1, 4 * kMostWidth),
      integer("model.vocab_size", &R::model, &Model::vocab_size, 0, kMostVocabulary),
      integer("model.max_seq_len", &R::model, &Model::max_seq_len, 1, kMostTokens),
      number("model.norm_eps", &R::model, &Model::norm_eps, kPositive),
      number("model.rope_theta", &R::model, &Model::rope_theta, kPositive),
      rope_scaling_field(),
      boolean("model.tied_embeddings", &R::model, &Model::tied_embeddings),
      text("model.checkpoint", &R::model, &Model::checkpoint, "a folder, \"\" for none"),
      strings("data.text", &R::data, &Data::text, "files (.txt, .jsonl) and folders"),
      text("data.token_ids", &R::data, &Data::token_ids, "a safetensors file, \"\" for none"),
      text("data.tokenizer", &R::data, &Data::tokenizer, "a tokenizer.json"),
      integer("data.seq_len", &R::data, &Data::seq_len, 1, kMostTokens),
      boolean("data.document_mask", &R::data, &Data::document_mask),
      integer("data.seed", &R::data, &Data::seed, 0),
      integer("training.steps", &R::training, &Training::steps, 1),
      integer("training.local_batch", &R::training, &Training::local_batch, 1, kMostTokens),
      integer("training.global_batch", &R::training, &Training::global_batch, 0, kMostTokens),
      number("training.max_norm", &R::training, &Training::max_norm, kNotNegative),
      integer("training.seed", &R::training, &Training::seed, 0),
      integer("training.max_skipped", &R::training, &Training::max_skipped, 0),
      strings("validation.text", &R::validation, &Validation::text,
              "files (.txt, .jsonl) and folders"),
      integer("validation.every", &R::validation, &Validation::every, 0),
      integer("validation.batches", &R::validation, &Validation::batches, 0),
      text("validation.prompt", &R::validation, &Validation::prompt, "text"),
      integer("validation.tokens", &R::validation, &Validation::tokens, 0, kMostTokens),
      number("validation.temperature", &R::validation, &Validation::temperature, kPositive),
      choice("optimizer.name", &R::optimizer, &Optimizer::name, named({"adamw"})),
      number("optimizer.lr", &R::optimizer, &Optimizer::lr, kPositive),
      betas_field(),
      number("optimizer.eps", &R::optimizer, &Optimizer::eps, kPositive),
      number("optimizer.weight_decay", &R::optimizer, &Optimizer::weight_decay, kNotNegative),
      integer("schedule.warmup_steps", &R::schedule, &Schedule::warmup_steps, 0),
      choice("schedule.decay", &R::schedule, &Schedule::decay, decays()),
      number("schedule.decay_ratio", &R::schedule, &Schedule::decay_ratio, kFraction),
      number("schedule.min_lr_factor", &R::schedule, &Schedule::min_lr_factor, kFraction),
      integer("parallelism.dp_replicate", &R::parallelism, &Parallelism::dp_replicate, 1,
              kMostRanks),
      dp_shard_field(),
      integer("parallelism.tp", &R::parallelism, &Parallelism::tp, 1, kMostRanks),
      boolean("parallelism.sequence_parallel", &R::parallelism, &Parallelism::sequence_parallel),
      integer("parallelism.tp_chunks", &R::parallelism, &Parallelism::tp_chunks, 0, kMostRanks),
      integer("parallelism.pp", &R::parallelism, &Parallelism::pp, 1, kMostRanks),
      choice("parallelism.pp_schedule", &R::parallelism, &Parallelism::pp_schedule,
             pipeline_schedules()),
      integer("parallelism.microbatches", &R::parallelism, &Parallelism::microbatches, 0,
              kMostTokens),
      stage_layers_field(),
      integer("parallelism.cp", &R::parallelism, &Parallelism::cp, 1, kMostRanks),
      choice("parallelism.cp_mode", &R::parallelism, &Parallelism::cp_mode, context_modes()),
      choice("wrapping.mode", &R::wrapping, &Wrapping::mode, wrapping_modes()),
      buckets_field(),
      reshard_field(),
      memory_limit_field(),
      choice("wrapping.reduce_each", &R::wrapping, &Wrapping::reduce_each, reduce_each()),
      choice("recompute.mode", &R::recompute, &Recompute::mode, recompute_modes()),
      number("recompute.budget", &R::recompute, &Recompute::budget, kFraction),
      choice("precision.param", &R::precision, &Precisions::param, precisions()),
      choice("precision.reduce", &R::precision, &Precisions::reduce, precisions()),
      override_field(),
      boolean("checkpoint.enabled", &R::checkpoint, &Checkpoint::enabled),
      text("checkpoint.folder", &R::checkpoint, &Checkpoint::folder,
           "a folder, \"\" for the run directory's own"),
      integer("checkpoint.every", &R::checkpoint, &Checkpoint::every, 0),
      integer("checkpoint.keep", &R::checkpoint, &Checkpoint::keep, 1),
      number("timeouts.start", &R::timeouts, &Timeouts::start, kPositive),
      number("timeouts.step", &R::timeouts, &Timeouts::step, kNotNegative),
      number("timeouts.checkpoint", &R::timeouts, &Timeouts::checkpoint, kPositive),
      integer("telemetry.profile_every", &R::telemetry, &Telemetry::profile_every, 0),
      text("hardware.name", &R::hardware, &Hardware::name, "this-machine, or a catalogue's name"),
      integer("hardware.ranks", &R::hardware, &Hardware::ranks, 1, kMostRanks),
      choice("hardware.device", &R::hardware, &Hardware::device, named({"auto", "cpu", "cuda"})),
      boolean("hardware.overcommit", &R::hardware, &Hardware::overcommit),
  };
  for (Field& field : fields) field.info.fallback = field.write(Recipe{});
  return fields;
}

}  // namespace

const std::vector<Field>& schema() {
  static const std::vector<Field> fields = make_schema();
  return fields;
}

const Field* find_field(std::string_view key) {
  const auto& fields = schema();
  const auto found =
      std::ranges::find_if(fields, [&](const Field& field) { return field.info.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

std::string section_of(std::string_view key) {
  const size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? "" : std::string(key.substr(0, dot));
}

std::string leaf_of(std::string_view key) {
  const size_t dot = key.rfind('.');
  return std::string(dot == std::string_view::npos ? key : key.substr(dot + 1));
}

const std::vector<std::string>& sections() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Field& field : schema()) {
      const std::string section = section_of(field.info.key);
      const std::string& name = section.empty() ? field.info.key : section;
      if (result.empty() || result.back() != name) result.push_back(name);
    }
    return result;
  }();
  return names;
}

}  // namespace heddle::recipe
