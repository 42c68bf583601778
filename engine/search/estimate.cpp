#include "engine/search/estimate.h"

#include <algorithm>
#include <numeric>

#include "engine/cost/collective_time.h"
#include "engine/holdings/parameters.h"
#include "engine/holdings/states.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/modules.h"
#include "engine/recipe/precision.h"
#include "engine/recipe/stages.h"

namespace heddle::search {
namespace {

using recipe::PipelineSchedule;

constexpr int64_t kFloat = 4;

int64_t divided_up(int64_t count, int64_t parts) { return (count + parts - 1) / parts; }

bool two_stages_a_rank(const Choice& choice) {
  return choice.pp > 1 && choice.schedule == PipelineSchedule::interleaved;
}

}  // namespace

int64_t under_way(const Choice& choice, int64_t pipeline_rank) {
  if (choice.pp == 1) return 1;
  if (choice.schedule == PipelineSchedule::gpipe) return choice.micro_batches;
  int64_t ahead = choice.pp;
  if (choice.schedule == PipelineSchedule::one_f_one_b) ahead -= pipeline_rank;
  if (choice.schedule == PipelineSchedule::zero_bubble && pipeline_rank > 0) --ahead;
  return std::min(ahead, choice.micro_batches);
}

Estimator::Estimator(const Question& question, const hardware::Entry* entry, int64_t process_bytes)
    : question_(question),
      entry_(entry),
      process_bytes_(process_bytes),
      profiles_(question),
      optimizer_bytes_(holdings::optimizer_bytes_a_number(question.recipe)) {}

const std::vector<int64_t>& Estimator::layers(const Choice& choice) {
  const std::pair key{choice.pp, two_stages_a_rank(choice)};
  auto known = layers_.find(key);
  if (known != layers_.end()) return known->second;
  const std::vector<int64_t> stages = recipe::layers_of_stages(with(question_.recipe, choice));
  std::vector<int64_t> layers(static_cast<size_t>(choice.pp), 0);
  for (size_t i = 0; i < stages.size(); ++i) layers[i % layers.size()] += stages[i];
  return layers_.emplace(key, std::move(layers)).first->second;
}

const Estimator::Elements& Estimator::elements(const Choice& choice) {
  const std::pair key{choice.tp, choice.dp_shard * choice.cp > 1};
  const auto known = elements_.find(key);
  if (known != elements_.end()) return known->second;
  Elements elements;
  const recipe::Recipe recipe = with(question_.recipe, choice);
  for (const holdings::Parameter& parameter :
       holdings::parameters_of(recipe, recipe::Layout(recipe))) {
    const auto layer = recipe::layer_of(parameter.module);
    if ((layer && *layer > 0) || !parameter.copy_of.empty()) continue;
    const int64_t count = holdings::elements_of(parameter.local);
    (layer                                  ? elements.layer
     : parameter.module == "tok_embeddings" ? elements.first
                                            : elements.last) += count;
    if (parameter.eight_bits) (layer ? elements.layer_in_8_bits : elements.last_in_8_bits) += count;
  }
  return elements_.emplace(key, elements).first->second;
}

/// A gather, or a scatter, of so many bytes over the ranks that share parameters.
double Estimator::transfer_seconds(const Choice& choice, double bytes) const {
  const int64_t ranks = recipe::Mesh(choice).size(recipe::kSharing);
  if (entry_ == nullptr || ranks == 1) return 0;
  const int64_t nodes = std::min(ranks, divided_up(ranks * choice.tp, entry_->node.devices));
  return cost::collective_seconds(cost::Collective::gather, bytes, {ranks, nodes}, entry_->node,
                                  entry_->network);
}

Result<Estimate> Estimator::of(const Choice& choice) {
  const auto found = profiles_.of(choice);
  if (!found) return fail(found);
  const Profile& profile = **found;
  const std::vector<int64_t>& layers = this->layers(choice);
  const Elements& elements = this->elements(choice);
  const recipe::Recipe& recipe = question_.recipe;
  const int64_t element = recipe::bytes_of(recipe.precision.param);
  const int64_t reduced = recipe::bytes_of(recipe.precision.reduce);
  const int64_t shards = recipe::Mesh(choice).size(recipe::kSharing);
  const auto batches = static_cast<double>(choice.micro_batches);
  const bool several = choice.micro_batches > 1;

  const auto gathered = [&](int64_t count, int64_t in_8_bits) {
    return element * count - (element - 1) * in_8_bits;
  };
  const int64_t of_layer = gathered(elements.layer, elements.layer_in_8_bits);
  const double gather = transfer_seconds(choice, static_cast<double>(of_layer));
  const double scatter = transfer_seconds(choice, static_cast<double>(elements.layer * reduced));

  Estimate estimate;
  double before = 0;  // a micro-batch's time in the stages before
  for (int64_t rank = 0; rank < choice.pp; ++rank) {
    const int64_t count = layers[static_cast<size_t>(rank)];
    const auto of_layers = static_cast<double>(count);
    const bool first = rank == 0, last = rank == choice.pp - 1;
    double work = of_layers * profile.layer.both();
    if (last) work += profile.ends.both();
    const int64_t whole =
        count * elements.layer + (first ? elements.first : 0) + (last ? elements.last : 0);
    const int64_t shard = divided_up(whole, shards);
    const double update = profile.update_seconds * static_cast<double>(shard);
    double fill = before;
    if (choice.schedule == PipelineSchedule::interleaved) fill /= 2;
    if (choice.schedule == PipelineSchedule::zero_bubble) fill /= 3;
    const double computes = batches * work + fill + update;

    // Gathers hide behind forward and backward, scatters behind backward.
    const double at_once = choice.reshard && several ? batches : 1;
    const double waits_forward = std::max(0.0, gather - profile.layer.forward) * at_once;
    const double waits_backward =
        std::max(0.0, (choice.reshard ? gather : 0.0) + scatter - profile.layer.backward) +
        (choice.reshard ? std::max(0.0, gather - profile.layer.backward) * (at_once - 1) : 0.0);
    const double transfers = of_layers * (gather + scatter);
    estimate.least_seconds = std::max({estimate.least_seconds, computes, transfers});
    estimate.seconds =
        std::max(estimate.seconds,
                 computes + of_layers * (waits_forward + waits_backward) + gather + scatter);
    before += work;

    int64_t bytes = process_bytes_ + kFloat * shard +
                    static_cast<int64_t>(optimizer_bytes_ * static_cast<double>(shard));
    bytes += kFloat * (several ? whole : shard);
    const int64_t all =
        gathered(whole, count * elements.layer_in_8_bits + (last ? elements.last_in_8_bits : 0));
    if (shards > 1 || element < kFloat)
      bytes += choice.reshard && !several ? std::min(all, 2 * of_layer) : all;
    bytes += reduced * elements.layer;
    bytes += profile.kept_bytes * count * under_way(choice, rank);
    bytes += last ? std::max(profile.last_bytes, profile.working_bytes) : profile.working_bytes;
    estimate.bytes = std::max(estimate.bytes, bytes);
  }
  return estimate;
}

}  // namespace heddle::search
