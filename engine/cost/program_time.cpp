#include "engine/cost/program_time.h"

#include <algorithm>
#include <numeric>

#include "engine/cost/prefixes.h"

namespace heddle::cost {
namespace {

class Clock {
 public:
  Clock(const ProgramShape& shape, const StepParts& parts, const hardware::Program& program,
        const hardware::Entry& entry, double bytes_per_second)
      : shape_(shape),
        parts_(parts),
        program_(program),
        entry_(entry),
        bytes_per_second_(bytes_per_second) {}

  ProgramTime step() const {
    const Layer layer = layer_time();
    std::vector<double> stages, waits;
    for (size_t rank = 0; rank < shape_.layers.size(); ++rank) {
      const auto layers = static_cast<double>(shape_.layers[rank]);
      const double head = rank + 1 == shape_.layers.size() ? head_time() : 0.0;
      stages.push_back(layers * (layer.compute + layer.exposed) + head);
      waits.push_back(layers * layer.exposed);
    }
    const auto slowest = std::ranges::max_element(stages);
    const double others = std::accumulate(stages.begin(), stages.end(), 0.0) - *slowest;
    const auto turns = static_cast<double>(shape_.micro_batches);
    const double hop = hop_time();
    ProgramTime time;
    time.exposed = turns * (waits[static_cast<size_t>(slowest - stages.begin())] + 2 * hop);
    time.compute = turns * (*slowest + 2 * hop) - time.exposed;
    time.bubble = others / static_cast<double>(shape_.stages_a_rank) +
                  2 * hop * static_cast<double>(shape_.pp - 1);
    time.apart = std::max(0.0, reduce_time() - program_.reduce_hidden.value * 2 / 3 * stages[0]) +
                 update_time() + program_.step_ms.value * kMilli;
    time.step = time.compute + time.exposed + time.bubble + time.apart;
    return time;
  }

 private:
  struct Layer {
    double compute = 0, exposed = 0;
  };

  double device_time(const PartSeconds& part) const {
    const double ring = shape_.cp > 1 ? program_.ring_attention_share.value : 1.0;
    return part.products / program_.product_share.value +
           part.attention / program_.attention_share.value / ring +
           part.passes * program_.passes.value;
  }

  // The part that is computed again before a layer's backward.
  double again(const PartSeconds& forward) const {
    switch (shape_.recompute) {
      case recipe::RecomputeMode::none:
        return 0;
      case recipe::RecomputeMode::full:
        return device_time(forward);
      case recipe::RecomputeMode::selective:
      case recipe::RecomputeMode::budget: {
        // Every second product; attention is kept.
        const PartSeconds half{.products = forward.products / 2, .passes = forward.passes};
        return device_time(half);
      }
    }
    return 0;
  }

  bool near() const { return shape_.tensors.nodes == 1; }

  double exchange_time(const PartSeconds& part) const {
    // Published gathers take twice as long over twice the nodes.
    const double share =
        near() ? program_.exchange_share.value
               : program_.exchange_far_share.value * static_cast<double>(shape_.tensors.nodes) / 2;
    return part.exchanges * share * (shape_.async_exchanges ? 0.3 : 1.0) +
           static_cast<double>(part.exchanged * shape_.tensors.nodes) * program_.exchange_us.value *
               kMicro;
  }

  double host_time() const {
    double milliseconds = program_.layer_launch_ms.value;
    if (shape_.recompute == recipe::RecomputeMode::full) milliseconds *= 4.0 / 3;
    if (shape_.tp > 1) {
      milliseconds += program_.exchange_launch_ms.value;
      if (shape_.pp > 1 && shape_.nodes > 1)
        milliseconds += program_.stage_launch_ms.value * static_cast<double>(shape_.tp);
    }
    return milliseconds * kMilli;
  }

