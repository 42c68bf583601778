#include "engine/predict/throughput.h"

#include "engine/recipe/modules.h"

namespace heddle::predict {

void add_throughput(plan::Document& document, const recipe::Recipe& recipe, bool eight_bits) {
  document.tokens_per_step = recipe.training.global_batch * recipe.data.seq_len;
  if (document.step_seconds <= 0) return;
  document.tokens_per_second_per_rank = static_cast<double>(document.tokens_per_step) /
                                        document.step_seconds / static_cast<double>(document.ranks);
  if (document.peak_flops <= 0) return;
  for (const recipe::FlopsConvention& each : recipe::flops_conventions()) {
    const double flops = each.flops_per_token(recipe.model, recipe.data.seq_len);
    const std::string of = eight_bits ? "; of the peak of products in 8 bits" : "";
    document.mfu.push_back({each.words + of, flops,
                            flops * document.tokens_per_second_per_rank / document.peak_flops});
  }
}

}  // namespace heddle::predict
