#include "engine/search/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number_text.h"

namespace heddle::search {
namespace {

using recipe::kCp;
using recipe::kPp;
using recipe::kSamples;
using recipe::kShard;
using recipe::kTp;
using recipe::PipelineSchedule;
using recipe::RecomputeMode;

std::string gib(int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

/// Whether all degrees along other axes are 1.
bool is_along(const Choice& choice, recipe::Dims dims) {
  return recipe::keep_degrees(choice, dims) == choice;
}

}  // namespace

std::vector<Obvious> obvious_layouts(const Question& question, int64_t node_devices) {
  const int64_t node = node_devices > 0 ? std::min(node_devices, question.ranks) : question.ranks;
  std::vector<Obvious> all;
  const auto add = [&](std::string name, std::function<bool(const Choice&)> is) {
    Obvious& each = all.emplace_back();
    each.name = std::move(name);
    each.is = std::move(is);
  };
  add("FSDP over all ranks, selective recomputation (TorchTitan's 8B)",
      [ranks = question.ranks](const Choice& c) {
        return is_along(c, kSamples) && c.dp_shard == ranks && c.reshard &&
               c.recompute == RecomputeMode::selective;
      });
  if (question.ranks > node)
    add("sharded within a node, copies across (HSDP)",
        [node](const Choice& c) { return is_along(c, kSamples) && c.dp_shard == node; });
  if (node > 1)
    add(fmt::format("tensor parallel {} within a node, FSDP across, full recomputation "
                    "(TorchTitan's 70B)",
                    node),
        [node](const Choice& c) {
          return is_along(c, kTp | kShard) && c.tp == node && c.reshard &&
                 c.recompute == RecomputeMode::full;
        });
  add(fmt::format("tensor parallel {}, pipeline of 8 in 1f1b, full recomputation "
                  "(TorchTitan's 405B)",
                  node),
      [node](const Choice& c) {
        return is_along(c, kTp | kPp | kShard) && c.tp == node && c.pp == 8 &&
               c.schedule == PipelineSchedule::one_f_one_b && c.recompute == RecomputeMode::full;
      });
  const bool longer = question.recipe.data.seq_len > 32768;
  const int64_t cp = longer ? 16 : 1;
  add(fmt::format("tensor parallel {}{}, pipeline of 16, parameters stay gathered (as "
                  "Llama 3 405B was trained)",
                  node, longer ? ", context parallel 16" : ""),
      [node, cp](const Choice& c) {
        return is_along(c, kTp | kPp | kCp | kShard) && c.tp == node && c.pp == 16 && c.cp == cp &&
               !c.reshard && c.sequences == 1 && c.schedule == PipelineSchedule::interleaved;
      });
  return all;
}

std::string why_not(const plan::Found& found, const plan::Found& best, int64_t limit_bytes) {
  if (!found.fits)
    return fmt::format("does not fit: it needs {} of {}, {} too many", gib(found.peak_bytes),
                       gib(limit_bytes), gib(found.peak_bytes - limit_bytes));
  if (found.sets == best.sets) return "this is what was chosen";
  const double more = found.step_seconds / best.step_seconds - 1;
  const std::string memory =
      fmt::format("{} instead of {}", gib(found.peak_bytes), gib(best.peak_bytes));
  if (more < 5e-4) return fmt::format("as fast, with {}", memory);
  struct Part {
    const char* name;
    double here, there;
  };
  const std::array parts = {
      Part{"compute", found.compute_seconds, best.compute_seconds},
      Part{"communication that nothing hides", found.exposed_seconds, best.exposed_seconds},
      Part{"the pipeline's bubble", found.bubble_seconds, best.bubble_seconds}};
  const Part& most =
      *std::ranges::max_element(parts, {}, [](const Part& part) { return part.here - part.there; });
  return fmt::format("{:.1f} % slower: a step is {} instead of {}, {} {} instead of {}", 100 * more,
                     seconds_text(found.step_seconds), seconds_text(best.step_seconds), most.name,
                     seconds_text(most.here), seconds_text(most.there));
}

}  // namespace heddle::search