  Layer layer_time() const {
    const bool full = shape_.recompute == recipe::RecomputeMode::full;
    const double forward = device_time(parts_.layer_forward),
                 backward = device_time(parts_.layer_backward) + again(parts_.layer_forward);
    double exchanges =
        exchange_time(parts_.layer_forward) * (full ? 2 : 1) + exchange_time(parts_.layer_backward);
    Layer layer{std::max(forward + backward + (near() ? exchanges : 0.0), host_time()),
                near() ? 0.0 : exchanges};
    if (near() && layer.compute > host_time()) {
      layer.exposed = exchanges;
      layer.compute -= exchanges;
    }
    if (shape_.kept == Kept::shards) add_gathers(layer, forward, backward);
    return layer;
  }

  double gather(double bytes, const Placement& placement) const {
    return collective_seconds(Collective::gather, bytes, placement, entry_.node, entry_.network);
  }

  void add_gathers(Layer& layer, double forward, double backward) const {
    const double whole = gather(shape_.layer_parameters * kBf16Bytes, shape_.sharded);
    const double scatter = gather(shape_.layer_parameters * shape_.gradient_bytes, shape_.sharded);
    // Without giving parameters up they are gathered once for all micro-batches of a step.
    const auto turns = static_cast<double>(shape_.gathers_twice ? 1 : shape_.micro_batches);
    const double before = whole / turns,
                 after = (shape_.gathers_twice ? whole : 0.0) + scatter / turns;
    const double taken =
        entry_.device.transfer_multiprocessors.value / entry_.device.multiprocessors.value;
    layer.compute += taken * (std::min(before, forward) + std::min(after, backward));
    layer.exposed += std::max(0.0, before - forward) + std::max(0.0, after - backward) +
                     program_.gather_share.value * (before + after);
  }

  double head_time() const {
    const double logits = static_cast<double>(shape_.tokens) *
                          static_cast<double>(shape_.vocabulary) / static_cast<double>(shape_.tp);
    return parts_.head_products / program_.product_share.value +
           logits * program_.logit_bytes.value / bytes_per_second_;
  }

  double hop_time() const {
    if (shape_.pp == 1) return 0;
    const double bytes = static_cast<double>(shape_.tokens) * static_cast<double>(shape_.dim) *
                         kBf16Bytes / static_cast<double>(shape_.tp);
    const Placement pair{2, shape_.nodes > 1 ? 2 : 1};
    return program_.hop_us.value * kMicro +
           collective_seconds(Collective::to_neighbour, bytes, pair, entry_.node, entry_.network);
  }

  double most_parameters() const {
    return std::max(shape_.parameters(0), shape_.parameters(shape_.pp - 1));
  }

  double reduce_time() const {
    const double bytes = most_parameters() * shape_.gradient_bytes;
    const auto all_reduce = [&](double whole) {
      return collective_seconds(Collective::all_reduce, whole, shape_.copied, entry_.node,
                                entry_.network) /
             program_.reduce_all_reach.value *
             (shape_.pp > 1 && shape_.nodes > 1 ? program_.pipeline_reduce.value : 1.0);
    };
    switch (shape_.kept) {
      case Kept::all:
        return all_reduce(bytes);
      case Kept::all_but_states:
        return (gather(bytes, shape_.copied) +
                gather(most_parameters() * kBf16Bytes, shape_.sharded)) /
               program_.reduce_reach.value;
      case Kept::shards:
        return shape_.copies == shape_.shards
                   ? 0.0
                   : all_reduce(bytes / static_cast<double>(shape_.shards));
    }
    return 0;
  }

  double update_time() const {
    const double owned =
        most_parameters() / (shape_.kept == Kept::all ? 1.0 : static_cast<double>(shape_.shards));
    const double whole = shape_.kept == Kept::shards ? 0.0 : most_parameters();
    return (owned * program_.update_bytes.value + whole * program_.whole_update_bytes.value) /
           bytes_per_second_;
  }

  const ProgramShape& shape_;
  const StepParts& parts_;
  const hardware::Program& program_;
  const hardware::Entry& entry_;
  double bytes_per_second_;
};

}  // namespace

ProgramTime program_time(const ProgramShape& shape, const StepParts& parts,
                         const hardware::Program& program, const hardware::Entry& entry,
                         double bytes_per_second) {
  return Clock(shape, parts, program, entry, bytes_per_second).step();
}

}  // namespace heddle::cost
