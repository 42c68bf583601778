#include "engine/train/run_plan.h"

#include "base/host_name.h"
#include "engine/recipe/needs.h"
#include "engine/train/predict.h"

namespace heddle::train {

Result<plan::Document> plan_of_run(const recipe::Recipe& recipe, const cost::Rates& rates,
                                   const std::string& executed) {
  Machine machine;
  machine.name = recipe.hardware.name;
  machine.words = host_name();
  machine.gpu = recipe.hardware.device == "cuda";
  machine.rates = rates;
  machine.beyond_bytes = machine.gpu ? 0 : recipe::kOwnBytes + recipe::kSharedBytes;
  machine.remarks = rates.remarks;
  auto document = predict(recipe, machine, {.hardware = {}, .timeline = true});
  if (document && document->plan_hash.empty()) document->plan_hash = executed;
  return document;
}

}  // namespace heddle::train
