#include "engine/recipe/schema.h"

#include <algorithm>

#include "engine/recipe/data_fields.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/nccl_fields.h"
#include "engine/recipe/optimizer_fields.h"
#include "engine/recipe/parallelism_fields.h"
#include "engine/recipe/special_fields.h"

namespace heddle::recipe {
namespace {

const Names<Decay>& decays() {
  static const Names<Decay> names = {{"linear", Decay::linear},
                                     {"sqrt", Decay::sqrt},
                                     {"cosine", Decay::cosine},
                                     {"none", Decay::none}};
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

const Names<Float8>& float8s() {
  static const Names<Float8> names = {
      {"none", Float8::none}, {"tensorwise", Float8::tensorwise}, {"rowwise", Float8::rowwise}};
  return names;
}

const Names<Precision>& precisions() {
  static const Names<Precision> names = {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}};
  return names;
}

/// The form's groups, and the sections in each.
struct SchemaGroup {
  std::string title;
  std::vector<std::string> sections;
};

const std::vector<SchemaGroup>& group_table() {
  static const std::vector<SchemaGroup> all = {
      {"Model", {"model"}},
      {"Data", {"data"}},
      {"Training", {"training"}},
      {"Optimizer", {"optimizer", "schedule"}},
      {"Parallelism", {"hardware", "parallelism", "transport", "nccl"}},
      {"Memory", {"recompute", "wrapping", "override"}},
      {"Precision", {"precision"}},
      {"Validation", {"validation"}},
      {"Checkpoints", {"checkpoint"}},
      {"Timeouts", {"timeouts"}},
      {"Restarts", {"restart"}},
      {"Telemetry", {"telemetry"}}};
  return all;
}

std::string group_of(const std::string& key) {
  const std::string section = section_of(key).empty() ? key : section_of(key);
  for (const SchemaGroup& group : group_table())
    if (std::ranges::find(group.sections, section) != group.sections.end()) return group.title;
  return "";
}

const std::string kFolder = "/";

std::vector<Field> make_schema() {
  using R = Recipe;
  std::vector<Field> fields = {
      preset_field()
          .says("preset", "",
                "A published Llama by name; numbers written beside it take the place of its own.")
          .often(),
      integer("model.dim", &R::model, &Model::dim, 1, kMaxWidth)
          .says("dim", "elements", "Width of the residual stream.")
          .often()
          .zero("none")
          .steps(Step::doubling)
          .graph(),
      integer("model.n_layers", &R::model, &Model::n_layers, 1, kMaxLayers)
          .says("layers", "", "Transformer layers.")
          .often()
          .zero("none")
          .steps(Step::one)
          .graph(),
      integer("model.n_heads", &R::model, &Model::n_heads, 1, kMaxWidth)
          .says("heads", "", "Query heads of each layer; without head_dim they divide dim.")
          .often()
          .zero("none")
          .steps(Step::doubling)
          .graph(),
      integer("model.n_kv_heads", &R::model, &Model::n_kv_heads, 1, kMaxWidth)
          .says("kv heads", "", "Heads of keys and values; they divide the query heads.")
          .often()
          .zero("all")
          .steps(Step::doubling)
          .graph(),
      integer("model.head_dim", &R::model, &Model::head_dim, 0, kMaxWidth)
          .says("head dim", "elements", "Elements of each head; 0: dim over the query heads.")
          .zero("dim / heads")
          .steps(Step::doubling)
          .graph(),
      integer("model.ffn_dim", &R::model, &Model::ffn_dim, 1, 4 * kMaxWidth)
          .says("ffn", "elements", "Width of the feed-forward network.")
          .often()
          .zero("none")
          .steps(Step::doubling)
          .graph(),
      integer("model.vocab_size", &R::model, &Model::vocab_size, 0, kMaxVocabulary)
          .says("vocabulary", "ids",
                "Rows of the embedding and of the output matrix; 0: as many as the tokenizer has.")
          .often()
          .zero("auto")
          .steps(Step::doubling)
          .graph(),
      integer("model.max_seq_len", &R::model, &Model::max_seq_len, 1, kMaxTokens)
          .says("longest", "tokens", "The longest sequence that the model is made for.")
          .steps(Step::doubling),
      number("model.norm_eps", &R::model, &Model::norm_eps, kPositive)
          .says("norm eps", "", "What RMSNorm adds to the mean square.")
          .graph(),
      number("model.rope_theta", &R::model, &Model::rope_theta, kPositive)
          .says("rope theta", "", "Base of the rotary embedding's frequencies."),
      rope_scaling_field().says("rope scaling", "",
                                "How rotary frequencies are scaled, for longer sequences than "
                                "in pre-training; without a type by Llama 3.1's rule."),
      boolean("model.tied_embeddings", &R::model, &Model::tied_embeddings)
          .says("tied", "", "The output matrix is the embedding's.")
          .graph(),
      boolean("model.attention_bias", &R::model, &Model::attention_bias)
          .says("attention bias", "", "Attention's four linear layers add a bias.")
          .graph(),
      boolean("model.qkv_bias", &R::model, &Model::qkv_bias)
          .says("qkv bias", "",
                "Attention's linear layers of queries, keys and values add a bias, the output's "
                "does not, as in Qwen 2.")
          .graph(),
      boolean("model.mlp_bias", &R::model, &Model::mlp_bias)
          .says("mlp bias", "", "The feed-forward network's three linear layers add a bias.")
          .graph(),
      boolean("model.qk_norm", &R::model, &Model::qk_norm)
          .says("qk norm", "",
                "Each head's queries and keys are normed before they are rotated, as in Qwen 3.")
          .graph(),
      text("model.checkpoint", &R::model, &Model::checkpoint, "a folder, \"\" for none")
          .says("weights", "",
                "A Hugging Face folder (safetensors) or a Heddle checkpoint to start from; none: "
                "random, from the seed.")
          .often()
          .files(kFolder)
          .zero("random, from the seed"),
      integer("training.steps", &R::training, &Training::steps, 1)
          .says("steps", "", "Optimizer steps of the run.")
          .often(),
      integer("training.local_batch", &R::training, &Training::local_batch, 1, kMaxTokens)
          .says("batch a rank", "sequences",
                "Sequences of a data-parallel rank in one forward and backward; a pipeline cuts "
                "them into micro-batches.")
          .often()
          .steps(Step::doubling)
          .graph(),
      integer("training.global_batch", &R::training, &Training::global_batch, 0, kMaxTokens)
          .says("global batch", "sequences",
                "Sequences of a step on all ranks; more than one pass has accumulates gradients. "
                "0: one pass.")
          .often()
          .zero("auto")
          .steps(Step::doubling)
          .graph(),
      integer("training.loss_chunks", &R::training, &Training::loss_chunks, 0, kMaxTokens)
          .says("loss chunks", "",
                "Parts of a rank's tokens whose logits and gradients are made one after the other, "
                "so that all logits never exist at one time; 0: as many as keep a part's logits "
                "within 512 MiB.")
          .zero("auto")
          .steps(Step::doubling)
          .graph(),
      number("training.max_norm", &R::training, &Training::max_norm, kNotNegative)
          .says("clip to norm", "", "Gradients with a larger norm are scaled down to it; 0: never.")
          .often()
          .graph(),
      integer("training.seed", &R::training, &Training::seed, 0)
          .says("init seed", "", "The first weights; the same under any layout.")
          .steps(Step::one),
      integer("training.max_skipped", &R::training, &Training::max_skipped, 0)
          .says("max skipped", "steps",
                "Steps in a row that may not be finite before the run ends; 0: any number.")
          .zero("any")
          .steps(Step::one),
      boolean("training.deterministic", &R::training, &Training::deterministic)
          .says("deterministic", "",
                "On GPUs, kernels and algorithms that give the same bits each time, which are "
                "slower and take more memory. On CPUs steps are the same bits anyway.")
          .graph(),
      strings("validation.text", &R::validation, &Validation::text, kTexts)
          .says("held out", "", "Text to validate on, never trained on.")
          .files(kTextFiles)
          .zero("none"),
      integer("validation.every", &R::validation, &Validation::every, 0)
          .says("every", "steps", "Steps from one validation to the next; 0: never.")
          .zero("never"),
      integer("validation.batches", &R::validation, &Validation::batches, 0)
          .says("batches", "",
                "At most so many global batches of the text are validated on; 0: all.")
          .zero("all")
          .steps(Step::doubling),
      text("validation.prompt", &R::validation, &Validation::prompt, "text")
          .says("prompt", "", "What the samples of generated text begin with.")
          .zero("nothing"),
      integer("validation.tokens", &R::validation, &Validation::tokens, 0, kMaxTokens)
          .says("sample", "tokens", "Tokens to generate at each validation; 0: no samples.")
          .zero("none")
          .steps(Step::doubling),
      number("validation.temperature", &R::validation, &Validation::temperature, kPositive)
          .says("temperature", "",
                "Of the second sample; the first takes the likeliest token each time."),
      integer("schedule.warmup_steps", &R::schedule, &Schedule::warmup_steps, 0)
          .says("warm-up", "steps", "Steps over which the learning rate rises from 0.")
          .often()
          .zero("none"),
      choice("schedule.decay", &R::schedule, &Schedule::decay, decays())
          .says("decay", "", "How the learning rate falls after the warm-up.")
          .often(),
      number("schedule.decay_ratio", &R::schedule, &Schedule::decay_ratio, kFraction)
          .says("decay ratio", "of all steps",
                "The last part of the run, over which the rate decays; 0: from the warm-up on."),
      number("schedule.min_lr_factor", &R::schedule, &Schedule::min_lr_factor, kFraction)
          .says(
              "lowest lr", "of lr",
              "What is left of the learning rate in the last step. 0: the decay would reach 0 one "
              "step later, since a step at a rate of 0 changes nothing."),
      choice("wrapping.mode", &R::wrapping, &Wrapping::mode, wrapping_modes())
          .says("wrapping", "", "Which parameters are gathered together.")
          .names({"auto: as the plan decides", "a bucket a layer", "manual: the buckets drawn",
                  "each parameter by itself"})
          .graph("bucket"),
      buckets_field()
          .says("buckets", "",
                "In mode manual: the modules of each bucket, in the order in which they are "
                "gathered.")
          .drawn()
          .graph("bucket"),
      reshard_field()
          .says("reshard", "",
                "Whether gathered parameters are freed after forward and gathered again for "
                "backward; a number: kept in shards over a group of so many ranks.")
          .graph("recompute"),
      memory_limit_field()
          .says("memory limit", "bytes", "What the plan of mode auto must stay below, a rank.")
          .zero("none"),
      choice("wrapping.reduce_each", &R::wrapping, &Wrapping::reduce_each, reduce_each())
          .says("reduce each", "",
                "When the gradients of several micro-batches are reduced; auto: the first that "
                "fits the memory limit.")
          .graph(),
      choice("recompute.mode", &R::recompute, &Recompute::mode, recompute_modes())
          .says("recompute", "", "What backward computes again instead of keeping it.")
          .often()
          .names({"nothing", "full: all of a layer", "selective: every second product",
                  "as a budget allows"})
          .graph("recompute"),
      number("recompute.budget", &R::recompute, &Recompute::budget, kFraction)
          .says("budget", "of activations",
                "In mode budget: the part of the activations that is kept.")
          .graph("recompute"),
      choice("precision.param", &R::precision, &Precisions::param, precisions())
          .says("parameters", "",
                "What parameters are gathered and computed in; masters stay fp32.")
          .often()
          .names({"fp32", "bf16, masters in fp32"})
          .graph(),
      choice("precision.reduce", &R::precision, &Precisions::reduce, precisions())
          .says("reduction", "", "What gradients are reduced in.")
          .graph(),
      choice("precision.float8", &R::precision, &Precisions::float8, float8s())
          .says("float8", "",
                "Linear layers multiply in 8 bits, forward and backward, with a scale for each "
                "tensor or each row, by the largest number that a rank has of it. With a scale a "
                "tensor sharded weights are gathered in 8 bits, too.")
          .names({"none", "a scale a tensor", "a scale a row"})
          .graph(),
      strings("precision.float8_except", &R::precision, &Precisions::float8_except,
              "names of modules, layers.A-B")
          .says("but not in", "",
                "Modules whose linear layers stay in bf16: the output projection unless the list "
                "is given without it. Embedding and norms always do.")
          .graph(),
      override_field()
          .says("exceptions", "",
                "Other recomputation, learning rate or weight decay for some modules. These two "
                "also for parameters (layers.0.attention.wq.bias), norms, embeddings and biases.")
          .drawn()
          .graph("recompute"),
      boolean("checkpoint.enabled", &R::checkpoint, &Checkpoint::enabled)
          .says("save", "", "Whether the run writes checkpoints, from which it can be resumed.")
          .often()
          .names({"when a run stops and at its end", "never"}),
      text("checkpoint.folder", &R::checkpoint, &Checkpoint::folder,
           "a folder, \"\" for the run directory's own")
          .says("folder", "", "Where checkpoints are written.")
          .often()
          .files(kFolder)
          .zero("in the run's own directory"),
      integer("checkpoint.every", &R::checkpoint, &Checkpoint::every, 0)
          .says("also every", "steps",
                "Steps from one checkpoint to the next; 0: only when the run stops and at its end.")
          .often()
          .zero("off"),
      integer("checkpoint.keep", &R::checkpoint, &Checkpoint::keep, 1)
          .says("keep", "checkpoints", "So many of the newest checkpoints stay.")
          .often()
          .steps(Step::one),
      number("timeouts.start", &R::timeouts, &Timeouts::start, kPositive)
          .says("start", "s", "How long a rank may be silent from its start to its first step."),
      number("timeouts.step", &R::timeouts, &Timeouts::step, kNotNegative)
          .says("step", "s",
                "How long a step may take; 0: 20 times the expected step, at least a minute."),
      number("timeouts.checkpoint", &R::timeouts, &Timeouts::checkpoint, kPositive)
          .says("checkpoint", "s", "How much longer a step that saves may take."),
      integer("restart.times", &R::restart, &Restart::times, 0, kMaxRestarts)
          .says("times", "",
                "How often the run goes on by itself from its newest checkpoint, or from its "
                "beginning where it has none, when a rank crashes, is killed, hangs or is lost. "
                "Not after a failure that would only repeat, or when it was asked to end.")
          .zero("never"),
      number("restart.backoff", &R::restart, &Restart::backoff,
             {0, kMaxBackoff, false, false, "0 to 3600"})
          .says("backoff", "s",
                "Wait before the first restart; twice as long before each one after it, at most "
                "an hour."),
      integer("telemetry.profile_every", &R::telemetry, &Telemetry::profile_every, 0)
          .says("timeline every", "steps", "Steps from one recorded timeline to the next; 0: none.")
          .zero("never"),
      choice("transport.gpus", &R::transport, &Transport::gpus, named({"nccl", "host"}))
          .says("GPUs talk", "",
                "How the collectives of GPUs travel. host: through the host's memory and the CPU's "
                "transport, much slower than nccl; then several ranks may share a GPU, to try a "
                "layout on a workstation."),
      boolean("transport.encrypt", &R::transport, &Transport::encrypt)
          .says("encrypt", "",
                "Ranks of several hosts encrypt all that they send each other (AES-256-GCM), for "
                "networks on which others can read or change it. It takes CPU time, which "
                "predictions do not count. GPUs of several hosts need transport.gpus = \"host\" "
                "for it: NCCL cannot."),
      text("hardware.name", &R::hardware, &Hardware::name, "this-machine, or a catalogue's name")
          .says("hardware", "",
                "What the prediction is made for: this machine, or nodes of the catalogue.")
          .often(),
      integer("hardware.ranks", &R::hardware, &Hardware::ranks, 1, kMaxRanks)
          .says("ranks", "",
                "Processes that train together, one a device; the degrees multiply to it.")
          .often()
          .steps(Step::doubling)
          .graph(),
      choice("hardware.device", &R::hardware, &Hardware::device, named({"auto", "cpu", "cuda"}))
          .says("device", "",
                "What a rank computes on; auto: a GPU each where the hosts have as many, else the "
                "CPU, and the run says which and why.")
          .often(),
      boolean("hardware.overcommit", &R::hardware, &Hardware::overcommit)
          .says("overcommit", "", "Start even where memory or cores do not suffice."),
  };
  const auto insert = [&](const char* before, std::vector<Field> more) {
    const auto at =
        std::ranges::find(fields, before, [](const Field& field) { return field.info.key; });
    fields.insert(at, std::move_iterator(more.begin()), std::move_iterator(more.end()));
  };
  insert("training.steps", data_fields());
  insert("schedule.warmup_steps", optimizer_fields());
  insert("wrapping.mode", parallelism_fields());
  insert("hardware.name", nccl_fields());
  for (Field& field : fields) {
    field.info.fallback = field.write(Recipe{});
    field.info.group = group_of(field.info.key);
  }
  return fields;
}

}  // namespace

Field Field::says(std::string label, std::string unit, std::string help) && {
  info.label = std::move(label);
  info.unit = std::move(unit);
  info.help = std::move(help);
  return std::move(*this);
}

Field Field::often() && {
  info.often = true;
  return std::move(*this);
}

Field Field::drawn() && {
  info.drawn = true;
  return std::move(*this);
}

Field Field::zero(std::string stands_for) && {
  info.zero = std::move(stands_for);
  return std::move(*this);
}

Field Field::names(std::vector<std::string> of_choices) && {
  info.names = std::move(of_choices);
  return std::move(*this);
}

Field Field::files(std::string patterns) && {
  info.files = std::move(patterns);
  read = [read = std::move(read)](const toml::node& node, Recipe& recipe,
                                  const Complain& complain) {
    if (!complain_of_address(complain, node)) read(node, recipe, complain);
  };
  return std::move(*this);
}

Field Field::steps(Step step) && {
  info.step = step;
  return std::move(*this);
}

Field Field::graph(std::string from_pass) && {
  info.graph = std::move(from_pass);
  return std::move(*this);
}

std::vector<const KeyInfo*> keys_of(std::string_view title) {
  std::vector<const KeyInfo*> found;
  const auto group = std::ranges::find(group_table(), title, &SchemaGroup::title);
  if (group == group_table().end()) return found;
  for (const std::string& section : group->sections)
    for (const KeyInfo& info : keys())
      if (info.key == section || section_of(info.key) == section) found.push_back(&info);
  return found;
}

const std::vector<std::string>& groups() {
  static const std::vector<std::string> titles = [] {
    std::vector<std::string> all;
    for (const SchemaGroup& group : group_table()) all.push_back(group.title);
    return all;
  }();
  return titles;
}

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
